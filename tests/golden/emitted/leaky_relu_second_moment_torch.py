"""expectation: EXACT."""

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


def expectation(q: torch.Tensor, *, a: float | torch.Tensor) -> torch.Tensor:
    """expectation; kind EXACT.

    a**2*q/2 + q/2

    Arguments: q; keywords: a. Arguments broadcast; the dtype of the inputs comes out.
    q > 0 is the variance of the pre-activation.
    a in (-inf, inf)."""
    q, a = _tensors(q, a)
    return _result(0.5*q + 0.5*a**2*q, q, a)
