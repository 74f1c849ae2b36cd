"""The graph of an exported torch program as a tree."""

from __future__ import annotations

from typing import Any

from derive.formula import nodes
from derive.formula.aten import formulas
from derive.formula.floats import shortest, typed
from derive.formula.parser import Parser
from derive.formula.written import written
from derive.records import FormulaError, Node

ALIASING = frozenset(("detach", "alias", "to", "contiguous", "type_as", "expand_as"))
JOINS = {"logical_and": "and", "bitwise_and": "and", "__and__": "and", "logical_or": "or", "bitwise_or": "or",
         "__or__": "or"}  # fmt: skip
NEGATIONS = frozenset(("logical_not", "bitwise_not"))
ELEMENTWISE = "pass an elementwise module or function; layers are written as blocks, Dense() >> ..."
SHAPES = frozenset(("full", "expand", "expand_as"))
CHECKS = frozenset(("_assert_tensor_metadata", "_assert_async", "_assert_scalar", "sym_constrain_range_for_size"))
COUPLING = frozenset(
    ("mean", "sum", "var", "std", "norm", "linalg_vector_norm", "prod", "amax", "amin", "argmax", "logsumexp", "cumsum",
     "sort", "topk", "softmax", "_softmax", "log_softmax", "layer_norm", "group_norm", "batch_norm", "rms_norm", "glu",
     "linear", "matmul", "mm", "bmm", "conv1d", "conv2d", "max_pool1d", "max_pool2d", "avg_pool1d", "avg_pool2d",
     "roll", "flip", "index", "index_select", "gather", "cat", "stack", "scaled_dot_product_attention")
)  # fmt: skip

RANDOM = frozenset(
    ("randn_like", "rand_like", "randint_like", "randn", "rand", "randint", "normal", "normal_functional", "bernoulli",
     "uniform", "exponential", "cauchy", "log_normal", "geometric", "random", "randperm", "multinomial", "poisson",
     "native_dropout", "alpha_dropout", "feature_dropout", "feature_alpha_dropout", "rrelu_with_noise")
)  # fmt: skip
TRAINING = {"dropout": 2, "rrelu": 3}
"""Operations that draw random numbers in training mode, and which of their arguments says so."""


class Graph:
    """One exported program being read; `notes` collects what was assumed."""

    def __init__(self, torch: Any, program: Any, title: str) -> None:
        self.torch, self.program, self.title = torch, program, title
        self.notes: list[str] = []
        self.depends_on_mode = False
        self.leaves_out = False
        self.values: dict[Any, Node] = {}
        self.aliases = False

    def tree(self) -> Node:
        """The tree of the program's only output."""
        for node in self.program.graph.nodes:
            if node.op == "placeholder":
                self.values[node] = self.placeholder(node)
            elif node.op == "call_function":
                self.values[node] = self.call(node)
            elif node.op == "output":
                return self.output(node)
            else:
                raise FormulaError(f"{self.title} has a part that is not read", where=f"  {node.op} {node.target}")
        raise FormulaError(f"{self.title} returns nothing")

    def output(self, node: Any) -> Node:
        """The returned value, which has the shape of the input."""
        returned = node.args[0]
        wanted = list(self.program.graph_signature.user_outputs)
        found = [item for item in returned if getattr(item, "name", None) in wanted]
        if len(wanted) != 1 or not found:
            raise FormulaError(f"{self.title} returns {len(wanted)} values", why="an activation returns one tensor")
        entry = next(n for n in self.program.graph.nodes if n.name in self.program.graph_signature.user_inputs)
        shape = getattr(found[0].meta.get("val"), "shape", ())
        if shape != entry.meta["val"].shape:
            raise FormulaError(
                f"{self.title} changes the shape of its input from {tuple(entry.meta['val'].shape)} to {tuple(shape)}",
                why="an activation acts on every number alone",
            )
        return self.values[found[0]]

    def placeholder(self, node: Any) -> Node:
        """The input, or a parameter, buffer or constant tensor of one element."""
        signature = self.program.graph_signature
        if node.name in signature.user_inputs:
            return nodes.X
        for table in (signature.inputs_to_parameters, signature.inputs_to_buffers):
            if node.name in table:
                target = table[node.name]
                return self.tensor(self.program.state_dict.get(target, self.program.constants.get(target)), target)
        target = signature.inputs_to_lifted_tensor_constants.get(node.name, node.name)
        return self.tensor(self.program.constants[target], target)

    def tensor(self, value: Any, target: str) -> Node:
        """A tensor of one element as a number: the shortest decimal of its type."""
        label = str(target).removeprefix("inner.")
        if value.numel() != 1:
            raise FormulaError(
                f"{label} of {self.title} has {value.numel()} elements",
                why="an activation is one function, the same for every unit",
                instead="use a module with one value, or write the formula with a parameter",
            )
        number = value.detach().reshape(()).item()
        if isinstance(number, float) and value.dtype != self.torch.float64:
            number = shortest(number, lambda short: self.torch.tensor(short, dtype=value.dtype).item())
        if not isinstance(number, (int, float)):
            raise FormulaError(f"{label} of {self.title} is no real number")
        node = self.number(number)
        if target in self.program.state_dict or target in self.program.graph_signature.buffers:
            self.notes.append(f"{label} = {number} is read as its present value")
        return node

    def number(self, value: Any) -> Node:
        """A Python number."""
        node, note = typed(value)
        if note:
            self.notes.append(note)
        return node

    def argument(self, value: Any) -> Node:
        """An argument of an operation: an earlier value or a number."""
        if isinstance(value, (bool, int, float)):
            return self.number(value)
        if value in self.values:
            return self.values[value]
        raise FormulaError(f"{self.title} uses {value!r}, which is no number")

    def call(self, node: Any) -> Node:
        """One operation; an in-place form also changes its first argument."""
        full = str(node.target)
        name = full.removeprefix("aten.").partition(".")[0]
        in_place = name.endswith("_") and not name.endswith("__")
        name = name.removesuffix("_") if in_place else name
        if in_place and self.aliases:
            self.refuse(
                full, "it changes a tensor in place that may have a second name", "write it without in-place forms"
            )
        self.aliases = self.aliases or name in ALIASING
        if name in CHECKS:
            return nodes.num(0)
        self.check_arguments(name, full, node)
        result = self.operation(name, full, list(node.args), dict(node.kwargs))
        if in_place:
            self.values[node.args[0]] = result
        return result

    def operation(self, name: str, full: str, args: list[Any], keywords: dict[str, Any]) -> Node:
        """The tree of an operation."""
        if name in JOINS or name in NEGATIONS:
            tests = [self.test(arg, full) for arg in args]
            head = JOINS.get(name, "not")
            parts = tuple(part for test in tests for part in (test.args if test.head == head != "not" else (test,)))
            return Node(head, parts)
        if name == "where":
            return self.where(full, args)
        if name in ("clamp", "clip"):
            bounds = dict(zip(("x", "min", "max"), args, strict=False)) | keywords
            low, high = bounds.get("min"), bounds.get("max")
            if low is None or high is None:
                name, args = ("clamp_min", [args[0], low]) if high is None else ("clamp_max", [args[0], high])
            else:
                args = [args[0], low, high]
            keywords = {}
        if name == "gelu" and keywords.pop("approximate", "none") == "tanh":
            name = "gelu_tanh"
        if name in COUPLING:
            self.refuse(full, "it couples the units of a layer, so the function is not elementwise", ELEMENTWISE)
        if name not in formulas():
            self.refuse(full, "no table of derive/formula/aten knows it", "write the formula as text")
        values = self.bound(name, full, args, keywords)
        self.remark(name, values)
        return written(name, values)

    def bound(self, name: str, full: str, args: list[Any], keywords: dict[str, Any]) -> dict[str, Node]:
        """Argument name -> value, with the operation's defaults."""
        values: dict[str, Node] = {}
        for position, declared in enumerate(formulas()[name][0].split()):
            key, _, default = declared.partition("=")
            given = args[position] if position < len(args) else keywords.get(key)
            if name in SHAPES and key in ("size", "y"):
                continue
            if given is not None:
                values[key] = self.argument(given)
            elif default:
                values[key] = Parser(default).expression()
            else:
                self.refuse(full, f"its argument {key} is not given", "write the formula as text")
        return values

    def test(self, value: Any, full: str) -> Node:
        """An argument as a condition."""
        node = self.argument(value)
        if node.head in nodes.TESTS:
            return node
        self.refuse(full, "it acts on numbers here, not on conditions", "compare first: x > 0")
        raise AssertionError

    def where(self, full: str, args: list[Any]) -> Node:
        """torch.where(test, a, b)."""
        if len(args) != 3:
            self.refuse(full, "torch.where takes a condition and two values", "write torch.where(x > 0, a, b)")
        return Node("cond", (self.test(args[0], full), self.argument(args[1]), self.argument(args[2])))

    def check_arguments(self, name: str, full: str, node: Any) -> None:
        """Refuse what the tables cannot say: rounding, conversion to integers, reductions."""
        if node.kwargs.get("rounding_mode"):
            self.refuse(full, "rounded division is piecewise constant", "write the formula as text")
        value = node.meta.get("val")
        dtype = getattr(value, "dtype", None)
        source = node.args[0].meta.get("val") if node.args and hasattr(node.args[0], "meta") else None
        if name in ("to", "_to_copy", "type_as") and dtype is not None and source is not None:
            widens = dtype.is_floating_point or dtype == source.dtype or source.dtype == self.torch.bool
            if not widens:
                self.refuse(full, "a conversion to integers cuts the fraction off", "write the formula as text")
        training = TRAINING.get(name, len(node.args))
        drawn = node.kwargs.get("training") or (len(node.args) > training and node.args[training])
        if name in RANDOM or (name in TRAINING and drawn):
            self.refuse(
                full,
                "it draws random numbers",
                "its mean as a formula, or the module in evaluation mode (training=False)",
            )
        if name in ("max", "min") and full.partition(".")[2].partition(".")[2] != "other":
            self.refuse(full, "it reduces over units", "use torch.maximum or torch.minimum with a number")

    def remark(self, name: str, values: dict[str, Node]) -> None:
        """Say what a formula leaves out on purpose."""
        if name == "softplus" and values["threshold"].head == "num":
            self.leaves_out = True
            self.notes.append(
                f"torch's softplus returns x itself where beta*x > {values['threshold'].value}; "
                "the formula has no such switch"
            )
        if name == "rrelu":
            low, high = nodes.value(values["lower"]), nodes.value(values["upper"])
            self.depends_on_mode = True
            square = (low * low + low * high + high * high) / 3
            self.notes.append(
                f"RReLU is read by its mean slope {(low + high) / 2}; drawn at random in training, "
                f"its slope has mean square {square}"
            )
        if name == "dropout":
            self.depends_on_mode = True
            self.notes.append("dropout does nothing in evaluation mode")

    def refuse(self, full: str, why: str, instead: str) -> None:
        """Refuse an operation by name."""
        raise FormulaError(f"{self.title} uses {full}, which is not read", why=why, instead=instead)
