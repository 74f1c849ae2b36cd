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


def _covariance_map_d_q1(q1, q2, c):
    c = _correlation(c)
    root_q1q2 = torch.sqrt(q1)*torch.sqrt(q2)
    K = c*root_q1q2
    t1 = 1/(1 + q1)
    t2 = torch.sqrt(t1)
    t3 = 1/(1 + q2)
    t4 = torch.sqrt(t3)
    t5 = t1 + t3 + q1*t1*(q2*t3)*((1 - c)*(1 + c)) - t1*t3
    t6 = torch.sqrt(t5)
    t7 = q1**2
    t8 = t1**2
    t9 = c**2
    t10 = K*(1.5707963267948966 + torch.atan(torch.sqrt(q1)*t2*(torch.sqrt(q2)*t4)*(c/t6))) + t7*t8*t1*t2*(q2**2*t3**2*t4)*(t9*t9/(t5*t6)) + q1*(2 + q1)*t1*t2*(q2*t4)*(1/t6) + q1*t8*t2*(q2*t3*t4)*(t9*(3 + q2 - (2*q1*q2 + t7*q2))/t6)
    return _result(1/q1*(0.07957747154594767*t10), q1, q2, c)


def _covariance_map_d_c_d_q1(q1, q2, c):
    c = _correlation(c)
    t1 = torch.sqrt(q1)
    t2 = torch.sqrt(q2)
    t3 = 1/(1 + q1)
    t4 = t3**2
    t5 = torch.sqrt(t3)
    t6 = 1/(1 + q2)
    t7 = t6**2
    t8 = torch.sqrt(t6)
    t9 = c**2
    t10 = t3 + t6 + q1*t3*(q2*t6)*((1 - c)*(1 + c)) - t3*t6
    t11 = torch.sqrt(t10)
    t12 = t10*t11
    t13 = 1.5707963267948966 + q1*t1*t4*t5*(q2*t2*t7*t8)*(t9*c/t12) + t1*t3*t5*(t2*t6*t8)*(c*(q1 + q2 + 3)/t11) + torch.atan(t1*t5*(t2*t8)*(c/t11))
    t14 = q2**2
    t15 = 1/t1*t2*(0.07957747154594767*t13) + q1*t4*t3*t5*(t14*t7*t8)*(0.238732414637843*t9*c/(t10**2*t11))
    t16 = (q1 - 2)*t4*t5*(q2*(2 + q2)*t6*t8)*(0.07957747154594767*c/t12) + q1*(1 - q1)*t4*t3*t5*(t14*t6*t8)*(0.07957747154594767*t9*c/t12)
    return _result(t15 - t16, q1, q2, c)


def _covariance_map_d_c_d_c(q1, q2, c):
    c = _correlation(c)
    t1 = q1**2
    t2 = 1/(1 + q1)
    t3 = torch.sqrt(t2)
    t4 = q2**2
    t5 = 1/(1 + q2)
    t6 = torch.sqrt(t5)
    t7 = c**2
    t8 = t2 + t5 + q1*t2*(q2*t5)*((1 - c)*(1 + c)) - t2*t5
    t9 = torch.sqrt(t8)
    t10 = t8*t9
    t11 = t1*t2**2*t3*(t4*t5**2*t6)*(0.477464829275686*t7/(t8**2*t9)) + q1*(2 + q1)*t2*t3*(q2*(2 + q2)*t5*t6)*(0.15915494309189535/t10)
    return _result(t11 - t1*t2*t3*(t4*t5*t6)*(0.15915494309189535*t7/t10), q1, q2, c)


def _covariance_map_d_c_value(q1, q2, c):
    c = _correlation(c)
    t1 = torch.sqrt(q1)
    t2 = torch.sqrt(q2)
    t3 = 1/(1 + q1)
    t4 = torch.sqrt(t3)
    t5 = 1/(1 + q2)
    t6 = torch.sqrt(t5)
    t7 = t3 + t5 + q1*t3*(q2*t5)*((1 - c)*(1 + c)) - t3*t5
    t8 = torch.sqrt(t7)
    t9 = 1.5707963267948966 + q1*t1*t3**2*t4*(q2*t2*t5**2*t6)*(c**2*c/(t7*t8)) + t1*t3*t4*(t2*t5*t6)*(c*(q1 + q2 + 3)/t8) + torch.atan(t1*t4*(t2*t6)*(c/t8))
    return _result(0.15915494309189535*t1*t2*t9, q1, q2, c)


_covariance_map_d_c = _differentiable(_covariance_map_d_c_value, {0: _covariance_map_d_c_d_q1, 1: lambda q1, q2, c: _covariance_map_d_c_d_q1(q2, q1, c), 2: _covariance_map_d_c_d_c}, ("q1", "q2", "c",))


def _covariance_map_value(q1, q2, c):
    c = _correlation(c)
    root_q1q2 = torch.sqrt(q1)*torch.sqrt(q2)
    K = c*root_q1q2
    t1 = 1/(1 + q1)
    t2 = torch.sqrt(t1)
    t3 = 1/(1 + q2)
    t4 = torch.sqrt(t3)
    t5 = torch.sqrt(t1 + t3 + q1*t1*(q2*t3)*((1 - c)*(1 + c)) - t1*t3)
    t6 = K*(1.5707963267948966 + torch.atan(torch.sqrt(q1)*t2*(torch.sqrt(q2)*t4)*(c/t5))) + q1*t2*(q2*t4)*t5 + q1*t1*t2*(q2*t3*t4)*(c**2/t5)
    return _result(0.15915494309189535*t6, q1, q2, c)


_covariance_map = _differentiable(_covariance_map_value, {0: _covariance_map_d_q1, 1: lambda q1, q2, c: _covariance_map_d_q1(q2, q1, c), 2: _covariance_map_d_c}, ("q1", "q2", "c",))


def covariance_map(q1: torch.Tensor, q2: torch.Tensor, c: torch.Tensor) -> torch.Tensor:
    """covariance map; kind EXACT.

    (K*(asin(K/(sqrt(q1 + 1)*sqrt(q2 + 1))) + pi/2) + (K**2 + q1*q2*(Delta + q1 + q2 + 1))/((q1 + 1)*(q2 + 1)*sqrt(Delta + q1 + q2 + 1)))/(2*pi)

    Arguments: q1, q2, c; keywords: none. Arguments broadcast; the dtype of the inputs comes out.
    q1, q2 > 0 are variances and -1 <= c <= 1 is the correlation of the pair."""
    q1, q2, c = _tensors(q1, q2, c)
    q1 = q1 + (q1 == 0).to(q1.dtype)*torch.finfo(q1.dtype).tiny**0.4
    q2 = q2 + (q2 == 0).to(q2.dtype)*torch.finfo(q2.dtype).tiny**0.4
    q1, q2, c = torch.broadcast_tensors(q1, q2, c)
    return _covariance_map(q1, q2, c)
