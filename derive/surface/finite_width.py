"""Finite width: the statistics of a theory's random networks at order 1/width, with kinds and numbers."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields
from fractions import Fraction
from functools import cached_property
from typing import TYPE_CHECKING, Any

import flint

from derive.depth.enclosures import to_ball
from derive.depth.finite import recursion, through
from derive.gaussian.numbers import ball, to_enclosure
from derive.program.symbols import SIGMA_B, SIGMA_W, X
from derive.records import DomainError, EocError, Unsupported
from derive.surface.exact import deviation, exact
from derive.surface.finite_formulas import FiniteFormulas

if TYPE_CHECKING:
    from derive.depth.finite.classes import ClassLaw
    from derive.depth.finite.initialisation import WidthAware
    from derive.depth.finite.inputs import FiniteInputs
    from derive.depth.finite.scale_invariant import ScaleInvariant
    from derive.surface.finite_block import BlockLaw
    from derive.surface.finite_inputs import TwoInputs


@dataclass(frozen=True)
class FiniteWidth(FiniteFormulas):
    """What a network of width n does that the infinite one does not, to order 1/n.

    For one input the pre-activations of layer l are, given the layer below, i.i.d. N(0, G^l) with the random kernel
    G^l = sigma_b^2 + (sigma_w^2/n) sum_j phi(z_j)^2. Its law is that of K + K1/n + sqrt(V/n) N(0, 1) up to higher
    orders: V is the four-point vertex, K1 the mean correction. Attributes are Results; `vertex`, `mean_correction`
    and `third_cumulant` are one layer's recursions in q, V4 = V, K1, T3 and r_n = n_l/n_(l-1). Numbers along depth:
    `depth`, `step`; off criticality `fixed`, at criticality `criticality` and `exact`; what to do `initialisation`.

    Source: Yaida 2019 (arXiv 1910.00019); Roberts, Yaida, Hanin 2021 (arXiv 2106.10165), chapters 4 and 5.
    """

    def _values(self, sigma_w: Any, sigma_b: Any, parameters: Mapping[str, Any]) -> dict[str, Fraction]:
        weight, bias = self._dense
        fixed = {SIGMA_W: weight, SIGMA_B: bias}
        given = {"sigma_w": sigma_w, "sigma_b": sigma_b}
        found = self.theory._values(parameters)
        for symbol, inside in fixed.items():
            name = symbol.name
            if inside != symbol:
                found[name] = Fraction(int(inside.p), int(inside.q)) if inside.is_Rational else exact(str(inside), name)
            elif given[name] is None:
                raise EocError(f"no value for {name}", instead=f"{name}=1")
            else:
                found[name] = deviation(given[name], name)
        return found

    def step(
        self, q: Any, vertex: Any = 0, correction: Any = 0, *, sigma_w: Any = None, sigma_b: Any = 0, ratio: Any = 1,
        digits: int = 16, **parameters: Any,
    ) -> recursion.Kernel:  # fmt: skip
        """One layer: (K', V', K1', T') as certified Enclosures, T' from a layer without third cumulant."""
        values = self._values(sigma_w, sigma_b, parameters)
        start, v, k1, r = (exact(x, n) for x, n in ((q, "q"), (vertex, "V4"), (correction, "K1"), (ratio, "r_n")))
        _variance(start)
        with flint.ctx.workprec(int(3.33 * digits) + 80):
            at = through.balls(self._forward, None, values, digits + 4)(start)
            made = recursion.step(recursion.Kernel(ball(start), ball(v), ball(k1), ball(0)), at, ball(r))
            return recursion.Kernel(*(to_enclosure(getattr(made, f.name)) for f in fields(made)))

    def depth(
        self, q0: Any, layers: int, widths: Any, sigma_w: Any = None, sigma_b: Any = 0, *, certified: bool = False,
        digits: int = 16, weights: str = "gaussian", **parameters: Any,
    ) -> through.FiniteDepth:  # fmt: skip
        """K, V, K1 and the gradient's statistics at layers 1 to `layers`: a `FiniteDepth` of arrays.

        q0         variance of layer 1, sigma_w^2 |x|^2/d + sigma_b^2
        widths     of layers 1 to layers - 1: a number, or one for each
        certified  False: floats, about 1e-12 of each expectation; True: Enclosures, some milliseconds each
        weights    "gaussian", or "orthogonal": square matrices uniform among the orthogonal ones times sigma_w, the
                   first layer's too, Gaussian biases

        Raises Unsupported where an expectation is out of reach of floats.
        """
        values, start = self._values(sigma_w, sigma_b, parameters), exact(q0, "q0")
        _variance(start)
        given, jumps = through.widths_of(widths, layers), bool(self.theory.maps.jumps)
        fixed = _fixed(weights, given, values["sigma_b"])
        if certified:
            with flint.ctx.workprec(int(3.33 * digits) + 100):
                at = through.balls(self._forward, self._tangent, values, digits + 8)
                share = None if fixed is None else ball(fixed)
                return through.through(at, ball(start), layers, given, jumps, True, share)
        rest = None if fixed is None else float(fixed)
        return through.through(self._floats(values), float(start), layers, given, jumps, False, rest)

    def _floats(self, values: Mapping[str, Fraction]) -> through.At:
        weight, bias = (float(values[n]) ** 2 for n in ("sigma_w", "sigma_b"))
        return through.floats(self._phi, self.theory.activation.dphi, weight, bias, values)

    def fixed(
        self, sigma_w: Any = None, sigma_b: Any = 0, q0: Any = 1, *, digits: int = 16, **parameters: Any
    ) -> recursion.Kernel:
        """The statistics deep in a network of constant width off criticality: Enclosures at the attractor of q0.

        V = S/(1 - chi_parallel^2), K1 = chi_parallel' V/(2 (1 - chi_parallel)). Raises EocError where no fixed point
        q > 0 attracts q0.
        """
        values = self._values(sigma_w, sigma_b, parameters)
        found = self.theory.at(values["sigma_w"], values["sigma_b"], q0, **parameters)
        if found.attractor is None or not float(found.q) > 0:
            raise EocError(f"no fixed point q > 0 attracts q0: the variance {found.tendency}", instead="depth(...)")
        with flint.ctx.workprec(int(3.33 * digits) + 80):
            q = to_ball(found.q)
            at = through.balls(self._forward, None, values, digits + 4)(q)
            x, bend = at.transport, at.curvature
            v = at.source / (1 - x**2)
            k1 = bend * v / (2 * (1 - x))
            third = (at.third_source + 3 * x * v * (at.source_slope + x * bend * v)) / (1 - x**3)
            return recursion.Kernel(*(to_enclosure(value) for value in (q, v, k1, third)))

    def code(self, backend: str = "numpy") -> str:
        """Source text of a module with `kernel_map`, `vertex`, `mean_correction` and `finite_width_recursion`."""
        from derive.surface.finite_code import finite_width_code

        return finite_width_code(self, backend)

    @cached_property
    def two_inputs(self) -> TwoInputs:
        """The recursions of a pair of inputs as formulas: a `TwoInputs` of Results."""
        from derive.surface.finite_inputs import TwoInputs

        return TwoInputs(self)

    def inputs(
        self, kernel: Any, layers: int, widths: Any, sigma_w: Any = None, sigma_b: Any = 0, *, distinct: int = 2,
        certified: bool = False, digits: int = 16, **parameters: Any,
    ) -> FiniteInputs:  # fmt: skip
        """K, V and K1 of a set of inputs at layers 1 to `layers`: a `FiniteInputs` of arrays.

        kernel     of layer 1, positive definite: sigma_w^2 x_a.x_b/d + sigma_b^2
        distinct   how many different inputs may meet in an entry of V: 2 is all that K and K1 need, 3, 4 for all of V
        certified  False: floats, about 1e-10 of each expectation; True: Enclosures, a second a layer and pair

        Raises EocError for collinear inputs, Unsupported where an expectation is out of reach of floats.
        """
        from derive.surface.finite_inputs import several_inputs

        return several_inputs(self, kernel, layers, widths, (sigma_w, sigma_b), distinct, certified, digits, parameters)

    @cached_property
    def block_law(self) -> BlockLaw:
        """What one residual block does to the Gram matrix of its stream: a `BlockLaw` of drift, shift and noise."""
        from derive.surface.finite_block import BlockLaw

        return BlockLaw(self.theory)

    @cached_property
    def criticality(self) -> ClassLaw:
        """Exponents and prefactors in depth at the critical point of its universality class."""
        from derive.depth.finite.classes import class_law

        open_names = [name for name, _ in self.theory.domains]
        if self.theory.universality.name == "half-stable" and open_names:
            raise EocError(f"no value for {', '.join(open_names)}", instead="theory(Activation(..., a=1))")
        return class_law(self.theory.universality, self._phi, self._forward.source, {})

    @cached_property
    def exact(self) -> ScaleInvariant:
        """The law at every width of phi(t x) = t phi(x), t > 0; `.orthogonal()` for such weights.

        Raises Unsupported for other functions.
        """
        from derive.depth.finite.scale_invariant import ScaleInvariant
        from derive.surface.universality import _is_scale_invariant

        if not _is_scale_invariant(self.theory.activation):
            raise Unsupported(
                "a law at every width", where=str(self._phi), why="the activation is not one line on each side of 0",
                instead="depth(...), to order 1/width",
            )  # fmt: skip
        return ScaleInvariant(self._phi.subs(X, 1), -self._phi.subs(X, -1))

    def initialisation(
        self, q0: Any, widths: Any, sigma_w: Any = None, sigma_b: Any = 0, *, layers: int | None = None,
        keep: Any = "mean", **parameters: Any,
    ) -> WidthAware:  # fmt: skip
        """sigma_w of each layer such that width does not move the kernel: a `WidthAware` with `.code()` for torch.

        q0      variance of layer 1
        widths  of layers 1 to L - 1; or one number, with `layers` = L
        keep    "mean": E G = K; "typical": exp(E log G) = K, that of a typical network; or a power p:
                (E G^p)^(1/p) = K, p = 1/2 for the mean norm

        Scale-invariant functions at criticality: exact at every width (the mean needs nothing; the typical ReLU network
        sigma_w^2 = 2 exp(-E[log R | R > 0])). Otherwise each layer is kept up to 1/width^2. The spread stays.
        """
        from derive.surface.finite_initialisation import initialisation

        return initialisation(self, q0, widths, sigma_w, sigma_b, layers, keep, parameters)


def _fixed(weights: str, widths: tuple[int, ...], sigma_b: Fraction) -> Fraction | None:
    """sigma_b^2 for orthogonal weights, None for Gaussian ones. Raises EocError for others."""
    if weights == "gaussian":
        return None
    if weights != "orthogonal":
        raise EocError(f"weights = {weights!r}", instead='"gaussian" or "orthogonal"')
    if len(set(widths)) > 1:
        raise Unsupported(
            "orthogonal weights between layers of different widths",
            why="their law is known for square matrices, which keep the norm of every vector",
            instead="one width for all layers",
        )
    return sigma_b**2


def _variance(q: Fraction) -> None:
    if q <= 0:
        raise DomainError(f"q = {q} is no variance", instead="q=1")


__all__ = ["FiniteWidth"]
