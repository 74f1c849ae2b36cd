"""exp(a) - exp(b) with the difference d = a - b given beside them: no cancellation where a is near b."""

from __future__ import annotations

from sympy import exp

from derive.program.operation import Operation

_SOURCE = '''
def _exp_difference(a, b, d):
    """exp(a) - exp(b), where d = a - b."""
    up = d > 0
    value = np.exp(np.where(up, a, b))*np.expm1(np.where(up, -d, d))
    return np.where(up, -value, value)
'''

_C = """
/* exp(a) - exp(b), where d = a - b. */
static double _exp_difference(double a, double b, double d)
{
    return d > 0 ? -exp(a)*expm1(-d) : exp(b)*expm1(d);
}
"""

OPERATION = Operation(
    name="exp_difference",
    arity=3,
    domain="d = a - b",
    build=lambda a, b, d: exp(a) - exp(b),
    ball=lambda args, analytic: args[1].exp() * args[2].expm1(),
    exact=lambda mp, a, b, d: mp.exp(b) * mp.expm1(d),
    backends={
        "numpy": "_exp_difference({0}, {1}, {2})",
        "torch": "_exp_difference({0}, {1}, {2})",
        "jax": "_exp_difference({0}, {1}, {2})",
        "c": "_exp_difference({0}, {1}, {2})",
        "mpmath": "(mp.exp({1})*mp.expm1({2}))",
    },
    helpers={
        "numpy": _SOURCE,
        "torch": _SOURCE.replace("np.", "torch."),
        "jax": _SOURCE.replace("np.", "jnp."),
        "c": _C,
    },
)
