"""The activation itself, read off the formula's own tree: in mpmath to any precision, and in torch for sampling.

This is the independent side of the evidence: no expression that `derive` made from the formula is used, and no
emitted code.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from fractions import Fraction
from typing import TYPE_CHECKING, Any

from derive.records import EocError, Formula, Node, Unsupported
from verify.reference_heads import exact_heads, torch_heads

if TYPE_CHECKING:
    import torch

Values = Mapping[str, Fraction]


def exact_function(formula: Formula, parameters: Values, mp: Any) -> Callable:
    """phi as a function of an mpmath number, in the context `mp` (its precision is the caller's)."""
    constants = _constants(formula, parameters, mp)
    return lambda x: exact_value(formula.tree, {**constants, "x": mp.mpf(x)}, mp)


def exact_value(tree: Node, names: Mapping[str, Any], mp: Any) -> Any:
    """A tree's value in mpmath numbers; the branch of a condition that is not taken is not evaluated."""
    heads = exact_heads(mp)

    def value(node: Node):
        leaf = _leaf(node, names, mp)
        if leaf is not None:
            return leaf
        if node.head == "cond":
            test, yes, no = node.args
            return value(yes if value(test) else no)
        return _function(node, heads)(*(_number(value(arg), mp) for arg in node.args))

    return _number(value(tree), mp)


def torch_function(
    formula: Formula, parameters: Values, variables: tuple[str, ...] = ("x",)
) -> Callable[..., torch.Tensor]:
    """phi as a function of floating-point tensors, one a variable; the dtype and device of the first come out.

    Subtrees without x are evaluated to 30 digits before they are rounded to the dtype.
    """
    import mpmath
    import torch

    mp = mpmath.mp.clone()
    mp.dps = 30
    exact, heads = exact_heads(mp), torch_heads()
    constants = _constants(formula, parameters, mp)

    def tensor(value, x):
        if isinstance(value, torch.Tensor):
            return value
        if isinstance(value, bool):
            return torch.tensor(value, device=x.device)
        return torch.tensor(float(value), dtype=x.dtype, device=x.device)

    def number(value, x):
        """A comparison used as a number is its indicator."""
        found = tensor(value, x)
        found = found.to(x.dtype) if found.dtype == torch.bool else found
        return with_tangent(found, x)

    def apply(node, args, x):
        if not any(isinstance(arg, torch.Tensor) for arg in args):
            if node.head == "cond":
                return args[1] if args[0] else args[2]
            return _function(node, exact)(*(_number(arg, mp) if node.head not in _LOGIC else arg for arg in args))
        if node.head == "cond":
            return torch.where(tensor(args[0], x).bool(), number(args[1], x), number(args[2], x))
        if node.head in _LOGIC:
            return heads[node.head](*(tensor(arg, x).bool() for arg in args))
        if node.head == "pow" and not isinstance(args[1], torch.Tensor) and args[1] == int(args[1]):
            return number(args[0], x) ** int(args[1])
        return _function(node, heads)(*(number(arg, x) for arg in args))

    def value(node: Node, given, x):
        leaf = _leaf(node, given, mp)
        return leaf if leaf is not None else apply(node, [value(arg, given, x) for arg in node.args], x)

    def phi(*inputs: torch.Tensor) -> torch.Tensor:
        x, given = inputs[0], {**constants, **dict(zip(variables, inputs, strict=True))}
        return number(value(formula.tree, given, x), x).expand_as(x)

    return phi


def with_tangent(value: torch.Tensor, x: torch.Tensor) -> torch.Tensor:
    """The value with a tangent of zeros where x carries one and it does not.

    torch differentiates arithmetic between the two kinds in Python, and loads its compiler for it: three seconds.
    """
    import torch
    from torch.autograd.forward_ad import make_dual, unpack_dual

    if unpack_dual(x).tangent is None or unpack_dual(value).tangent is not None:
        return value
    return make_dual(value, torch.zeros_like(value))


def slope_function(phi: Callable[[torch.Tensor], torch.Tensor]) -> Callable[[torch.Tensor], torch.Tensor]:
    """phi' away from kinks, by forward-mode differentiation of phi itself.

    Forward mode selects tangents in `torch.where`, so a branch that is not taken cannot leak a NaN.
    """
    import torch
    from torch.autograd import forward_ad

    def slope(x: torch.Tensor) -> torch.Tensor:
        with forward_ad.dual_level():
            tangent = forward_ad.unpack_dual(phi(forward_ad.make_dual(x, torch.ones_like(x)))).tangent
        return torch.zeros_like(x) if tangent is None else tangent

    return slope


_LOGIC = frozenset({"and", "or", "not"})


def _function(node: Node, heads: Mapping[str, Callable]) -> Callable:
    try:
        return heads[node.head]
    except KeyError:
        raise Unsupported(
            f"the reference has no definition of {node.head!r}",
            where=node.head,
            why="every operation of a formula needs an independent definition to be verified against",
            instead="add it to verify/reference_heads.py",
        ) from None


def _leaf(node: Node, names: Mapping[str, Any], mp: Any):
    if node.head == "num":
        return mp.mpf(node.value.numerator) / node.value.denominator  # type: ignore[union-attr]
    if node.head == "const":
        return +mp.pi if node.value == "pi" else +mp.e
    if node.head == "name":
        return names[str(node.value)]
    return None


def _number(value, mp: Any):
    return mp.mpf(int(value)) if isinstance(value, bool) else value


def _constants(formula: Formula, parameters: Values, mp: Any) -> dict[str, Any]:
    missing = sorted(set(formula.parameters) - set(parameters))
    if missing:
        raise EocError(f"no value for {', '.join(missing)}", where=formula.text, why="a parameter needs a number here")
    exact = {name: Fraction(parameters[name]) for name in formula.parameters}
    return {name: mp.mpf(value.numerator) / value.denominator for name, value in exact.items()}
