"""From a traced graph to steps: activations are put together operation by operation, the rest is looked up by name."""

from __future__ import annotations

import operator
from dataclasses import dataclass, replace
from typing import Any

import torch

from derive.formula import nodes
from derive.formula.aten import formulas
from derive.formula.floats import shortest, typed
from derive.formula.graph import CHECKS, Graph
from derive.records import EocError, Node
from verify.models.moments import moments_of, text_of
from verify.models.step import Step, operations
from verify.models.steps.affine import Affine, affine
from verify.models.steps.elementwise import Elementwise
from verify.models.steps.ends import Input, Opaque
from verify.models.trace import Traced, first_names, in_place, without_wrapper
from verify.models.views import RESHAPES, heads_after, heads_moved, is_row, order_of
from verify.models.written_out import WrittenOut, attentions
from verify.reading import Unread

SAME = frozenset(("clone", "contiguous", "detach", "alias", "lift_fresh_copy", "to", "_to_copy"))


@dataclass
class Value:
    """A tensor of the graph: a function (tree in x) of the output of a step; `name` is the node that computed it.

    `shape` is that of the step; the tensor may hold inputs and positions in one row, or `heads`, two axes for features.
    """

    base: str
    tree: Node
    shape: tuple[int, ...]
    name: str
    heads: tuple[int, int] | None = None


class Reader:
    """One model being read; `steps`, `unread` and `notes` collect the outcome."""

    def __init__(self, traced: Traced, model: Any, values: dict[str, Any]) -> None:
        self.traced, self.values = traced, values
        self.names = first_names(model)
        self.signals: dict[str, Value] = {}
        self.steps: dict[str, Step] = {}
        self.features: dict[str, int] = {}
        self.depends: set[str] = set()
        self.unread: list[Unread] = []
        self.notes: list[str] = []
        self.formula = Graph(torch, None, "the model")
        self.written: dict[str, WrittenOut] = {}
        self.inner: set[str] = set()

    def read(self) -> None:
        """Walk the graph once to see what depends on the input, and once to read it."""
        for node in self.traced.nodes:
            given = self.traced.given.get(node.name, ("", ""))[0] == "input"
            if given or (node.op == "call_function" and any(self.stream(n) for n in node.all_input_nodes)):
                self.depends.add(node.name)
        self.written = dict(attentions(self.traced.nodes, self.operation, self.stream))
        self.inner = {name for found in self.written.values() for name in found.inner}
        for node in self.traced.nodes:
            if node.name in self.traced.given:
                if self.traced.given[node.name][0] == "input":
                    tokens = not self.values[node.name].is_floating_point()
                    self.place(Input(name=node.name, module="", inputs=(), shape=self.shape(node), tokens=tokens))
            elif self.stream(node) and node.name not in self.inner and torch.is_tensor(self.values[node.name]):
                self.operate(node)

    def operate(self, node: Any) -> None:
        """One operation: a function of one number, a known step, or what is not read."""
        streams = [n for n in node.all_input_nodes if self.stream(n)]
        if self.operation(node) in CHECKS:
            return
        try:
            several = any(n.name not in self.signals for n in streams)
            if several or not (self.same(node) or self.elementwise(node, streams)):
                self.place(self.known(node, streams))
            if in_place(node):
                self.signals[node.args[0].name] = self.signals[node.name]
        except EocError as error:
            self.opaque(node, streams, error.what if not error.why else f"{error.what}: {error.why}")

    def known(self, node: Any, streams: list[Any]) -> Step:
        """A step from the registry, or a scale or shift by a parameter."""
        name = self.operation(node)
        if len(streams) == 1 and name in ("mul", "add", "sub", "div") and len(node.all_input_nodes) == 2:
            return affine(self, node, name)
        if name not in operations() or (name == "getitem" and self.operation(node.args[0]) not in ("chunk", "split")):
            raise EocError("no layer of the theory does it")
        return operations()[name](self, node)

    def same(self, node: Any) -> bool:
        """Operations that hand a value on, and dropout that is switched off."""
        name = self.operation(node)
        off = name == "dropout" and not (float(node.args[1]) and bool(node.args[2]))
        full = name == "slice" and self.values[node.name].shape == self.values[node.args[0].name].shape
        if name in SAME or off or full:
            self.signals[node.name] = self.signals[node.args[0].name]
            return True
        if name == "cat":
            return self.alone(node)
        return self.viewed(node, name)

    def alone(self, node: Any) -> bool:
        """Whether a value is put beside empty tensors only."""
        held = [part for part in node.args[0] if self.values[part.name].numel()]
        if len(held) != 1 or not self.stream(held[0]):
            return False
        self.signals[node.name] = self.signals[held[0].name]
        return True

    def viewed(self, node: Any, name: str) -> bool:
        """Whether the operation only shows the same law in another shape."""
        value = self.signals.get(getattr(node.args[0], "name", ""))
        if value is None:
            return False
        old, new = (tuple(self.values[n.name].shape) for n in (node.args[0], node))
        last = self.features.get(value.base) == len(value.shape) - 1
        if name in RESHAPES and last:
            found = heads_after(value.shape, value.heads, old, new)
            if isinstance(found, str):
                return False
            self.signals[node.name] = replace(value, heads=found)
            return True
        if name in ("permute", "transpose") and value.heads is not None:
            moved = heads_moved(value.heads, order_of(name, node.args, len(old)))
            if moved is not None:
                self.signals[node.name] = replace(value, heads=moved)
                return True
        return False

    def elementwise(self, node: Any, streams: list[Any]) -> bool:
        """Whether the operation is a function of one number of one step's output; its tree is kept."""
        name = self.operation(node)
        bases = {self.signals[s.name].base for s in streams}
        simple = name in formulas() or name in ("where", "clamp", "clip", "gt", "lt", "ge", "le")
        if (
            not simple
            or name == "dropout"
            or len(bases) != 1
            or any(self.values[node.name].shape != self.values[s.name].shape for s in streams)
            or len({self.signals[s.name].heads for s in streams}) != 1
        ):
            return False
        given: dict[Any, Node] = {}
        for n in node.all_input_nodes:
            if self.stream(n):
                given[n] = self.signals[n.name].tree
            elif self.values[n.name].numel() == 1:
                given[n] = self.single(self.values[n.name])
            else:
                return False
        self.formula.values.update(given)
        tree = self.formula.operation(name, str(node.target), list(node.args), dict(node.kwargs))
        self.signals[node.name] = replace(self.signals[streams[0].name], tree=tree, name=node.name)
        return True

    def single(self, tensor: Any) -> Node:
        """A tensor of one element as a number."""
        value, dtype = tensor.detach().reshape(()).item(), tensor.dtype
        if isinstance(value, float) and dtype != torch.float64:
            value = shortest(value, lambda short: torch.tensor(short, dtype=dtype).item())
        return typed(value)[0]

    def opaque(self, node: Any, streams: list[Any], reason: str) -> None:
        """Where the theory starts again from what is measured."""
        self.unread.append(Unread(self.module(node), self.operation(node), reason))
        try:
            common = self.common(node, *(s for s in streams if s.name in self.signals))
        except EocError:
            common = {"name": node.name, "module": self.module(node), "inputs": (), "shape": self.shape(node)}
        self.place(Opaque(**common, reason=reason))

    def place(self, step: Step) -> None:
        """Add a step, whose output is a signal of its own."""
        self.steps[step.name] = step
        self.signals[step.name] = Value(step.name, nodes.X, step.shape, step.name, getattr(step, "axes", None))
        self.features[step.name] = self.axis(step)

    def axis(self, step: Step) -> int:
        """The axis of the features of a step's output."""
        chosen = getattr(step, "feature", None)
        if chosen is not None:
            return int(chosen)
        if type(step).__name__ == "Linear":
            return len(step.shape) - 1
        if step.inputs and not isinstance(step, Opaque) and len(step.shape) > 2:
            return self.features[step.inputs[0]] if type(step).__name__ != "Conv" else 1
        return len(step.shape) - 1 if len(step.shape) == 3 else 1

    def settled(self, node: Any) -> str:
        """The name of the step whose output is the node's value; a pending activation becomes a step."""
        value = self.signals[node.name]
        if value.tree == nodes.X:
            return value.base
        name = value.name
        if name in self.steps:
            return name
        scale = _factor(value.tree)
        common: dict[str, Any] = {"name": name, "module": self.module(node), "inputs": (value.base,)}
        common["shape"] = value.shape
        if scale is not None:
            step: Step = Affine(**common, scale=scale)
        else:
            text = text_of(value.tree)
            moments_of(text)
            step = Elementwise(**common, formula=text)
        self.place(step)
        self.signals[node.name] = self.signals[name]
        return name

    def common(self, node: Any, *streams: Any, row: bool = False) -> dict[str, Any]:
        """What every step is made with. Raises EocError for what acts on heads, or, without `row`, on a row."""
        inputs, shape = tuple(self.settled(s) for s in streams), tuple(self.values[node.name].shape)
        for s in streams:
            value = self.signals[s.name]
            if value.heads is not None:
                raise EocError("it acts on the heads of an attention apart")
            if is_row(value.shape, tuple(self.values[s.name].shape)):
                if not row:
                    raise EocError("it acts on inputs and positions in one row")
                shape = (*value.shape[:-1], shape[-1])
        return {"name": node.name, "module": self.module(node), "inputs": inputs, "shape": shape}

    def stream(self, node: Any) -> bool:
        """Whether a value depends on the batch."""
        return getattr(node, "name", None) in self.depends

    def feature(self, node: Any) -> int:
        """The axis of the features of a value. Raises EocError for what does not depend on the input."""
        if node.name not in self.signals:
            raise EocError("it joins the signal with a tensor that does not depend on the input")
        return self.features[self.signals[node.name].base]

    def shape(self, node: Any) -> tuple[int, ...]:
        """The shape of a value as its step has it."""
        value = self.signals.get(node.name)
        return tuple(self.values[node.name].shape) if value is None else value.shape

    def tensor(self, node: Any) -> Any:
        """The tensor of a parameter node, or what was computed from parameters alone."""
        return self.values[node.name]

    def target(self, node: Any) -> str:
        """The name of the parameter."""
        kind, target = self.traced.given.get(node.name, ("", ""))
        if kind != "parameter":
            raise EocError("its weight is computed from other tensors")
        return self.names.get(target, target)

    def optional(self, node: Any, position: int) -> Any:
        """The tensor at a position of the arguments, None where there is none."""
        given = node.args[position] if len(node.args) > position else None
        return None if given is None else self.values[given.name]

    def target_of(self, node: Any, position: int) -> str:
        """The name of the parameter at a position, "" where there is none."""
        given = node.args[position] if len(node.args) > position else None
        return "" if given is None else self.target(given)

    def operation(self, node: Any) -> str:
        """torch's name of the operation, without overload and in-place mark."""
        if node.op != "call_function":
            return str(node.op)
        if node.target is operator.getitem:
            return "getitem"
        name = str(node.target).removeprefix("aten.").partition(".")[0]
        return name.removesuffix("_") if name.endswith("_") and not name.endswith("__") else name

    def module(self, node: Any) -> str:
        """The path of the module that does the operation."""
        stack = list((node.meta.get("nn_module_stack") or {}).values())
        if stack:
            return without_wrapper(str(stack[-1][0]))
        targets = [self.traced.given.get(n.name, ("", ""))[1] for n in node.all_input_nodes]
        return next((t.rpartition(".")[0] for t in targets if t), "")

    def refuse(self, node: Any, why: str) -> None:
        """This operation has no place in the theory."""
        raise EocError(why)


def _factor(tree: Node) -> float | None:
    """a where the tree is a x."""
    if tree.head == "mul" and len(tree.args) == 2 and nodes.X in tree.args:
        other = tree.args[0] if tree.args[1] == nodes.X else tree.args[1]
        if other.head == "num" and other.value is not None:
            return float(other.value)
    return None
