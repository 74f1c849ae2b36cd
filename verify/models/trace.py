"""A torch model as a graph of operations, by torch.export, by torch.fx where that refuses; and running the graph."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import nullcontext
from dataclasses import dataclass
from typing import Any

from derive.formula.module import _quiet
from derive.records import EocError
from verify.models.plain_attention import plainly


@dataclass(frozen=True)
class Traced:
    """The graph, and what each of its inputs is.

    nodes     operations in the order they run
    given     name of an input node -> ("input", ""), ("parameter", target) or ("constant", target)
    constants tensors that belong to the graph
    how       "torch.export" or "torch.fx", with the reason for the latter
    """

    nodes: tuple[Any, ...]
    given: Mapping[str, tuple[str, str]]
    constants: Mapping[str, Any]
    how: str


def trace(model: Any, batch: Any) -> Traced:
    """Trace `model(batch)`. Raises EocError where neither torch.export nor torch.fx can."""
    import torch

    if not isinstance(model, torch.nn.Module):
        raise EocError(f"{type(model).__name__} is no torch.nn.Module", instead="torch.nn.Sequential(...) or your own")
    if not isinstance(batch, torch.Tensor) or batch.ndim < 2:
        raise EocError("a batch is one tensor, inputs along its first axis", instead="torch.randn(2, 3, 32, 32)")
    refused: Exception
    for context in (plainly(torch, model), nullcontext()):
        try:
            with _quiet(), context:
                return _exported(torch.export.export(_alone(torch, model), (batch,), strict=False))
        except Exception as error:
            refused = error
    try:
        return _by_fx(torch, model, batch, _line(refused))
    except Exception as error:
        raise EocError(
            f"{type(model).__name__} cannot be traced",
            where=f"  torch.export: {_line(refused)}\n  torch.fx: {_line(error)}",
            why="its operations cannot be listed without knowing the values it decides on",
            instead="pass the part of the model that can be traced, or a batch of the shape it expects",
        ) from error


WRAPPED = "subject"
"""Name of the model inside the module that is exported."""


def _alone(torch: Any, model: Any) -> Any:
    """The model with the first tensor it returns as its only output: caches and other objects stay inside."""

    class First(torch.nn.Module):
        def __init__(self) -> None:
            super().__init__()
            setattr(self, WRAPPED, model)
            self.training = model.training

        def forward(self, batch: Any) -> Any:
            return first_tensor(torch, model(batch))

    return First()


def first_tensor(torch: Any, out: Any) -> Any:
    """The first tensor in what a model returns. Raises EocError where there is none."""
    if isinstance(out, torch.Tensor):
        return out
    if not isinstance(out, (Mapping, tuple, list)):
        raise EocError(f"the model returns a {type(out).__name__}", instead="a tensor, or several")
    for part in out.values() if isinstance(out, Mapping) else out:
        if isinstance(part, (torch.Tensor, Mapping, tuple, list)):
            return first_tensor(torch, part)
    raise EocError("the model returns no tensor")


def without_wrapper(path: str) -> str:
    """The path of a module or tensor inside the model itself."""
    return path.removeprefix(WRAPPED).removeprefix(".") if path.partition(".")[0] == WRAPPED else path


def _exported(program: Any) -> Traced:
    signature, given = program.graph_signature, {}
    tables = (signature.inputs_to_parameters, signature.inputs_to_buffers)
    for node in program.graph.nodes:
        if node.op != "placeholder":
            continue
        target = next((table[node.name] for table in tables if node.name in table), None)
        constant = signature.inputs_to_lifted_tensor_constants.get(node.name)
        if target is not None:
            given[node.name] = ("parameter", without_wrapper(target))
        else:
            given[node.name] = ("input", "") if constant is None else ("constant", without_wrapper(constant))
    constants = {without_wrapper(name): value for name, value in program.constants.items()}
    return Traced(tuple(program.graph.nodes), given, constants, "torch.export")


def _by_fx(torch: Any, model: Any, batch: Any, why: str) -> Traced:
    from torch.fx.experimental.proxy_tensor import make_fx

    named = {**dict(model.named_parameters()), **dict(model.named_buffers())}
    names = list(named)

    def call(tensors, x):
        return first_tensor(torch, torch.func.functional_call(model, dict(zip(names, tensors, strict=True)), (x,)))

    kept = {name: value.detach().clone() for name, value in named.items()}
    with _quiet(), torch.no_grad():
        module = make_fx(call, tracing_mode="real", pre_dispatch=True)(list(kept.values()), batch)
    given, constants, targets = {}, {}, iter([*names, None])
    for node in module.graph.nodes:
        if node.op == "placeholder":
            target = next(targets)
            given[node.name] = ("input", "") if target is None else ("parameter", target)
        elif node.op == "get_attr":
            given[node.name] = ("constant", str(node.target))
            constants[str(node.target)] = module.get_buffer(str(node.target))
    return Traced(tuple(module.graph.nodes), given, constants, f"torch.fx, as torch.export refused: {why}")


def _line(error: Exception) -> str:
    text = str(error).strip()
    return f"{type(error).__name__}: {text.splitlines()[0][:160] if text else 'no message'}"


def run(traced: Traced, model: Any, batch: Any) -> dict[str, Any]:
    """The value of every node, with the model's parameters as they are now; its buffers are left alone."""
    import torch

    parameters = dict(model.named_parameters(remove_duplicate=False))
    buffers = dict(model.named_buffers(remove_duplicate=False))
    values: dict[Any, Any] = {}
    computed: dict[str, Any] = {}
    for node in traced.nodes:
        if node.name in traced.given:
            kind, target = traced.given[node.name]
            if kind == "input":
                values[node] = batch
            elif target in parameters:
                values[node] = parameters[target]
            else:
                values[node] = (buffers[target] if target in buffers else traced.constants[target]).clone()
        elif node.op == "call_function":
            args = list(torch.fx.node.map_arg(node.args, values.__getitem__))
            kwargs = torch.fx.node.map_arg(node.kwargs, values.__getitem__)
            changes = in_place(node)
            if changes:
                args[0] = args[0].clone()
            values[node] = node.target(*args, **kwargs)
            if changes:
                values[node.args[0]] = values[node]
        computed.setdefault(node.name, values.get(node))
    return computed


def first_names(model: Any) -> dict[str, str]:
    """For every name of a parameter the first name of the same tensor: tied weights have several."""
    first: dict[int, str] = {}
    pairs = list(model.named_parameters(remove_duplicate=False))
    for name, tensor in pairs:
        first.setdefault(id(tensor), name)
    return {name: first[id(tensor)] for name, tensor in pairs}


def in_place(node: Any) -> bool:
    """Whether an operation changes its first argument (aten.relu_): its value before is kept under its own name."""
    name = str(node.target).removeprefix("aten.").partition(".")[0]
    return name.endswith("_") and not name.endswith("__")


def returned(traced: Traced) -> str:
    """The name of the node that the model returns; what it writes to buffers is returned before."""
    for node in traced.nodes:
        if node.op == "output":
            found: Any = node.args[0]
            while isinstance(found, (tuple, list)):
                last: Any = found[-1]
                found = last if hasattr(last, "op") else found[0]
            return str(found.name)
    raise EocError("the model returns nothing")
