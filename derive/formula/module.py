"""An elementwise torch module or function as a Formula, read operation by operation from its exported graph."""

from __future__ import annotations

import copy
import logging
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, NoReturn

from derive.formula.checks import number
from derive.formula.graph import Graph
from derive.formula.printer import show_text
from derive.formula.reader import finished
from derive.records import Formula, FormulaError, Node, SelfTestFailed

POINTS = (-3.125, -0.90625, -0.21875, 0.34375, 1.15625, 2.6875)
INSTEAD = "pass an elementwise module or function, such as torch.nn.GELU(), or write the formula as text"
GATED = 'gated units are formulas of two inputs: expect("x*sigmoid(y)", of="x y", ...)'
BRANCHES = (
    "data-dependent",
    "Boolean value of Tensor",
    "converted to Python scalars",
    "control flow",
    "to a Python scalar",
)
"""What torch says when Python asks for the value of a traced tensor."""
LAYERS = {
    "Softmax": "softmax couples the units of a layer",
    "Softmin": "softmin couples the units of a layer",
    "Softmax2d": "softmax couples the channels of a layer",
    "LogSoftmax": "log-softmax couples the units of a layer",
    "AdaptiveLogSoftmaxWithLoss": "softmax couples the units of a layer",
    "GLU": "a gated unit has two inputs",
    "MultiheadAttention": "attention couples the positions of a sequence",
    "Linear": "a linear map is a layer: Dense() in a block",
    "Dropout": "dropout is a layer: Dropout(p) in a block",
    "AlphaDropout": "dropout is a layer: Dropout(p) in a block",
    "Flatten": "flattening is no function of one number",
}
FAMILIES = {
    "Norm": "a normalisation couples the units of a layer",
    "Pool": "a pooling couples units or positions: MaxPool(k) or AvgPool(k) in a block",
    "Conv": "a convolution is a layer: Conv(k) in a block",
    "Loss": "a loss is no activation",
}


def read_module(obj: Any, name: str = "") -> Formula:
    """The Formula of an elementwise torch.nn module, of a torch function, or of the user's own.

    The module is copied, set to evaluation mode and exported on a small example (`torch.export`); every
    operation of the graph is read from the tables of `derive.formula.aten`. Numbers are exact rationals of
    their shortest decimal; parameters and buffers of one element are read as their present value. What the
    formula leaves out on purpose (Softplus's threshold, RReLU's random slope) is said in the notes.

    Raises FormulaError, naming the module or operation, for what is not elementwise or not known.
    """
    torch = sys.modules.get("torch")
    if torch is None or not callable(obj):
        raise FormulaError(
            f"{type(obj).__name__} is no torch module or function",
            why="functions are read through torch" if callable(obj) else "",
            instead="import torch first, or write the formula as text" if callable(obj) else INSTEAD,
        )
    title = name or getattr(obj, "__name__", "") or type(obj).__name__
    title = "function" if title == "<lambda>" else title
    _refuse_layers(torch, obj)
    wrapped, example = _wrapped(torch, obj)
    graph = Graph(torch, _exported(torch, wrapped, example, title), title)
    tree = graph.tree()
    _demand_one_function(torch, wrapped, example, title)
    if not graph.leaves_out:
        _compare(torch, wrapped, example, tree, title)
    notes = [*graph.notes]
    if isinstance(obj, torch.nn.Module) and obj.training and graph.depends_on_mode:
        notes.append(f"{title} is read in evaluation mode")
    return finished(show_text(tree), tree, ("x",), notes, None, title, {})


def _refuse_layers(torch: Any, obj: Any) -> None:
    if isinstance(obj, type):
        raise FormulaError(f"{obj.__name__} is a class", instead=f"pass an instance: {obj.__name__}()")
    if not isinstance(obj, torch.nn.Module):
        return
    kind = type(obj).__name__
    ours = type(obj).__module__.startswith("torch.nn")
    why = LAYERS.get(kind) or next((text for part, text in FAMILIES.items() if part in kind), "")
    if ours and why:
        raise FormulaError(
            f"{kind} is not elementwise", where=f"  {obj}", why=why, instead=GATED if kind == "GLU" else INSTEAD
        )
    if isinstance(obj, torch.nn.PReLU) and obj.weight.numel() > 1:
        raise FormulaError(
            f"PReLU with {obj.weight.numel()} slopes is not one function",
            where=f"  {obj}",
            why="every channel has its own",
            instead="pass torch.nn.PReLU() with one slope, or derive the formula with the slope as a parameter: prelu",
        )


def _wrapped(torch: Any, obj: Any) -> tuple[Any, Any]:
    """A copy of `obj` as a module in evaluation mode, and an input of its type."""

    class Wrapped(torch.nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.inner = copy.deepcopy(obj)

        def forward(self, x):
            return self.inner(x)

    wrapped = Wrapped().eval()
    floats = [p.dtype for p in (*wrapped.parameters(), *wrapped.buffers()) if p.dtype.is_floating_point]
    return wrapped, torch.tensor(POINTS, dtype=floats[0] if floats else torch.float64)


def _exported(torch: Any, wrapped: Any, example: Any, title: str) -> Any:
    """The exported program."""
    try:
        with _quiet():
            return torch.export.export(wrapped, (example,), strict=False)
    except Exception as error:
        _refuse_export(error, title)


@contextmanager
def _quiet() -> Iterator[None]:
    """Without torch's log: it prints pages about what a refusal says in one line."""
    logs = [logging.getLogger(name) for name in list(logging.root.manager.loggerDict) if name.startswith("torch")]
    before = [log.disabled for log in logs]
    for log in logs:
        log.disabled = True
    try:
        yield
    finally:
        for log, was in zip(logs, before, strict=True):
            log.disabled = was


def _demand_one_function(torch: Any, wrapped: Any, example: Any, title: str) -> None:
    """Refuse what is no function of one number: other values for the same number in a tensor of another shape."""
    plain = _called(torch, wrapped, example, title)
    for given in (example.repeat(2), example[:1], example.reshape(2, -1)):
        values = _called(torch, wrapped, given, title).reshape(-1)[: len(example)]
        found = torch.cat((values, plain[len(values) :]))
        differs = ~torch.isclose(found, plain, rtol=1e-4, atol=1e-6, equal_nan=True)
        if found.shape != plain.shape or differs.any():
            at = int(differs.nonzero()[0]) if differs.any() else 0
            raise FormulaError(
                f"{title} is no function of one number",
                where=f"  at x = {example[at].item()} it returns {plain[at].item():.6g} in a tensor of shape "
                f"{tuple(example.shape)}, {found[at].item():.6g} in one of shape {tuple(given.shape)}",
                why="it uses the shape of its input or its other numbers, or draws random numbers",
                instead="a function that acts on every number alone; a number such as x.shape[0] as a constant",
            )


def _called(torch: Any, wrapped: Any, given: Any, title: str) -> Any:
    """The module's values; FormulaError where it cannot be called."""
    try:
        with torch.no_grad():
            return wrapped(given.clone()).detach()
    except (RuntimeError, TypeError, ValueError, IndexError) as error:
        raise FormulaError(
            f"{title} cannot be called on a tensor of shape {tuple(given.shape)} and type {given.dtype}",
            where=f"  {type(error).__name__}: {(str(error).strip() or 'no message').splitlines()[0][:200]}",
            why="an activation takes tensors of any shape in the type of its parameters, float64 if it has none",
            instead="constants in the type of the input: torch.tensor(0.5, dtype=x.dtype)",
        ) from error


def _compare(torch: Any, wrapped: Any, example: Any, tree: Node, title: str) -> None:
    """Run the module on a few points against the tree: a wrong table is an internal error, never an answer."""
    import mpmath

    mp = mpmath.MPContext()
    theirs = _called(torch, wrapped, example, title).double().tolist()
    coarse = 8 * torch.finfo(example.dtype).eps ** 0.5
    for point, value in zip(example.double().tolist(), theirs, strict=True):
        try:
            ours = _value(tree, mp.mpf(point), mp)
        except (ZeroDivisionError, ValueError):
            continue
        if mp.im(ours) == 0 and abs(ours - value) > coarse * (1 + abs(ours)):
            raise SelfTestFailed(
                f"{title} was read as another function",
                where=f"  at x = {point} it returns {value}, the formula {mp.nstr(ours, 12)}",
                instead="write the formula as text",
            )


def _value(node: Node, x: Any, mp: Any) -> Any:
    return x if node.head == "name" else number(node, [_value(arg, x, mp) for arg in node.args], mp)


def _refuse_export(error: Exception, title: str) -> NoReturn:
    text = str(error).strip()
    first = text.splitlines()[0][:200] if text else type(error).__name__
    kind = type(error).__name__
    if "DataDependent" in kind or any(sign in text for sign in BRANCHES):
        raise FormulaError(
            f"{title} decides in Python on the value of its input",
            where=f"  {first}",
            why="a graph of operations holds no Python `if`, float() or .item()",
            instead="write torch.where(x > 0, a, b), or the formula as text: a if x > 0 else b",
        ) from error
    raise FormulaError(
        f"{title} cannot be traced", where=f"  {kind}: {first}", why="torch.export refused it", instead=INSTEAD
    ) from error
