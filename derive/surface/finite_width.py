"""Finite width: the statistics of a theory's random networks at order 1/width, with kinds and numbers."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields
from fractions import Fraction
from functools import cached_property
from typing import TYPE_CHECKING, Any

import flint
from sympy import Expr, Symbol

from derive.depth.enclosures import to_ball
from derive.depth.finite import recursion, templates, through
from derive.gaussian.numbers import ball, to_enclosure
from derive.layers.dense import Dense
from derive.program.symbols import SIGMA_B, SIGMA_W, X
from derive.records import DomainError, EocError, Unsupported
from derive.surface.exact import deviation, exact
from derive.surface.results import Result

if TYPE_CHECKING:
    from derive.depth.finite.classes import ClassLaw
    from derive.depth.finite.initialisation import WidthAware
    from derive.depth.finite.inputs import FiniteInputs
    from derive.depth.finite.scale_invariant import ScaleInvariant
    from derive.surface.finite_block import BlockLaw
    from derive.surface.finite_inputs import TwoInputs

VERTEX = Symbol("V4", nonnegative=True)
CORRECTION = Symbol("K1", real=True)
THIRD = Symbol("T3", real=True)
RATIO = Symbol("r_n", positive=True)
STEP = (VERTEX, CORRECTION, THIRD, RATIO)


@dataclass(frozen=True)
class FiniteWidth:
    """What a network of width n does that the infinite one does not, to order 1/n.

    For one input the pre-activations of layer l are, given the layer below, i.i.d. N(0, G^l) with the random kernel
    G^l = sigma_b^2 + (sigma_w^2/n) sum_j phi(z_j)^2. Its law is that of K + K1/n + sqrt(V/n) N(0, 1) up to higher
    orders: V is the four-point vertex, K1 the mean correction. Attributes are Results; `vertex`, `mean_correction`
    and `third_cumulant` are one layer's recursions in q, V4 = V, K1, T3 and r_n = n_l/n_(l-1). Numbers along depth:
    `depth`, `step`; off criticality `fixed`, at criticality `criticality` and `exact`; what to do `initialisation`.

    Source: Yaida 2019 (arXiv 1910.00019); Roberts, Yaida, Hanin 2021 (arXiv 2106.10165), chapters 4 and 5.
    """

    theory: Any

    @cached_property
    def _phi(self) -> Expr:
        phi = self.theory._only_phi()
        if phi is None:
            raise Unsupported(
                "finite width of a block of more than one activation behind one Dense", where=str(self.theory.block)
            )
        return phi

    @cached_property
    def _dense(self) -> tuple[Expr, Expr]:
        dense = next((stage for stage in self.theory.block.stages if isinstance(stage, Dense)), Dense())
        return dense.symbols

    @cached_property
    def _forward(self) -> templates.Forward:
        taken = {s.name for s in STEP} & set(dict(self.theory.domains))
        if taken:
            raise EocError(f"a parameter is named {min(taken)}", why="the recursions use that name")
        weight, bias = self._dense
        return templates.forward(self._phi, weight**2, bias**2)

    @cached_property
    def _tangent(self) -> templates.Tangent | None:
        if self.theory.maps.jumps:
            return None
        return templates.tangent(self._phi, self.theory.activation.dphi, self._dense[0] ** 2)

    def _slopes(self) -> templates.Tangent:
        if self._tangent is None:
            raise Unsupported("tangents of a function that jumps", why="chi = sigma_w^2 E phi'^2 is infinite")
        return self._tangent

    def _result(self, template: Expr, title: str, symbol: str) -> Result:
        free = template.free_symbols
        names = ("q", *(s.name for s in (*STEP, SIGMA_W, SIGMA_B) if s in free))
        return Result(template, names, self.theory.domains, title, symbol, self.theory.notes)

    @cached_property
    def kernel(self) -> Result:
        """K' = sigma_w^2 E phi^2 + sigma_b^2, the variance map."""
        return self._result(self._forward.kernel, "kernel", "K'(q)")

    @cached_property
    def transport(self) -> Result:
        """chi_parallel = dK'/dq, by a Hermite polynomial and without derivatives of phi."""
        return self._result(self._forward.transport, "transport", r"\chi_\parallel(q)")

    @cached_property
    def curvature(self) -> Result:
        """d^2 K'/dq^2 = sigma_w^2 E phi^2 (z^4 - 6 q z^2 + 3 q^2)/(4 q^4)."""
        return self._result(self._forward.curvature, "curvature", r"\chi_\parallel'(q)")

    @cached_property
    def vertex_source(self) -> Result:
        """sigma_w^4 (E phi^4 - (E phi^2)^2): the width times the variance that one layer adds."""
        return self._result(self._forward.source, "vertex source", r"S(q)")

    @cached_property
    def vertex(self) -> Result:
        """V' = sigma_w^4 (E phi^4 - (E phi^2)^2) + r_n chi_parallel^2 V."""
        return self._result(self._stepped.vertex, "four-point vertex", "V'")

    @cached_property
    def mean_correction(self) -> Result:
        """K1' = r_n (chi_parallel K1 + chi_parallel' V/2)."""
        return self._result(self._stepped.correction, "mean correction", "K_1'")

    @cached_property
    def third_cumulant(self) -> Result:
        """T' = sigma_w^6 kappa_3(phi^2) + 3 r_n chi_parallel S' V
        + r_n^2 (3 chi_parallel^2 chi_parallel' V^2 + chi_parallel^3 T).
        """
        return self._result(self._stepped.third, "third cumulant", "T_3'")

    @cached_property
    def _stepped(self) -> recursion.Kernel:
        at = recursion.Coefficients(*(getattr(self._forward, f.name) for f in fields(self._forward)))
        return recursion.step(recursion.Kernel(None, VERTEX, CORRECTION, THIRD), at, RATIO)

    @cached_property
    def gain_mean(self) -> Result:
        """Width n_l times (mean empirical gain - chi): r_n (chi' K1 + chi'' V/2)."""
        return self._result(self._gain[0], "mean correction of the gain", r"\chi_1")

    @cached_property
    def gain_variance(self) -> Result:
        """Width n_l times the variance of (sigma_w^2/n_l) sum_j phi'(z_j)^2: sigma_w^4 Var phi'^2 + r_n chi'^2 V."""
        return self._result(self._gain[1], "variance of the gain", r"n\,\mathrm{Var}\,\hat\chi")

    @cached_property
    def _gain(self) -> tuple[Expr, Expr]:
        both = (*(getattr(self._forward, f.name) for f in fields(self._forward)), *self._slope_list())
        return recursion.gain_statistics(
            recursion.Kernel(None, VERTEX, CORRECTION, THIRD), recursion.Coefficients(*both), RATIO
        )

    def _slope_list(self) -> list[Expr]:
        slopes = self._slopes()
        return [getattr(slopes, f.name) for f in fields(slopes)]

    @property
    def results(self) -> dict[str, Result]:
        """Every formula by its attribute name."""
        names = ["kernel", "transport", "curvature", "vertex_source", "vertex", "mean_correction", "third_cumulant"]
        names += [] if self._tangent is None else ["gain_mean", "gain_variance"]
        return {name: getattr(self, name) for name in names}

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
        digits: int = 16, **parameters: Any,
    ) -> through.FiniteDepth:  # fmt: skip
        """K, V, K1 and the gradient's statistics at layers 1 to `layers`: a `FiniteDepth` of arrays.

        q0         variance of layer 1, sigma_w^2 |x|^2/d + sigma_b^2
        widths     of layers 1 to layers - 1: a number, or one for each
        certified  False: floats, about 1e-12 of each expectation; True: Enclosures, some milliseconds each

        Raises Unsupported where an expectation is out of reach of floats.
        """
        values, start = self._values(sigma_w, sigma_b, parameters), exact(q0, "q0")
        _variance(start)
        given, jumps = through.widths_of(widths, layers), bool(self.theory.maps.jumps)
        if certified:
            with flint.ctx.workprec(int(3.33 * digits) + 100):
                at = through.balls(self._forward, self._tangent, values, digits + 8)
                return through.through(at, ball(start), layers, given, jumps, exact=True)
        return through.through(self._floats(values), float(start), layers, given, jumps)

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
        """The law at every width of phi(t x) = t phi(x), t > 0. Raises Unsupported for other functions."""
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


def _variance(q: Fraction) -> None:
    if q <= 0:
        raise DomainError(f"q = {q} is no variance", instead="q=1")


__all__ = ["FiniteWidth"]
