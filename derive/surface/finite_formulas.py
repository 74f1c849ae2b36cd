"""Finite width: the recursions at order 1/width of one input as Results."""

from __future__ import annotations

from dataclasses import dataclass, fields
from functools import cached_property
from typing import Any

from sympy import Expr, Symbol

from derive.depth.finite import recursion, templates
from derive.layers.dense import Dense
from derive.program.symbols import SIGMA_B, SIGMA_W
from derive.records import EocError, Unsupported
from derive.surface.results import Result

VERTEX = Symbol("V4", nonnegative=True)
CORRECTION = Symbol("K1", real=True)
THIRD = Symbol("T3", real=True)
RATIO = Symbol("r_n", positive=True)
STEP = (VERTEX, CORRECTION, THIRD, RATIO)


@dataclass(frozen=True)
class FiniteFormulas:
    """One layer's recursions in q, V4 = V, K1, T3 and r_n = n_l/n_(l-1); `FiniteWidth` says what they are."""

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


__all__ = ["FiniteFormulas"]
