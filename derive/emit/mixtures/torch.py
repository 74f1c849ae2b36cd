"""Sums over the scales of a mixture in torch, in float64 and in blocks."""

TYPES = ("torch.Tensor", "float | torch.Tensor", "torch.Tensor")
UNPACK = "_tensors"

MIXTURE = '''
def _blocks(f, law, given):
    """f on blocks of the broadcast arguments, each a column, in float64."""
    values = torch.broadcast_tensors(*law, *given.values())
    flat = [value.to(torch.float64).reshape(-1, 1).split(4096) for value in values]
    parts = [f(part[:len(law)], dict(zip(given, part[len(law):]))) for part in zip(*flat)]
    return torch.cat(parts).reshape(values[0].shape)


def _single(f, law, given, scales, weights):
    """sum_i w_i f(..., s_i)."""
    scales, weights = (torch.tensor(part, dtype=torch.float64, device=law[0].device) for part in (scales, weights))
    return _blocks(lambda law, given: f(*law, scales, **given) @ weights, law, given)


def _double(f, law, given, scales, weights, alike):
    """sum_ij w_i w_j f(..., s_i, s_j); where f(..., s, t) = f(..., t, s) over i <= j."""
    scales, weights = (torch.tensor(part, dtype=torch.float64, device=law[0].device) for part in (scales, weights))

    def block(law, given):
        total = 0.0
        for i in range(scales.numel()):
            first = i if alike else 0
            row = weights[i]*weights[first:]*(2 if alike else 1)
            if alike:
                row[0] /= 2
            total = total + f(*law, scales[i], scales[first:], **given) @ row
        return total

    return _blocks(block, law, given)


def _cast(value, dtype):
    """The value in the dtype of the arguments."""
    return value.to(dtype)
'''
