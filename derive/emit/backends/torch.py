"""PyTorch: tensors of any shape and floating dtype, gradients of every order, torch.func."""

from __future__ import annotations

from derive.emit.backend import Backend
from derive.emit.layout import indented, signature, stated_parts
from derive.emit.text import Body

PREAMBLE = '''
def _tensors(*values):
    """The arguments as tensors of one floating dtype and device; plain numbers take those of the tensors."""
    tensors = [value for value in values if isinstance(value, torch.Tensor)]
    leading = [tensor for tensor in tensors if tensor.dim() > 0] or tensors
    dtype = leading[0].dtype if leading else torch.float64
    for tensor in leading[1:]:
        dtype = torch.promote_types(dtype, tensor.dtype)
    if not dtype.is_floating_point:
        dtype = torch.get_default_dtype()
    device = leading[0].device if leading else None
    return tuple(torch.as_tensor(value, dtype=dtype, device=device) for value in values)


def _number(value, like):
    """A number as a tensor of the same dtype and device."""
    return torch.full((), value, dtype=like.dtype, device=like.device)


def _result(value, *arguments):
    """The value in the common shape and dtype of the arguments, a function of them also where it is constant."""
    shape = torch.broadcast_shapes(*(argument.shape for argument in arguments))
    value = torch.as_tensor(value, dtype=arguments[0].dtype, device=arguments[0].device).expand(shape)
    for argument in arguments:
        if argument.requires_grad and not value.requires_grad:
            value = torch.where(torch.ones(shape, dtype=torch.bool, device=value.device), value, argument)
    return value
'''

STATED = '''
def _in_blocks(value, inputs):
    """value(*inputs), tensors of one shape, in blocks of the leading axis that stay in the processor's cache.

    What broadcasting repeats is computed once, and no intermediate is as large as the result.
    """
    shape = inputs[0].shape
    if torch.compiler.is_compiling() or shape.numel() <= 131072 or inputs[0].device.type != "cpu":
        return value(*inputs).clone()
    once = [x.narrow(0, 0, 1) if x.stride(0) == 0 else x for x in inputs]
    for axis in range(1, len(shape)):
        once = [x.narrow(axis, 0, 1) if x.stride(axis) == 0 else x for x in once]
    step = max(1, 131072*shape[0]//shape.numel())
    out = torch.empty(shape, dtype=inputs[0].dtype)
    for i in range(0, shape[0], step):
        part = [x if x.shape[0] == 1 else x[i:i + step] for x in once]
        if step == 1 and len(shape) > 2:
            out[i] = _in_blocks(value, [x[0].expand(shape[1:]) for x in part])
        else:
            out[i:i + step] = value(*part)
    return out


def _differentiable(value, partials, names):
    """The function `value` with stated partial derivatives (place of the argument -> function of all of them)."""

    def times(factor, partial):
        # an infinite derivative that nobody asks for is no derivative
        return factor*torch.where((factor == 0) & torch.isinf(partial), 0, partial)

    def stated(place):
        if place not in partials:
            raise NotImplementedError(f"no derivative is stated with respect to {names[place]}")
        return partials[place]

    class Stated(torch.autograd.Function):
        @staticmethod
        def forward(*inputs):
            return _in_blocks(value, inputs)

        @staticmethod
        def setup_context(ctx, inputs, output):
            ctx.save_for_backward(*inputs)
            ctx.save_for_forward(*inputs)

        @staticmethod
        def backward(ctx, grad):
            inputs = ctx.saved_tensors
            needed = enumerate(ctx.needs_input_grad)
            return tuple(times(grad, stated(place)(*inputs)) if need else None for place, need in needed)

        @staticmethod
        def jvp(ctx, *tangents):
            inputs, total = ctx.saved_tensors, 0
            for place, tangent in enumerate(tangents):
                if tangent is not None and (place in partials or bool((tangent != 0).any())):
                    total = total + times(tangent, stated(place)(*inputs))
            return total

        @staticmethod
        def vmap(info, in_dims, *inputs):
            # elementwise functions of tensors of one shape: the batch becomes the first axis
            moved = (x.unsqueeze(0) if d is None else x.movedim(d, 0) for x, d in zip(inputs, in_dims))
            return Stated.apply(*torch.broadcast_tensors(*moved)), 0

    return Stated.apply
'''


def function(body: Body) -> str:
    """One function, and before it the stated derivatives it uses."""
    names = ", ".join((*body.arguments, *body.parameters))
    head = signature(body, "torch.Tensor", "float | torch.Tensor", "torch.Tensor")
    single = "," if len(body.arguments) + len(body.parameters) == 1 else ""
    if not body.partials:
        lines = [f"{names}{single} = _tensors({names})", *body.guard, *body.lines]
        lines.append(f"return _result({body.value}, {names})")
        return indented(head, body.doc, lines)
    inner = f"_{body.name}"
    unpack = [f"{names}{single} = torch.broadcast_tensors(*_tensors({names}))"]
    if body.guard:
        unpack = [f"{names}{single} = _tensors({names})", *body.guard]
        unpack.append(f"{names}{single} = torch.broadcast_tensors({names})")
    lines = [*unpack, f"return {inner}({names})"]
    return "\n\n\n".join([*stated_parts(body, inner), indented(head, body.doc, lines)])


TENSOR_ONLY = (
    *("max", "min", "atan2", "clip", "ratio"),
    *("owens_t", "exp_normal_cdf", "exp_bivariate_normal_cdf", "sign_moment"),
)

BACKEND = Backend(
    name="torch",
    imports=("import torch",),
    preamble=PREAMBLE,
    stated=STATED,
    function=function,
    tensor_only=frozenset(TENSOR_ONLY),
    infinity="torch.inf",
    pi="torch.pi",
    reserved=frozenset(("torch",)),
)
