"""The activation x*tanh(log(1+exp(x))) and its derivative."""

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


def _sech(x):
    """1/cosh(x), with finite derivatives far out."""
    return 2*torch.exp(x - torch.nn.functional.softplus(2*x, threshold=40))


def phi(x: torch.Tensor) -> torch.Tensor:
    """phi(x) = x*tanh(log(1+exp(x)))

    Arguments broadcast; the dtype of the inputs comes out."""
    x, = _tensors(x)
    return _result(x*torch.tanh(torch.nn.functional.softplus(x, threshold=40)), x)


def dphi(x: torch.Tensor) -> torch.Tensor:
    """phi'(x) away from kinks.

    Arguments broadcast; the dtype of the inputs comes out."""
    x, = _tensors(x)
    t1 = torch.nn.functional.softplus(x, threshold=40)
    t2 = _sech(t1)
    return _result(x*t2*t2*torch.sigmoid(x) + torch.tanh(t1), x)


class Activation(torch.nn.Module):
    """x*tanh(log(1+exp(x))) as a layer."""

    def forward(self, x):
        return phi(x)
