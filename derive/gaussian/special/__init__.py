"""Special functions that closed forms may name; their numeric spelling is an operation of `derive.program`."""

from derive.program.operations.bivariate_normal_cdf import BivariateNormalCdf
from derive.program.operations.cosine_normal_cdf import CosineNormalCdf
from derive.program.operations.dawson import Dawson
from derive.program.operations.normal_cdf import NormalCdf
from derive.program.operations.scaled_bessel_k0 import ScaledBesselK0
from derive.program.operations.scaled_bessel_k1 import ScaledBesselK1
from derive.program.operations.sign_moment import SignMoment
from derive.program.operations.sine_normal_cdf import SineNormalCdf

SPECIAL_HEADS = (
    BivariateNormalCdf,
    CosineNormalCdf,
    Dawson,
    ScaledBesselK0,
    ScaledBesselK1,
    SignMoment,
    SineNormalCdf,
)
"""Functions beyond the elementary ones and erf: a closed form that names one is SPECIAL."""

__all__ = [
    "SPECIAL_HEADS",
    "BivariateNormalCdf",
    "CosineNormalCdf",
    "Dawson",
    "NormalCdf",
    "ScaledBesselK0",
    "ScaledBesselK1",
    "SignMoment",
    "SineNormalCdf",
]
