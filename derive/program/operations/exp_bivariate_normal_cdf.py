"""exp(e)*Phi_2(h, k; rho) as one operation, with sqrt(1 - rho**2) given beside rho.

What code needs to be accurate near rho = +-1 and in the tails, and finite where the factors overflow and vanish.
"""

from __future__ import annotations

from sympy import exp

from derive.program.bivariate_split import split_source
from derive.program.operation import Operation
from derive.program.operations import bivariate_normal_cdf, exp_normal_cdf, ratio
from derive.program.owen_source import bivariate_head, bivariate_source, even_rule, gauss_source, rule

_PLAIN = bivariate_normal_cdf.OPERATION

_NUMPY = "\n".join(
    (
        ratio.OPERATION.helpers["numpy"],
        exp_normal_cdf.NUMPY,
        f"\n{rule()}\n\n\n{even_rule()}\n",
        bivariate_head("np") + "\n",
        split_source("np"),
        """
def _exp_bivariate_normal_cdf(e, h, k, rho, width):
    arguments = np.broadcast_arrays(e, h, k, rho, width)
    # in pieces that stay in the processor's cache
    flat = [argument.reshape(-1) for argument in arguments]
    out = np.empty(flat[0].size, dtype=np.result_type(e, h, k, rho, width, 0.0))  # an argument may be a whole number
    for i in range(0, out.size, 8192):
        out[i:i + 8192] = _exp_bivariate_split(*(a[i:i + 8192] for a in flat))
    return out.reshape(arguments[0].shape)
""",
    )
)

_TORCH = "\n".join(
    (
        ratio.OPERATION.helpers["torch"],
        exp_normal_cdf.TORCH,
        f"{gauss_source('torch')}\n\n{even_rule()}\n",
        bivariate_source("torch"),
        split_source("torch"),
        """
def _exp_bivariate_d_h(e, h, k, rho, width):
    return 0.3989422804014327*_exp_normal_cdf(e - 0.5*h*h, _towards(h, k, rho, width))


def _exp_bivariate_d_k(e, h, k, rho, width):
    return _exp_bivariate_d_h(e, k, h, rho, width)


def _exp_bivariate_d_rho(e, h, k, rho, width):
    return _ratio(torch.exp(e - _half_square(h, k, rho, width)), 6.283185307179586*width)


def _exp_bivariate_d_width(e, h, k, rho, width):
    # the width is a function of rho: its share is in the derivative with respect to rho
    return torch.zeros_like(width)


def _exp_bivariate_d_e(e, h, k, rho, width):
    return _exp_bivariate_stated(e, h, k, rho, width)


def _exp_bivariate_pieces(*arguments):
    if arguments[0].is_cuda or torch.compiler.is_compiling() or arguments[0].numel() == 0:
        return _exp_bivariate_value(*arguments)
    # in pieces that stay in the processor's cache
    pieces = [_exp_bivariate_split(*piece) for piece in zip(*(a.reshape(-1).split(16384) for a in arguments))]
    return torch.cat(pieces).reshape(arguments[0].shape)


_exp_bivariate_stated = _differentiable(
    _exp_bivariate_pieces,
    {
        0: _exp_bivariate_d_e,
        1: _exp_bivariate_d_h,
        2: _exp_bivariate_d_k,
        3: _exp_bivariate_d_rho,
        4: _exp_bivariate_d_width,
    },
    ("e", "h", "k", "rho", "width"),
)


def _exp_bivariate_normal_cdf(e, h, k, rho, width):
    return _exp_bivariate_stated(*torch.broadcast_tensors(e, h, k, rho, width))
""",
    )
)

_DERIVATIVES = _TORCH[_TORCH.index("\ndef _exp_bivariate_d_h") : _TORCH.index("def _exp_bivariate_pieces")]
_STATED = _TORCH[_TORCH.index("_exp_bivariate_stated = ") :].replace("_pieces", "_value")

_JAX = "\n".join(
    (
        ratio.OPERATION.helpers["jax"],
        exp_normal_cdf.JAX,
        f"{gauss_source('jnp')}\n\n{even_rule()}\n",
        bivariate_source("jnp"),
        (_DERIVATIVES + _STATED).replace("torch.broadcast_tensors", "jnp.broadcast_arrays").replace("torch.", "jnp."),
    )
)

_MPMATH = '''
def _exp_bivariate_normal_cdf(e, h, k, rho, width):
    """exp(e)*Phi_2(h, k; rho) by Plackett's integral over the correlation (1954, Biometrika 41, 351)."""
    if width == 0:
        value = mp.ncdf(min(h, k)) if rho > 0 else max(mp.ncdf(h) - mp.ncdf(-k), mp.mpf(0))
        return mp.exp(e)*value

    def slope(t):
        return mp.exp(-(h*h + k*k - 2*h*k*mp.sin(t))/(2*mp.cos(t)**2))

    return mp.exp(e)*(mp.ncdf(h)*mp.ncdf(k) + mp.quad(slope, [0, mp.atan2(rho, width)])/(2*mp.pi))
'''

OPERATION = Operation(
    name="exp_bivariate_normal_cdf",
    arity=5,
    domain="-1 <= rho <= 1, width = sqrt(1 - rho**2)",
    build=lambda e, h, k, rho, width: exp(e) * _PLAIN.build(h, k, rho),
    head=None,
    ball=lambda args, analytic: args[0].exp() * _PLAIN.ball(args[1:4], analytic),
    exact=lambda mp, e, h, k, rho, width: mp.exp(e) * _PLAIN.exact(mp, h, k, rho),
    backends={
        "numpy": "_exp_bivariate_normal_cdf({0}, {1}, {2}, {3}, {4})",
        "torch": "_exp_bivariate_normal_cdf({0}, {1}, {2}, {3}, {4})",
        "jax": "_exp_bivariate_normal_cdf({0}, {1}, {2}, {3}, {4})",
        "mpmath": "_exp_bivariate_normal_cdf({0}, {1}, {2}, {3}, {4})",
    },
    helpers={"numpy": _NUMPY, "torch": _TORCH, "jax": _JAX, "mpmath": _MPMATH},
    source=_PLAIN.source,
)
