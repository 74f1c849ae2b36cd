"""The module that `--code` writes: the activation, its derivative and every map of a theory that has code."""

from __future__ import annotations

from typing import Any

from derive.records import Unsupported


def theory_code(theory: Any, backend: str) -> str:
    """Standalone source text with phi, dphi and the maps; what has no code is named in the module's docstring.

    Raises Unsupported where the backend is not built.
    """
    from derive.emit import EmittedFunction, emit
    from derive.emit.formula_text import formula_text
    from derive.surface.emission import SHAPES, results_code

    activation = theory.activation
    parameters = tuple(name for name, _ in theory.domains if name in {s.name for s in activation.phi.free_symbols})
    phi = EmittedFunction("phi", activation.phi, ("x",), parameters, f"phi(x) = {formula_text(activation.phi)}\n\n{SHAPES}")
    slope = f"phi'(x) away from kinks; at a kink the value of the branch that holds there.\n\n{SHAPES}"
    dphi = EmittedFunction("dphi", activation.dphi, ("x",), parameters, slope)
    emit((phi, dphi), backend)  # a backend that is not built is refused here, by name
    kept, left_out = {}, []
    for name, result in theory.results.items():
        try:
            results_code({name: result}, backend, "")
            kept[name] = result
        except Unsupported as error:
            left_out.append(f"{name}: {error.what}")
    if not kept:
        raise Unsupported(f"no map of {activation.name or 'the block'} has {backend} code", why="; ".join(left_out))
    kinds = ", ".join(f"{name} {result.kind}" for name, result in kept.items())
    title = activation.name or formula_text(activation.phi)
    header = f"Wide-network theory of {title}.\n\nKinds: {kinds}."
    if left_out:
        header += "\nLeft out: " + "; ".join(left_out) + "."
    return results_code(kept, backend, header, (phi, dphi))
