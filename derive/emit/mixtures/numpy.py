"""Sums over the scales of a mixture in NumPy, in float64 and in blocks."""

TYPES = ("ArrayLike", "ArrayLike", "NDArray[np.floating]")
UNPACK = "_arrays"

MIXTURE = '''
def _blocks(f, law, given):
    """f on blocks of the broadcast arguments, each a column, in float64."""
    values = np.broadcast_arrays(*law, *given.values())
    shape = values[0].shape
    flat = [value.astype(float).reshape(-1, 1) for value in values]
    out = np.empty(flat[0].shape[0])
    for start in range(0, out.size, 4096):
        part = [value[start:start + 4096] for value in flat]
        out[start:start + 4096] = f(part[:len(law)], dict(zip(given, part[len(law):])))
    return out.reshape(shape)


def _single(f, law, given, scales, weights):
    """sum_i w_i f(..., s_i)."""
    scales, weights = np.array(scales), np.array(weights)
    return _blocks(lambda law, given: f(*law, scales, **given) @ weights, law, given)


def _double(f, law, given, scales, weights, alike):
    """sum_ij w_i w_j f(..., s_i, s_j); where f(..., s, t) = f(..., t, s) over i <= j."""
    scales, weights = np.array(scales), np.array(weights)

    def block(law, given):
        total = 0.0
        for i in range(scales.size):
            first = i if alike else 0
            row = weights[i]*weights[first:]*(2 if alike else 1)
            if alike:
                row[0] /= 2
            total = total + f(*law, scales[i], scales[first:], **given) @ row
        return total

    return _blocks(block, law, given)


def _cast(value, dtype):
    """The value in the dtype of the arguments; scalars for scalars."""
    return np.asarray(value, dtype=dtype)[()]
'''
