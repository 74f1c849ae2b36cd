"""JAX: jit, vmap, grad of every order; the dtype of the inputs comes out (float64 where jax_enable_x64 is set)."""

from __future__ import annotations

from derive.emit.backend import Backend
from derive.emit.layout import indented, signature, stated_parts
from derive.emit.text import Body

PREAMBLE = '''
def _arrays(*values):
    """The arguments as arrays of one floating dtype; plain numbers take the dtype of the arrays."""
    arrays = [jnp.asarray(value) for value in values if not isinstance(value, (bool, int, float))]
    dtype = jnp.result_type(*arrays) if arrays else jnp.result_type(float)
    if not jnp.issubdtype(dtype, jnp.floating):
        dtype = jnp.result_type(float)
    return tuple(jnp.asarray(value, dtype=dtype) for value in values)


def _number(value, like):
    """A number as an array of the same dtype."""
    return jnp.asarray(value, dtype=like.dtype)


def _result(value, *arguments):
    """The value in the common shape and dtype of the arguments."""
    shape = jnp.broadcast_shapes(*(argument.shape for argument in arguments))
    return jnp.broadcast_to(jnp.asarray(value, dtype=arguments[0].dtype), shape)
'''

STATED = '''
def _differentiable(value, partials, names):
    """The function `value` with stated partial derivatives (place of the argument -> function of all of them)."""
    stated = jax.custom_jvp(value)

    def rule(inputs, tangents):
        total = jnp.zeros_like(inputs[0])
        for place, tangent in enumerate(tangents):
            if isinstance(tangent, jax.custom_derivatives.SymbolicZero):
                continue
            if place not in partials:
                raise NotImplementedError(f"no derivative is stated with respect to {names[place]}")
            total = total + partials[place](*inputs)*tangent
        return value(*inputs), total

    stated.defjvp(rule, symbolic_zeros=True)
    return stated
'''


def function(body: Body) -> str:
    """One function, and before it the stated derivatives it uses."""
    names = ", ".join((*body.arguments, *body.parameters))
    head = signature(body, "jax.typing.ArrayLike", "jax.typing.ArrayLike", "jax.Array")
    single = "," if len(body.arguments) + len(body.parameters) == 1 else ""
    if not body.partials:
        lines = [f"{names}{single} = _arrays({names})", *body.guard, *body.lines]
        lines.append(f"return _result({body.value}, {names})")
        return indented(head, body.doc, lines)
    inner = f"_{body.name}"
    unpack = [f"{names}{single} = jnp.broadcast_arrays(*_arrays({names}))"]
    if body.guard:
        unpack = [f"{names}{single} = _arrays({names})", *body.guard]
        unpack.append(f"{names}{single} = jnp.broadcast_arrays({names})")
    lines = [*unpack, f"return {inner}({names})"]
    return "\n\n\n".join([*stated_parts(body, inner), indented(head, body.doc, lines)])


BACKEND = Backend(
    name="jax",
    imports=("import jax", "import jax.numpy as jnp", "import jax.scipy.special", "import numpy as np"),
    preamble=PREAMBLE,
    stated=STATED,
    function=function,
    tensor_only=frozenset(("owens_t", "erfcx", "exp_normal_cdf", "exp_bivariate_normal_cdf")),
    infinity="jnp.inf",
    pi="jnp.pi",
    reserved=frozenset(("jax", "jnp", "np")),
)
