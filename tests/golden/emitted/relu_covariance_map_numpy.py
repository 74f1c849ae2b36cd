"""covariance map: EXACT."""

import numpy as np
from numpy.typing import ArrayLike, NDArray


def _arrays(*values):
    """The arguments as arrays of one floating dtype; plain numbers take the dtype of the arrays."""
    arrays = [np.asarray(value) for value in values if not isinstance(value, (bool, int, float))]
    dtype = np.result_type(*arrays) if arrays else np.dtype(float)
    if not np.issubdtype(dtype, np.floating):
        dtype = np.dtype(float)
    return tuple(np.asarray(value, dtype=dtype) for value in values)


def _result(value, *arguments):
    """The value in the common shape and dtype of the arguments; scalars for scalars."""
    shape = np.broadcast_shapes(*(argument.shape for argument in arguments))
    result = np.asarray(value, dtype=arguments[0].dtype)
    return result[()] if result.shape == shape else np.broadcast_to(result, shape).copy()[()]


def _in_blocks(value, arguments, size=32768):
    """value(*arguments) in blocks of the leading axis that stay in the cache; no part is as large as the result."""
    shape = np.broadcast_shapes(*(argument.shape for argument in arguments))
    if np.prod(shape, dtype=int) <= size:
        return value(*arguments)
    arguments = [np.reshape(argument, (1,)*(len(shape) - argument.ndim) + argument.shape) for argument in arguments]
    step = max(1, size//max(1, np.prod(shape[1:], dtype=int)))
    out = np.empty(shape, dtype=arguments[0].dtype)
    for i in range(0, shape[0], step):
        part = [argument if argument.shape[0] == 1 else argument[i:i + step] for argument in arguments]
        if step == 1 and len(shape) > 1:
            out[i] = _in_blocks(value, [argument[0] for argument in part], size)
        else:
            out[i:i + step] = value(*part)
    return out


def _correlation(c):
    """c, where rounding may have put it beyond +-1 that end, and NaN where it is no correlation."""
    if c.size and c.min() >= -1 and c.max() <= 1:
        return c
    inside = np.clip(c, -1, 1)
    return np.where(np.abs(c - inside) <= 32*np.finfo(c.dtype).eps, inside, np.nan)


def _covariance_map_value(q1, q2, c):
    c = _correlation(c)
    sin_theta = np.sqrt((1 - c)*(1 + c))
    root_q1q2 = np.sqrt(q1)*np.sqrt(q2)
    sqrt_Delta = root_q1q2*sin_theta
    K = c*root_q1q2
    return _result(0.15915494309189535*(sqrt_Delta + K*np.arctan2(sin_theta, -c)), q1, q2, c)


def covariance_map(q1: ArrayLike, q2: ArrayLike, c: ArrayLike) -> NDArray[np.floating]:
    """covariance map; kind EXACT.

    (sqrt(Delta) + K*atan2(sqrt(Delta), -K))/(2*pi)

    Arguments: q1, q2, c; keywords: none. Arguments broadcast; the dtype of the inputs comes out.
    q1, q2 > 0 are variances and -1 <= c <= 1 is the correlation of the pair."""
    return _in_blocks(_covariance_map_value, _arrays(q1, q2, c))
