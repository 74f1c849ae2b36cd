"""The modified Bessel function exp(x)*K_1(x), scaled so that it does not vanish."""

from __future__ import annotations

from derive.program.bessel import HELPERS, BesselK, scaled_bessel_k
from derive.program.operation import Operation
from derive.program.operations.scaled_bessel_k0 import ScaledBesselK0


class ScaledBesselK1(BesselK):
    """k_1(x) = exp(x) K_1(x), x > 0; k_1' = k_1 - k_0 - k_1/x. Kind: SPECIAL. DLMF 10.25, 10.29(i)."""

    latex_name = "k_1"
    ball = staticmethod(lambda args, analytic: scaled_bessel_k(1, args[0]))

    def fdiff(self, argindex=1):
        x = self.args[0]
        return self - ScaledBesselK0(x) - self / x


OPERATION = Operation(
    name="scaled_bessel_k1",
    arity=1,
    domain="x > 0",
    build=ScaledBesselK1,
    head=ScaledBesselK1,
    ball=ScaledBesselK1.ball,
    exact=lambda mp, x: mp.exp(x) * mp.besselk(1, x),
    backends={
        "numpy": "k1e({0})",
        "torch": "_scaled_bessel_k1({0})",
        "jax": "_scaled_bessel_k1({0})",
        "mpmath": "(mp.exp({0})*mp.besselk(1, {0}))",
    },
    helpers=HELPERS,
    source="DLMF 10.25, 10.32.9",
)
