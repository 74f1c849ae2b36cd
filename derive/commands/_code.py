"""The module that `--code` writes: the activation, its derivative and every map of a theory that has code."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from derive.records import Unsupported

if TYPE_CHECKING:
    from derive.emit import EmittedFunction


def theory_code(theory: Any, backend: str, box: Any = None) -> str:
    """Standalone source text with phi, dphi, the maps and the recursions; what has no code is named in the docstring.

    `box` as in `Result.code`. Raises EocError where there is no such backend.
    """
    from derive.emit import emit
    from derive.surface.recursions import derivative_covariance, recursion_code

    own, parameters = _own(theory, backend)
    emit(own, backend)  # a backend that is not built is refused here, by name
    wanted = dict(theory.results)
    extra = derivative_covariance(theory)
    if extra is not None:
        wanted["derivative_covariance_map"] = extra

    def whole(kept: dict[str, Any], left_out: tuple[str, ...] = ()) -> str:
        text = recursion_code(theory, kept, backend, _header(theory, kept, left_out), own, box)
        return with_layer(text, theory, parameters, kept) if backend == "torch" and own else text

    try:
        return whole(wanted)
    except Unsupported:  # one of them has no code: the others have
        kept, left_out = _possible(wanted, backend, box)
        return whole(kept, left_out)


def _own(theory: Any, backend: str) -> tuple[tuple[EmittedFunction, ...], tuple[str, ...]]:
    """phi and phi' of the block's first activation, where it has one, and the parameters of phi."""
    from derive.emit import EmittedFunction
    from derive.emit.formula_text import formula_text
    from derive.surface.emission import shapes

    activation = theory._first
    if activation is None:
        return (), ()
    parameters = tuple(name for name, _ in theory.domains if name in {s.name for s in activation.phi.free_symbols})
    tail = f"\n\n{shapes(backend)}"
    value = f"phi(x) = {formula_text(activation.phi)}{tail}"
    slope = f"phi'(x) away from kinks; at a kink the value of the branch that holds there.{tail}"
    phi = EmittedFunction("phi", activation.phi, ("x",), parameters, value)
    return (phi, EmittedFunction("dphi", activation.dphi, ("x",), parameters, slope)), parameters


def _possible(wanted: dict[str, Any], backend: str, box: Any) -> tuple[dict[str, Any], tuple[str, ...]]:
    """The results that have code, and the reasons of the others."""
    from derive.surface.emission import results_code

    kept, left_out = {}, []
    for name, result in wanted.items():
        try:
            results_code({name: result}, backend, "", box=box)
            kept[name] = result
        except Unsupported as error:
            left_out.append(f"{name}: {error.what}")
    return kept, tuple(left_out)


def _header(theory: Any, kept: dict[str, Any], left_out: tuple[str, ...]) -> str:
    from derive.emit.formula_text import formula_text

    activation = theory._first
    named = theory.block if activation is None else activation.name or formula_text(activation.phi)
    header = f"Wide-network theory of {named}."
    if kept:
        header += "\nKinds: " + ", ".join(f"{name} {result.kind}" for name, result in kept.items()) + "."
    if left_out:
        header += "\nLeft out: " + "; ".join(left_out) + "."
    return header


def with_layer(text: str, theory: Any, parameters: tuple[str, ...], kept: dict[str, Any]) -> str:
    """The torch module with phi as a layer, and `init_` with the critical gains where the maps give them."""
    from derive.emit.layer import init_source, layer_source, with_import
    from derive.surface.recursions import derivative_covariance

    alone = derivative_covariance(theory) is not None and {"chi", "variance_map"} <= kept.keys()
    critical = (kept["chi"].parameters, kept["variance_map"].parameters) if alone else None
    parts = (layer_source(parameters, theory.activation.name), init_source(critical))
    return with_import(text) + "".join(f"\n\n{part}\n" for part in parts)
