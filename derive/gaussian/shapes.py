"""The cheapest spelling of one polynomial or coefficient."""

from __future__ import annotations

from sympy import Add, Expr, Mul, Rational, count_ops

from derive.gaussian.scalars import Radicals, Scalars
from derive.program.symbols import DELTA, Q1, Q2, K

HALF = Rational(1, 2)
LONGEST = 60
"""Polynomials with more terms are printed expanded."""


class Printer:
    """Spells field elements, remembering each polynomial's spelling."""

    def __init__(self, scalars: Scalars) -> None:
        self.scalars = scalars
        self._spelled: dict = {}

    def element(self, element) -> Expr:
        """A rational function."""
        return self.polynomial(element.numer) / self.polynomial(element.denom)

    def coefficient(self, coefficient, radicals: Radicals) -> Expr:
        """coefficient * prod sqrt(p), each radical above or below the bar, where it cancels."""
        scalars, above, below = self.scalars, [], []
        for p in sorted(radicals, key=str):
            if scalars.divides(p, coefficient.denom):
                coefficient = coefficient * p
                below.append((p, self.root(p)))
            else:
                above.append(self.root(p))
        coefficient = self._powers(coefficient, below)
        bodies = sorted((p for p in radicals if not isinstance(p, int)), key=str)
        numerator = self.polynomial(coefficient.numer)
        for p in bodies:
            numerator = min(numerator, self._around(coefficient.numer, p), key=count_ops)
        return numerator * Mul(*above) / (self.polynomial(coefficient.denom) * Mul(*[root for _, root in below]))

    def _powers(self, coefficient, below: list):
        """What is left of a coefficient when the bodies of the radicals below the bar leave it whole.

        So 4 q/(1 - 4 q)**(3/2) is not -4 q/(sqrt(1 - 4 q) (4 q - 1)).
        """
        for p in [p for p, _ in below if not isinstance(p, int)]:
            while not coefficient.denom.is_ground and self.scalars.divides(p, coefficient.denom):
                coefficient = coefficient * p
                below.append((0, self.polynomial(p)))
        return coefficient

    def root(self, radical) -> Expr:
        """The square root of a radical."""
        return self.scalars.root_expr(radical) if isinstance(radical, int) else self.polynomial(radical) ** HALF

    def _around(self, polynomial, body) -> Expr:
        """polynomial = quotient * body + remainder."""
        quotient, remainder = divmod(polynomial, body)
        if not quotient:
            return self.polynomial(polynomial)
        return self.polynomial(quotient) * self.polynomial(body) + self.polynomial(remainder)

    def polynomial(self, polynomial) -> Expr:
        """A polynomial: expanded, factored, or collected in K or Delta, whichever is shortest."""
        if polynomial not in self._spelled:
            power, rest = self.scalars.split_delta(polynomial) if polynomial else (0, polynomial)
            self._spelled[polynomial] = DELTA**power * min(self._forms(rest), key=count_ops)
        return self._spelled[polynomial]

    def _forms(self, polynomial) -> list[Expr]:
        expanded = self.scalars.poly(polynomial)
        if not 1 < len(polynomial) <= LONGEST:
            return [expanded]
        forms = [expanded]
        content, factors = polynomial.factor_list()
        if content != 1 or len(factors) > 1 or factors[0][1] > 1:
            forms.append(self._number(content) * Mul(*[self._irreducible(f) ** power for f, power in factors]))
        else:
            forms.append(self._irreducible(polynomial))
        return forms

    def _irreducible(self, polynomial) -> Expr:
        forms = [self.scalars.poly(polynomial)]
        if self.scalars.delta is not None:
            forms += self._collected(polynomial)
        return min(forms, key=count_ops)

    def _collected(self, polynomial) -> list[Expr]:
        """By powers of K with factored coefficients; the same with K**2 = q1*q2 - Delta."""
        ring = self.scalars.field.ring
        place = self.scalars.field.symbols.index(K)
        parts: dict[int, dict] = {}
        for powers, coefficient in polynomial.items():
            parts.setdefault(powers[place], {})[(*powers[:place], 0, *powers[place + 1 :])] = coefficient
        coefficients = {n: ring.from_dict(part) for n, part in parts.items()}
        forms = [Add(*[self._factored(c) * K**n for n, c in coefficients.items()])]
        if any(n > 1 for n in coefficients):
            # in powers of Delta (K stands in for it) and of the odd K that is left
            product = ring.gens[self.scalars.field.symbols.index(Q1)] * ring.gens[self.scalars.field.symbols.index(Q2)]
            split: dict[tuple[int, int], object] = {}
            for n, c in coefficients.items():
                binomial = 1
                half = n // 2
                for j in range(half + 1):
                    term = c * product ** (half - j) * ((-1) ** j * binomial)
                    split[(j, n % 2)] = split.get((j, n % 2), ring.zero) + term
                    binomial = binomial * (half - j) // (j + 1)
            forms.append(Add(*[self._factored(c) * DELTA**j * K**odd for (j, odd), c in split.items() if c]))
        return forms

    def _factored(self, polynomial) -> Expr:
        content, factors = polynomial.factor_list()
        product = self._number(content) * Mul(*[self.scalars.poly(f) ** power for f, power in factors])
        return min((self.scalars.poly(polynomial), product), key=count_ops)

    def _number(self, value) -> Expr:
        return self.scalars.poly(self.scalars.field.ring.ground_new(value))


__all__ = ["Printer"]
