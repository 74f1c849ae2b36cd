"""variance map: EXACT."""

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


def variance_map(q: ArrayLike, *, sigma_w: ArrayLike, sigma_b: ArrayLike) -> NDArray[np.floating]:
    """variance map; kind EXACT.

    q*sigma_w**2*(2*q/((q + 1)*sqrt(2*q + 1)) + asin(q/(q + 1)) + pi/2)/(2*pi) + sigma_b**2

    Arguments: q; keywords: sigma_w, sigma_b. Arguments broadcast; the dtype of the inputs comes out.
    q > 0 is the variance of the pre-activation."""
    q, sigma_w, sigma_b = _arrays(q, sigma_w, sigma_b)
    t1 = 2*q
    t2 = 1 + q
    t3 = 0.15915494309189535*q*sigma_w**2*(1.5707963267948966 + t1/(t2*np.sqrt(1 + t1)) + np.arctan2(q, np.sqrt((t2 - q)*(t2 + q))))
    return _result(sigma_b**2 + t3, q, sigma_w, sigma_b)
