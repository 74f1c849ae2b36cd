"""covariance map: EXACT."""

import torch


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


def _result(value, *arguments):
    """The value in the common shape and dtype of the arguments, a function of them also where it is constant."""
    shape = torch.broadcast_shapes(*(argument.shape for argument in arguments))
    value = torch.as_tensor(value, dtype=arguments[0].dtype, device=arguments[0].device).expand(shape)
    for argument in arguments:
        if argument.requires_grad and not value.requires_grad:
            value = torch.where(torch.ones(shape, dtype=torch.bool, device=value.device), value, argument)
    return value


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


def _correlation(c):
    """c, where rounding may have put it beyond +-1 that end, and NaN where it is no correlation."""
    inside = torch.where(c > 1, 1, torch.where(c < -1, -1, c))
    return torch.where(torch.abs(c - inside) <= 32*torch.finfo(c.dtype).eps, inside, torch.nan)


def _ratio(a, b):
    """a/b; where b is 0, infinite with the sign of a, or 0 if a is 0 too."""
    edge = torch.where(a == 0, 0, torch.where(a < 0, -torch.inf, torch.inf))
    return torch.where(b == 0, edge, a/torch.where(b == 0, 1, b))


def _covariance_map_d_q1(q1, q2, c):
    c = _correlation(c)
    sin_theta = torch.sqrt((1 - c)*(1 + c))
    root_q1q2 = torch.sqrt(q1)*torch.sqrt(q2)
    sqrt_Delta = root_q1q2*sin_theta
    K = c*root_q1q2
    return _result(1/q1*(0.07957747154594767*(sqrt_Delta + K*torch.atan2(sin_theta, -c))), q1, q2, c)


def _covariance_map_d_c_d_q1(q1, q2, c):
    c = _correlation(c)
    sin_theta = torch.sqrt((1 - c)*(1 + c))
    return _result(1/torch.sqrt(q1)*torch.sqrt(q2)*(0.07957747154594767*torch.atan2(sin_theta, -c)), q1, q2, c)


def _covariance_map_d_c_d_c(q1, q2, c):
    c = _correlation(c)
    sin_theta = torch.sqrt((1 - c)*(1 + c))
    root_q1q2 = torch.sqrt(q1)*torch.sqrt(q2)
    sqrt_Delta = root_q1q2*sin_theta
    return _result(_ratio(0.15915494309189535*q1*q2, sqrt_Delta), q1, q2, c)


def _covariance_map_d_c_value(q1, q2, c):
    c = _correlation(c)
    sin_theta = torch.sqrt((1 - c)*(1 + c))
    return _result(0.15915494309189535*torch.sqrt(q1)*torch.sqrt(q2)*torch.atan2(sin_theta, -c), q1, q2, c)


_covariance_map_d_c = _differentiable(_covariance_map_d_c_value, {0: _covariance_map_d_c_d_q1, 1: lambda q1, q2, c: _covariance_map_d_c_d_q1(q2, q1, c), 2: _covariance_map_d_c_d_c}, ("q1", "q2", "c",))


def _covariance_map_value(q1, q2, c):
    c = _correlation(c)
    sin_theta = torch.sqrt((1 - c)*(1 + c))
    root_q1q2 = torch.sqrt(q1)*torch.sqrt(q2)
    sqrt_Delta = root_q1q2*sin_theta
    K = c*root_q1q2
    return _result(0.15915494309189535*(sqrt_Delta + K*torch.atan2(sin_theta, -c)), q1, q2, c)


_covariance_map = _differentiable(_covariance_map_value, {0: _covariance_map_d_q1, 1: lambda q1, q2, c: _covariance_map_d_q1(q2, q1, c), 2: _covariance_map_d_c}, ("q1", "q2", "c",))


def covariance_map(q1: torch.Tensor, q2: torch.Tensor, c: torch.Tensor) -> torch.Tensor:
    """covariance map; kind EXACT.

    (sqrt(Delta) + K*atan2(sqrt(Delta), -K))/(2*pi)

    Arguments: q1, q2, c; keywords: none. Arguments broadcast; the dtype of the inputs comes out.
    q1, q2 > 0 are variances and -1 <= c <= 1 is the correlation of the pair."""
    q1, q2, c = _tensors(q1, q2, c)
    q1 = q1 + (q1 == 0).to(q1.dtype)*torch.finfo(q1.dtype).tiny**0.4
    q2 = q2 + (q2 == 0).to(q2.dtype)*torch.finfo(q2.dtype).tiny**0.4
    q1, q2, c = torch.broadcast_tensors(q1, q2, c)
    return _covariance_map(q1, q2, c)
