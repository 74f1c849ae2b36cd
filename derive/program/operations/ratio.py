"""The quotient a/b continued to b = 0: 0 where a is 0 too, else infinite with the sign of a."""

from __future__ import annotations

from derive.program.operation import Operation


def _ball(args, analytic):
    a, b = args
    return a if a.is_zero() else a / b


def _exact(mp, a, b):
    if b != 0:
        return a / b
    return mp.sign(a) * mp.inf if a != 0 else mp.mpf(0)


_SOURCE = '''
def _ratio(a, b):
    """a/b; where b is 0, infinite with the sign of a, or 0 if a is 0 too."""
    edge = np.where(a == 0, 0, np.where(a < 0, -np.inf, np.inf))
    return np.where(b == 0, edge, a/np.where(b == 0, 1, b))
'''

_C = """
/* a/b; where b is 0, infinite with the sign of a, or 0 if a is 0 too. */
static double _ratio(double a, double b)
{
    return b != 0 ? a/b : a == 0 ? 0 : a < 0 ? -INFINITY : INFINITY;
}
"""

_MPMATH = '''
def _ratio(a, b):
    """a/b; where b is 0, infinite with the sign of a, or 0 if a is 0 too."""
    return a/b if b != 0 else mp.sign(a)*mp.inf if a != 0 else mp.mpf(0)
'''

OPERATION = Operation(
    name="ratio",
    arity=2,
    domain="b >= 0",
    build=lambda a, b: a / b,
    ball=_ball,
    exact=_exact,
    backends={
        "numpy": "_ratio({0}, {1})",
        "torch": "_ratio({0}, {1})",
        "jax": "_ratio({0}, {1})",
        "c": "_ratio({0}, {1})",
        "mpmath": "_ratio({0}, {1})",
    },
    helpers={
        "numpy": _SOURCE,
        "torch": _SOURCE.replace("np.", "torch."),
        "jax": _SOURCE.replace("np.", "jnp."),
        "c": _C,
        "mpmath": _MPMATH,
    },
)
