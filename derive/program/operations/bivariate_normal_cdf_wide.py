"""Phi_2(h, k; rho) with sqrt(1 - rho**2) given beside rho: what code needs to be accurate near rho = +-1."""

from __future__ import annotations

from derive.program.operation import Operation
from derive.program.operations import bivariate_normal_cdf, owens_t
from derive.program.owen_source import bivariate_source

_PLAIN = bivariate_normal_cdf.OPERATION

_NUMPY = bivariate_source("np", "ndtr(x)", "").replace("_owens_t(", "owens_t(")

_TORCH = (
    owens_t.TORCH
    + "\n"
    + bivariate_source("torch", "0.5*torch.erfc(-0.7071067811865476*x)", "_value")
    + """

def _bivariate_normal_cdf_d_h(h, k, rho, width):
    cdf = 0.5*torch.erfc(-0.7071067811865476*_towards(h, k, rho, width))
    return 0.3989422804014327*torch.exp(-0.5*h*h)*cdf


def _bivariate_normal_cdf_d_k(h, k, rho, width):
    return _bivariate_normal_cdf_d_h(k, h, rho, width)


def _bivariate_normal_cdf_d_rho(h, k, rho, width):
    side = torch.where(rho < 0, -1, 1)
    gap = (h - side*k)**2
    spread = torch.where(gap == 0, 0, gap/torch.where(gap == 0, 1, 2*width*width))
    density = torch.exp(-spread - side*h*k/(1 + torch.abs(rho)))
    return torch.where(density == 0, 0, density/torch.where(density == 0, 1, 6.283185307179586*width))


def _bivariate_normal_cdf_d_width(h, k, rho, width):
    # the width is a function of rho: its share is in the derivative with respect to rho
    return torch.zeros_like(width)


_bivariate_normal_cdf_stated = _differentiable(
    _bivariate_normal_cdf_value,
    {
        0: _bivariate_normal_cdf_d_h,
        1: _bivariate_normal_cdf_d_k,
        2: _bivariate_normal_cdf_d_rho,
        3: _bivariate_normal_cdf_d_width,
    },
    ("h", "k", "rho", "width"),
)


def _bivariate_normal_cdf(h, k, rho, width):
    return _bivariate_normal_cdf_stated(*torch.broadcast_tensors(h, k, rho, width))
"""
)

OPERATION = Operation(
    name="bivariate_normal_cdf_wide",
    arity=4,
    domain="-1 <= rho <= 1, width = sqrt(1 - rho**2)",
    build=lambda h, k, rho, width: _PLAIN.build(h, k, rho),
    head=None,
    ball=lambda args, analytic: _PLAIN.ball(args[:3], analytic),
    exact=lambda mp, h, k, rho, width: _PLAIN.exact(mp, h, k, rho),
    backends={
        "numpy": "_bivariate_normal_cdf({0}, {1}, {2}, {3})",
        "torch": "_bivariate_normal_cdf({0}, {1}, {2}, {3})",
    },
    helpers={"numpy": _NUMPY, "torch": _TORCH},
    source=_PLAIN.source,
)
