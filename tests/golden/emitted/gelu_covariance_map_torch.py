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
            return value(*inputs).clone()

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


def _covariance_map_d_q1(q1, q2, c):
    K = c*torch.sqrt(q1)*torch.sqrt(q2)
    Delta = q1*q2*(1 - c)*(1 + c)
    t1 = 1 + Delta + q1 + q2
    t2 = torch.sqrt(t1)
    t3 = K**2
    t4 = 1 + q1
    t5 = 1 + q2
    t6 = (t3*t3 + (t3*(3 + q2 - (2*q1*q2 + q1**2*q2)) + q1*q2*t4*(2 + q1)*t5)*t1)/(t4**2*t5*t1*t2)
    return _result(0.07957747154594767*(K*(1.5707963267948966 + torch.atan(K/t2)) + t6)/q1, q1, q2, c)


def _covariance_map_d_q2(q1, q2, c):
    K = c*torch.sqrt(q1)*torch.sqrt(q2)
    Delta = q1*q2*(1 - c)*(1 + c)
    t1 = 1 + Delta + q1 + q2
    t2 = torch.sqrt(t1)
    t3 = K**2
    t4 = 1 + q1
    t5 = 1 + q2
    t6 = (t3*t3 + (t3*(3 + q1 - (2*q1*q2 + q1*q2**2)) + q1*q2*t4*t5*(2 + q2))*t1)/(t4*t5**2*t1*t2)
    return _result(0.07957747154594767*(K*(1.5707963267948966 + torch.atan(K/t2)) + t6)/q2, q1, q2, c)


def _covariance_map_d_c_d_q1(q1, q2, c):
    K = c*torch.sqrt(q1)*torch.sqrt(q2)
    Delta = q1*q2*(1 - c)*(1 + c)
    t1 = torch.sqrt(q2)
    t2 = K**2
    t3 = 1 + Delta + q1 + q2
    t4 = 1 + q1
    t5 = torch.sqrt(t3)
    t6 = 0.07957747154594767*t1*(1.5707963267948966 + (t2*K + K*(3 + q1 + q2)*t3)/(t4*(1 + q2)*t3*t5) + torch.atan(K/t5))
    t7 = torch.sqrt(q1)
    t8 = 0.07957747154594767*t1*(3*t2*K*t4 - K*(t2*(1 - q1) + (q1 - 2)*t4*(2 + q2))*t3)/(t7*t4**2*t3**2*t5)
    return _result(t6/t7 + t8, q1, q2, c)


def _covariance_map_d_c_d_q2(q1, q2, c):
    K = c*torch.sqrt(q1)*torch.sqrt(q2)
    Delta = q1*q2*(1 - c)*(1 + c)
    t1 = torch.sqrt(q1)
    t2 = K**2
    t3 = 1 + Delta + q1 + q2
    t4 = 1 + q2
    t5 = torch.sqrt(t3)
    t6 = 0.07957747154594767*t1*(1.5707963267948966 + (t2*K + K*(3 + q1 + q2)*t3)/((1 + q1)*t4*t3*t5) + torch.atan(K/t5))
    t7 = torch.sqrt(q2)
    t8 = 0.07957747154594767*t1*(3*t2*K*t4 - K*(t2*(1 - q2) + (2 + q1)*(q2 - 2)*t4)*t3)/(t7*t4**2*t3**2*t5)
    return _result(t6/t7 + t8, q1, q2, c)


def _covariance_map_d_c_d_c(q1, q2, c):
    K = c*torch.sqrt(q1)*torch.sqrt(q2)
    Delta = q1*q2*(1 - c)*(1 + c)
    t1 = K**2
    t2 = 1 + Delta + q1 + q2
    return _result(0.15915494309189535*q1*q2*(3*t1 + ((2 + q1)*(2 + q2) - t1)*t2)/(t2**2*torch.sqrt(t2)), q1, q2, c)


def _covariance_map_d_c_value(q1, q2, c):
    K = c*torch.sqrt(q1)*torch.sqrt(q2)
    Delta = q1*q2*(1 - c)*(1 + c)
    t1 = 1 + Delta + q1 + q2
    t2 = torch.sqrt(t1)
    t3 = 1.5707963267948966 + (K**2*K + K*(3 + q1 + q2)*t1)/((1 + q1)*(1 + q2)*t1*t2) + torch.atan(K/t2)
    return _result(0.15915494309189535*torch.sqrt(q1)*torch.sqrt(q2)*t3, q1, q2, c)


_covariance_map_d_c = _differentiable(_covariance_map_d_c_value, {0: _covariance_map_d_c_d_q1, 1: _covariance_map_d_c_d_q2, 2: _covariance_map_d_c_d_c}, ("q1", "q2", "c",))


def _covariance_map_value(q1, q2, c):
    K = c*torch.sqrt(q1)*torch.sqrt(q2)
    Delta = q1*q2*(1 - c)*(1 + c)
    t1 = 1 + Delta + q1 + q2
    t2 = torch.sqrt(t1)
    t3 = 0.15915494309189535*(K*(1.5707963267948966 + torch.atan(K/t2)) + (K**2 + q1*q2*t1)/((1 + q1)*(1 + q2)*t2))
    return _result(t3, q1, q2, c)


_covariance_map = _differentiable(_covariance_map_value, {0: _covariance_map_d_q1, 1: _covariance_map_d_q2, 2: _covariance_map_d_c}, ("q1", "q2", "c",))


def covariance_map(q1: torch.Tensor, q2: torch.Tensor, c: torch.Tensor) -> torch.Tensor:
    """covariance map; kind EXACT.

    (K*(asin(K/(sqrt(q1 + 1)*sqrt(q2 + 1))) + pi/2) + (K**2 + q1*q2*(Delta + q1 + q2 + 1))/((q1 + 1)*(q2 + 1)*sqrt(Delta + q1 + q2 + 1)))/(2*pi)

    Arguments: q1, q2, c; keywords: none.
    q1, q2 > 0 are variances and -1 <= c <= 1 is the correlation of the pair.
    Arguments broadcast; the dtype of the inputs comes out."""
    q1, q2, c = torch.broadcast_tensors(*_tensors(q1, q2, c))
    return _covariance_map(q1, q2, c)
