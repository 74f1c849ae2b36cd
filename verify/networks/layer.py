"""One dense layer with sampled weights: averages over its units, with the fluctuations of low degree taken away.

The pre-activations of the layer are z = A e with independent standard normal e, exactly and at any width, since the
weights are Gaussian. The Hermite polynomials of e then have mean zero, so that c_1 H_1(e) + c_2 H_2(e) + ... may be
subtracted from what is averaged, whatever the coefficients: means stay unbiased. The coefficients are those of the
user's own function, by a midpoint rule; nothing of the derivation enters (control variates: Lavenberg and Welch
1981, Management Science 27). One set of weights serves all points of a claim, so that a batch costs its random
numbers once.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from verify.checking import Point, Sampled
from verify.conditional import cholesky
from verify.sampling import Draw, stratified_line, stratified_plane
from verify.stream import normals

if TYPE_CHECKING:
    import torch

Values = Mapping[str, Any]
NETWORKS, WIDTH = 8, 1024
FAN_OUT = 8
"""Units of the layer above, from which gradients are sent back."""
DEGREE = {1: 10, 2: 10}
"""Highest total degree that is taken away, by the number of inputs."""
MIDPOINTS = {1: 2048, 2: 96}


def layer_means(
    dtype: Any,
    points: Sequence[Point],
    gram: Callable[[Values], Sequence[Sequence[float]]],
    integrand: Callable[..., torch.Tensor],
    finish: Callable[[torch.Tensor, Values], torch.Tensor] = lambda mean, value: mean,
) -> Sampled:
    """Averages of integrand(z_1, ..., z_B) over the units of layers on B inputs with covariance gram(point)."""
    values = [dict(p.values) for p in points]
    known: dict[str, torch.Tensor] = {}

    def draw(streams: Sequence[Any]) -> Draw:
        import torch

        factors = _factors(values, gram, dtype, streams[0].device)
        if not known:
            known["coefficients"] = _coefficients(integrand, factors)
        rows = []
        for stream in streams:
            noise = normals((NETWORKS, factors.shape[1], WIDTH), stream, dtype)
            z = torch.einsum("pij,njm->pinm", factors, noise)
            means = integrand(*z.unbind(1)).mean((1, 2)).to(torch.float64)
            quiet = means - known["coefficients"] @ hermite(noise.transpose(0, 1)).mean((1, 2)).to(torch.float64)
            rows.append(torch.stack([finish(mean, value) for mean, value in zip(quiet, values, strict=True)]))
        return Draw(torch.stack(rows), NETWORKS * WIDTH)

    return Sampled("networks", draw)


def layer_gradients(
    dtype: Any,
    points: Sequence[Point],
    phi: Callable[[torch.Tensor], torch.Tensor],
    slope: Callable[[torch.Tensor], torch.Tensor],
) -> Sampled:
    """|delta|^2/|g|^2 for gradients g sent back by autograd through W phi(z), W_ij ~ N(0, sigma_w^2/fan-in).

    points   with q, the variance of z, and sigma_w
    The unit i contributes phi'(z_i)^2 t_i, with t_i = n (W^T g)_i^2/(sigma_w^2 |g|^2) of mean 1 and independent of z:
    t_i H_k(e_i) has mean zero for k > 0, and t_i - 1 as well.
    """
    values = [dict(p.values) for p in points]
    known: dict[str, torch.Tensor] = {}

    def draw(streams: Sequence[Any]) -> Draw:
        import torch

        factors = _factors(values, lambda v: [[float(v["q"])]], dtype, streams[0].device)
        gains = torch.tensor([float(v["sigma_w"]) ** 2 for v in values], dtype=torch.float64, device=factors.device)
        if not known:
            known["coefficients"] = _coefficients(lambda z: slope(z) ** 2, factors, constant=True)
        rows = []
        for stream in streams:
            noise = normals((NETWORKS, 1, WIDTH), stream, dtype)
            weight = normals((NETWORKS, WIDTH, FAN_OUT), stream, dtype) / WIDTH**0.5
            above = normals((NETWORKS, 1, FAN_OUT), stream, dtype)
            z = (factors[:, :, 0] * noise).requires_grad_(True)  # (networks, points, width)
            output = phi(z) @ weight
            (below,) = torch.autograd.grad(output, z, grad_outputs=above.expand_as(output))
            size = above.square().sum((1, 2))
            share = WIDTH * (weight @ above.mT).squeeze(2).square() / size[:, None]
            means = (below.square().sum(2) / size[:, None]).mean(0).to(torch.float64)
            polynomials = torch.cat((torch.ones_like(noise.transpose(0, 1)), hermite(noise.transpose(0, 1))))
            control = (polynomials * share).mean((1, 2)).to(torch.float64)
            control[0] -= 1
            rows.append(gains * (means - known["coefficients"] @ control))
        return Draw(torch.stack(rows), NETWORKS * WIDTH)

    return Sampled("networks", draw)


def hermite(e: torch.Tensor) -> torch.Tensor:
    """Products of normalised Hermite polynomials of the coordinates e[0], e[1], ..., of total degree 1 to DEGREE."""
    import torch

    degree = DEGREE[len(e)]
    lines = [_one_coordinate(x, degree) for x in e]
    if len(lines) == 1:
        return torch.stack(lines[0][1:])
    first, second = lines
    return torch.stack([first[i] * second[k - i] for k in range(1, degree + 1) for i in range(k + 1)])


def _one_coordinate(x: torch.Tensor, degree: int) -> list[torch.Tensor]:
    import torch

    found = [torch.ones_like(x), x]
    for k in range(1, degree):
        found.append((x * found[k] - k**0.5 * found[k - 1]) / (k + 1) ** 0.5)
    return found


def _factors(values: Sequence[Values], gram: Callable, dtype: Any, device: Any) -> torch.Tensor:
    """(points, B, B) factors A with A A^T = gram: the inputs of the layer."""
    import torch

    return cholesky(torch.tensor([gram(v) for v in values], dtype=dtype, device=device))


def _coefficients(integrand: Callable, factors: torch.Tensor, constant: bool = False) -> torch.Tensor:
    """(points, polynomials): mean of integrand times each polynomial, at the midpoints of strata."""
    import torch

    inputs, count = factors.shape[1], MIDPOINTS[factors.shape[1]]
    if inputs == 1:
        z, weight = stratified_line(torch.full((1, count + 3), 0.5, dtype=torch.float64, device=factors.device))
        e, weight = z[0, :1], weight[0]
    else:
        middle = torch.full((1, 2, count + 2, count + 2), 0.5, dtype=torch.float64, device=factors.device)
        first, second, weight = stratified_plane(middle, middle[:, :, 0, 0])
        e, weight = torch.stack(torch.broadcast_tensors(first[0, 0], second[0, 0])).flatten(1), weight.flatten()
    polynomials = hermite(e)
    if constant:
        polynomials = torch.cat((torch.ones_like(polynomials[:1]), polynomials))
    values = integrand(*(factors.to(torch.float64) @ e).unbind(1))
    return torch.einsum("pm,km,m->pk", values, polynomials, weight)
