"""Maps of a theory with what is computed from them: layer-by-layer kernels, tangent kernels, the complement 1 - C."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from sympy import sqrt

from derive.emit import EmittedFunction, angle_bindings
from derive.emit.recursions import LIBRARIES, complement_source, correlation_source, recursion_source
from derive.gaussian import numbers
from derive.gaussian.node import pair
from derive.layers.dense import Dense
from derive.layers.elementwise import Elementwise
from derive.program.symbols import DELTA, K
from derive.surface.emission import described, results_code
from derive.surface.results import Result


def derivative_covariance(theory: Any) -> Result | None:
    """E phi'(u) phi'(v) of a block of one Dense and one activation that does not jump; None for others."""
    stages = theory.block.stages
    free = all(isinstance(s, Elementwise) or (isinstance(s, Dense) and s.sigma_w is s.sigma_b is None) for s in stages)
    if theory.maps.jumps or not free or sum(isinstance(stage, Elementwise) for stage in stages) != 1:
        return None
    slope = theory.activation.dphi
    symbol = r"\mathbb{E}\,\varphi'(u)\varphi'(v)"
    return Result(
        pair(slope, slope), ("q1", "q2", "c"), theory.domains, "covariance map of the derivative", symbol, theory.notes
    )


def recursion_code(
    theory: Any,
    kept: Mapping[str, Result],
    backend: str,
    header: str,
    extra: tuple[EmittedFunction, ...],
    box: Any = None,
) -> str:
    """The module of the kept results, and the recursions where the maps they call are among them."""
    needed = {"covariance_map", "variance_map"}
    possible = backend in LIBRARIES and needed <= kept.keys() and derivative_covariance(theory) is not None
    if not possible:
        return results_code(dict(kept), backend, header, extra, box)
    parameters = kept["variance_map"].parameters
    tangent = "derivative_covariance_map" in kept and kept["derivative_covariance_map"].parameters == parameters
    beside, alias = (), ""
    if tangent:
        beside, alias = _beside(kept["derivative_covariance_map"])
    composed = kept.get("correlation_map")
    rest = {name: result for name, result in kept.items() if name != "correlation_map"}
    slopes = _slopes(kept) if tangent else {}
    text = results_code(rest, backend, header, (*extra, *beside), box, slopes)
    if composed is not None:
        doc = described(composed, "of covariance_map and variance_map", backend)
        own = kept["covariance_map"].parameters
        text += "\n\n" + correlation_source(backend, doc, own, parameters, composed.parameters) + "\n"
    text += "\n\n" + recursion_source(backend, parameters, tangent)
    if tangent:
        text += "\n\n" + alias + complement_source(backend, parameters, "\n_NODES = (" in text)
    return text


def _slopes(kept: Mapping[str, Result]) -> dict[str, str]:
    """The covariance map's derivative in c is sqrt(q1 q2) times the map of phi', which is there (Price 1958)."""
    derived = kept["derivative_covariance_map"]
    if numbers.outermost(derived.closed) or kept["covariance_map"].parameters != derived.parameters:
        return {}
    given = "".join(f", {p}={{{p}}}" for p in derived.parameters)
    return {"covariance_map": f"derivative_covariance_map({{q1}}, {{q2}}, {{c}}{given})"}


def _beside(result: Result) -> tuple[tuple[EmittedFunction, ...], str]:
    """E phi'(u) phi'(v) as a function of q1, q2 and e = 1 - c, with K and Delta from e; or a line that defines it."""
    from sympy import Symbol

    name, closed = "_derivative_covariance_beside", result.closed
    if numbers.outermost(closed):
        given = "".join(f", {p}={p}" for p in result.parameters)
        star = "*, " if result.parameters else ""
        head = f"def {name}(q1, q2, e, {star}{', '.join(result.parameters)}):".replace(", )", ")")
        doc = '    """E phi\'(u) phi\'(v) at correlation 1 - e."""'
        return (), f"{head}\n{doc}\n    return derivative_covariance_map(q1, q2, 1 - e{given})\n\n\n"
    e = Symbol("e", nonnegative=True)
    both = (("c", 1 - e), *angle_bindings(sqrt(e * (2 - e)), e * (2 - e)))
    bindings = both if closed.has(K, DELTA) else ()
    doc = "E phi'(u) phi'(v) at correlation 1 - e."
    return (EmittedFunction(name, closed, ("q1", "q2", "e"), result.parameters, doc, {}, bindings),), ""
