"""The modified Bessel function exp(x)*K_0(x), scaled so that it does not vanish."""

from __future__ import annotations

from derive.program.bessel import HELPERS, BesselK, scaled_bessel_k
from derive.program.operation import Operation


class ScaledBesselK0(BesselK):
    """k_0(x) = exp(x) K_0(x), x > 0; k_0' = k_0 - k_1. Kind: SPECIAL. DLMF 10.25, 10.29(i)."""

    latex_name = "k_0"
    ball = staticmethod(lambda args, analytic: scaled_bessel_k(0, args[0]))

    def fdiff(self, argindex=1):
        from derive.program.operations.scaled_bessel_k1 import ScaledBesselK1

        return self - ScaledBesselK1(self.args[0])


OPERATION = Operation(
    name="scaled_bessel_k0",
    arity=1,
    domain="x > 0",
    build=ScaledBesselK0,
    head=ScaledBesselK0,
    ball=ScaledBesselK0.ball,
    exact=lambda mp, x: mp.exp(x) * mp.besselk(0, x),
    backends={
        "numpy": "k0e({0})",
        "torch": "_scaled_bessel_k0({0})",
        "jax": "_scaled_bessel_k0({0})",
        "mpmath": "(mp.exp({0})*mp.besselk(0, {0}))",
    },
    helpers=HELPERS,
    source="DLMF 10.25, 10.32.9",
)
