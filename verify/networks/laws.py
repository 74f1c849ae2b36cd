"""Dense layers whose weights follow another law: averages over their units, free of the leading finite-width bias.

The pre-activations are z = A e, e = R W with orthonormal rows R and weights W of mean zero. The covariance of e is the
identity exactly, its fourth cumulants are those of W times sum_i R_i^4 = O(1/n), and so on: a mean of f(z) differs
from its Gaussian limit c_0 by the sum of c_k E H_k(e) over degrees k > 2. These Hermite polynomials are subtracted up
to degree ten with the coefficients c_k of the user's own function; what is left is O(1/n^3). Degree 2 stays: its mean
is the variance of the law, which is what the claim is about.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from verify.checking import Point, Sampled
from verify.networks.layer import DEGREE, _factors, _one_coordinate, hermite
from verify.sampling import Draw
from verify.stream import normals
from verify.weights import Law

if TYPE_CHECKING:
    import torch

NETWORKS, WIDTH = 32, 64
SQUARES = [2, 4]
"""Places of H_2(e_2) and H_2(e_1) among the polynomials of two variables, behind two of degree 1."""
REACH, STEPS = 9.0, 360
"""Of the trapezoidal rule for coefficients, which converges geometrically for smooth functions under a Gaussian."""


def law_means(
    law: Law,
    dtype: Any,
    points: Sequence[Point],
    gram: Callable[[Mapping[str, Any]], Sequence[Sequence[float]]],
    integrand: Callable[..., torch.Tensor],
    doubt: Callable[[], str] = lambda: "",
) -> Sampled:
    """Averages of integrand(u, v) over units of layers with weights of that law; (u, v) have covariance gram(point).

    doubt   why plain averages over units say nothing, or ""
    """
    values = [dict(p.values) for p in points]
    known: dict[str, torch.Tensor] = {}

    def draw(streams: Sequence[Any]) -> Draw:
        import torch

        factors = _factors(values, gram, dtype, streams[0].device)
        if not known:
            known["coefficients"] = coefficients(integrand, factors)
        rows = []
        for stream in streams:
            noise, square = units(law, stream, dtype)
            z = torch.einsum("pij,jm->pim", factors, noise)
            means = integrand(*z.unbind(1)).mean(1).to(torch.float64)
            control = hermite(noise).mean(1).to(torch.float64)
            control[SQUARES] -= (square - 1) / 2**0.5
            rows.append(means - known["coefficients"] @ control)
        return Draw(torch.stack(rows), NETWORKS * WIDTH, doubt())

    return Sampled(f"networks, {law.name} weights", draw, costly=True)


def units(law: Law, stream: torch.Generator, dtype: Any) -> tuple[torch.Tensor, torch.Tensor]:
    """(2, units) numbers R W of networks, each with its own uniform orthonormal R, and n times the mean of W_ij^2."""
    import torch

    rows, upper = torch.linalg.qr(normals((NETWORKS, WIDTH, 2), stream, dtype))
    rows = rows * torch.diagonal(upper, dim1=-2, dim2=-1).sign()[:, None, :]
    weights = WIDTH**0.5 * law.weights(stream, NETWORKS, WIDTH, dtype)
    return (rows.mT @ weights).transpose(0, 1).flatten(1), weights.square().mean().to(torch.float64)


def coefficients(integrand: Callable[..., torch.Tensor], factors: torch.Tensor) -> torch.Tensor:
    """(points, polynomials): E integrand times each polynomial of `hermite` for two Gaussians.

    Unlike a control variate's, these must be accurate: they multiply means that are not zero.
    """
    import torch

    axis = torch.linspace(-REACH, REACH, STEPS + 1, dtype=torch.float64, device=factors.device)
    weight = torch.exp(-(axis**2) / 2) * (2 * REACH / STEPS) / (2 * torch.pi) ** 0.5
    degree = DEGREE[2]
    lines = torch.stack(_one_coordinate(axis, degree)) * weight
    grid = torch.stack(torch.meshgrid(axis, axis, indexing="ij"))
    values = integrand(*torch.einsum("pij,jab->piab", factors.to(torch.float64), grid).unbind(1))
    found = torch.einsum("pab,ia,jb->pij", values, lines, lines)
    return torch.stack([found[:, i, k - i] for k in range(1, degree + 1) for i in range(k + 1)], 1)
