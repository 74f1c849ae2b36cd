"""A correlation as given: what rounding put beyond +-1 is cut off, and what lies farther out is no correlation."""

from __future__ import annotations

from derive.program.operation import Operation
from derive.program.special_head import SpecialFunction


class Correlation(SpecialFunction):
    """The identity on [-1, 1]; up to 32 units of the last place outside it is 1 or -1, beyond that NaN in code."""

    nargs = 1
    latex_name = r"\operatorname{corr}"
    ball = staticmethod(lambda args, analytic: args[0])


_NUMPY = '''
def _correlation(c):
    """c, where rounding may have put it beyond +-1 that end, and NaN where it is no correlation."""
    if c.size and c.min() >= -1 and c.max() <= 1:
        return c
    inside = np.clip(c, -1, 1)
    return np.where(np.abs(c - inside) <= 32*np.finfo(c.dtype).eps, inside, np.nan)
'''

# no clip: its gradient at +-1 is halved in JAX and has changed between versions of torch
_TORCH = '''
def _correlation(c):
    """c, where rounding may have put it beyond +-1 that end, and NaN where it is no correlation."""
    inside = torch.where(c > 1, 1, torch.where(c < -1, -1, c))
    return torch.where(torch.abs(c - inside) <= 32*torch.finfo(c.dtype).eps, inside, torch.nan)
'''

_C = """
/* c, where rounding may have put it beyond +-1 that end, and NaN where it is no correlation. */
static double _correlation(double c)
{
    return fabs(c) <= 1 ? c : fabs(c) <= 1 + 7.1e-15 ? (c < 0 ? -1 : 1) : NAN;
}
"""

_MPMATH = '''
def _correlation(c):
    """c, NaN where it is no correlation."""
    return c if abs(c) <= 1 else mp.nan
'''

OPERATION = Operation(
    name="correlation",
    arity=1,
    domain="-1 <= c <= 1",
    build=Correlation,
    head=Correlation,
    ball=Correlation.ball,
    exact=lambda mp, c: c,
    backends=dict.fromkeys(("numpy", "torch", "jax", "c", "mpmath"), "_correlation({0})"),
    helpers={
        "numpy": _NUMPY,
        "torch": _TORCH,
        "jax": _TORCH.replace("torch.", "jnp."),
        "c": _C,
        "mpmath": _MPMATH,
    },
)
