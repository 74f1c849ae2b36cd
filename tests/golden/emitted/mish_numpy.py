"""The activation x*tanh(log(1+exp(x))) and its derivative."""

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


def _sech(x):
    """1/cosh(x), without overflow."""
    e = np.exp(-np.abs(x))
    return 2*e/(1 + e*e)


def _sigmoid(x):
    """1/(1 + exp(-x)), without overflow."""
    e = np.exp(-np.abs(x))
    return np.where(x >= 0, 1, e)/(1 + e)


def phi(x: ArrayLike) -> NDArray[np.floating]:
    """phi(x) = x*tanh(log(1+exp(x)))

    Arguments broadcast; the dtype of the inputs comes out."""
    x, = _arrays(x)
    return _result(x*np.tanh(np.logaddexp(x, 0)), x)


def dphi(x: ArrayLike) -> NDArray[np.floating]:
    """phi'(x) away from kinks.

    Arguments broadcast; the dtype of the inputs comes out."""
    x, = _arrays(x)
    t1 = np.logaddexp(x, 0)
    t2 = _sech(t1)
    return _result(x*t2*t2*_sigmoid(x) + np.tanh(t1), x)
