"""NumPy; SciPy where NumPy lacks a function."""

from __future__ import annotations

from derive.emit.backend import Backend
from derive.emit.layout import indented, signature
from derive.emit.text import Body

PREAMBLE = '''
def _arrays(*values):
    """The arguments as arrays of one floating dtype; plain numbers take the dtype of the arrays."""
    arrays = [np.asarray(value) for value in values if not isinstance(value, (bool, int, float))]
    dtype = np.result_type(*arrays) if arrays else np.dtype(float)
    if not np.issubdtype(dtype, np.floating):
        dtype = np.dtype(float)
    return tuple(np.asarray(value, dtype=dtype) for value in values)


def _number(value, like):
    """A number as an array of the same dtype."""
    return np.asarray(value, dtype=like.dtype)


def _result(value, *arguments):
    """The value in the common shape and dtype of the arguments; scalars for scalars."""
    shape = np.broadcast_shapes(*(argument.shape for argument in arguments))
    result = np.asarray(value, dtype=arguments[0].dtype)
    return result[()] if result.shape == shape else np.broadcast_to(result, shape).copy()[()]
'''

BLOCKS = '''
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
'''


def function(body: Body) -> str:
    """One function; NumPy has no automatic differentiation, so partial derivatives are left out."""
    names = ", ".join((*body.arguments, *body.parameters))
    comma = "," if len(body.arguments) + len(body.parameters) == 1 else ""
    head = signature(body, "ArrayLike", "ArrayLike", "NDArray[np.floating]")
    unpack = [f"{names}{comma} = _arrays({names})", *body.guard]
    lines = [*body.lines, f"return _result({body.value}, {names})"]
    if not body.large:
        return indented(head, body.doc, [*unpack, *lines])
    inner = indented(f"def _{body.name}_value({names}):", "", lines)
    whole = [f"return _in_blocks(_{body.name}_value, _arrays({names}))"]
    if body.guard:
        whole = [*unpack, f"return _in_blocks(_{body.name}_value, ({names}))"]
    return "\n\n\n".join((inner, indented(head, body.doc, whole)))


SCIPY = {
    "erf": ("erf",),
    "erfc": ("erfc",),
    "erfcx": ("erfcx",),
    "normal_cdf": ("ndtr",),
    "owens_t": ("owens_t",),
    "scaled_bessel_k0": ("k0e",),
    "scaled_bessel_k1": ("k1e",),
    "exp_normal_cdf": ("erfc", "erfcx"),
    "exp_bivariate_normal_cdf": ("erfc", "erfcx"),
}

BACKEND = Backend(
    name="numpy",
    imports=("import numpy as np", "from numpy.typing import ArrayLike, NDArray"),
    preamble=PREAMBLE,
    blocks=BLOCKS,
    function=function,
    infinity="np.inf",
    pi="np.pi",
    borrowed={operation: tuple(("scipy.special", name) for name in names) for operation, names in SCIPY.items()},
    reserved=frozenset(("np", "ArrayLike", "NDArray", *(name for names in SCIPY.values() for name in names))),
)
