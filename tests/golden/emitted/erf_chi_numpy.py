"""gradient gain: EXACT."""

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


def gradient_gain(q: ArrayLike, *, sigma_w: ArrayLike) -> NDArray[np.floating]:
    """gradient gain; kind EXACT.

    4*sigma_w**2/(pi*sqrt(4*q + 1))

    Arguments: q; keywords: sigma_w. Arguments broadcast; the dtype of the inputs comes out.
    q > 0 is the variance of the pre-activation."""
    q, sigma_w = _arrays(q, sigma_w)
    return _result(1.2732395447351628*sigma_w**2/np.sqrt(1 + 4*q), q, sigma_w)
