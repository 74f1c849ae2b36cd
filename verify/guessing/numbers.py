"""One number of guessing bias three times: as derived, by a second method, and measured on random networks.

A question is a mapping with "kind" and what that kind asks for; see `ASKED`.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from derive import theory
from derive.depth.bias.dictionary import Guessing, of_activations
from derive.depth.bias.guess import Classes, TwoClasses
from verify.stream import normals, stream

Question = Mapping[str, Any]


@dataclass(frozen=True)
class Asked:
    """How a kind of question is answered.

    derived   from the toolkit's own derivation, with the kind of that answer
    second    by `verify.guessing.twice`
    measured  (value, standard error) on random networks, where that is cheap
    """

    derived: Callable[..., tuple[float, str]]
    second: Callable[..., float]
    measured: Callable[..., tuple[float, float]] | None = None


def _depth(text: str, layer: int, w2: float, b2: float = 0, start: float | None = None, L: Any = None) -> Any:
    given = {} if L is None else {"L": L}
    first = None if start is None else Guessing(start / (1 + start), 1 / (1 + start))
    bias = theory(text).guessing_bias
    return float(bias.depth(layer, math.sqrt(w2), math.sqrt(b2), start=first, **given).gamma[-1]), "floats"


def _depth_again(text: str, layer: int, w2: float, b2: float = 0, start: float | None = None, L: Any = None) -> float:
    from verify.guessing import twice

    if text == "tanh":
        return twice.smooth_gammas(np.tanh, layer, w2, b2)[-1]
    scale = None if not text.startswith("residual") else 1 if L is None else f"{1 / L:.25g}"
    return twice.relu_gammas(layer, w2, b2, start, scale)[-1]


def _depth_measured(
    text: str, layer: int, w2: float, b2: float = 0, start: float | None = None, L: Any = None
) -> tuple[float, float]:
    """Mean over networks of width 1000 on 500 orthogonal inputs, layer by layer."""
    import torch

    def state(x: Any, width: int) -> Any:
        weight = normals((x.shape[1], width), generator, torch.float32)
        return math.sqrt(w2 / x.shape[1]) * x @ weight + math.sqrt(b2) * normals((1, width), generator, torch.float32)

    residual, found = text.startswith("residual"), []
    phi = torch.tanh if text == "tanh" else torch.relu
    scale = 1.0 if L is None else L**-0.5
    for network in range(8):
        generator = stream(7, layer, network)
        ratio = b2 / w2 if start is None else start
        z, shift = (normals((n, 1000), generator, torch.float32) for n in (500, 1))
        z = math.sqrt(1 / (1 + ratio)) * z + math.sqrt(ratio / (1 + ratio)) * shift
        z = z if start is not None else math.sqrt(w2 + b2) * z
        for _ in range(layer - 1):
            z = residual * z + scale * state(phi(z), 1000)
        m = of_activations(z.double().numpy()).guessing
        found.append((m.sigma_mu2, m.sigma_y2))
    mu, spread = np.array(found).T
    gamma = mu.sum() / spread.sum()
    return float(gamma), float(np.std(mu - gamma * spread, ddof=1) / math.sqrt(len(mu)) / spread.mean())


def _edge(b2: float, what: str) -> tuple[float, str]:
    bias, point = theory("tanh").guessing_bias, theory("tanh").edge_of_chaos(sigma_b=math.sqrt(b2))
    if what == "C''(1)":
        return 2 * bias.at(float(point.sigma_w), math.sqrt(b2)).factor, "ENCLOSURE"
    return (float(point.q) if what == "q" else float(point.sigma_w) ** 2), "ENCLOSURE"


def _edge_again(b2: float, what: str) -> float:
    from verify.guessing import twice

    return dict(zip(("sigma_w^2", "q", "C''(1)"), twice.tanh_edge(b2), strict=True))[what]


def _neutral(b2: float) -> tuple[float, str]:
    (point,) = theory("tanh").guessing_bias.neutrality(math.sqrt(b2))
    return float(point.sigma_w2), "ENCLOSURE"


def _neutral_again(b2: float) -> float:
    from verify.guessing import twice

    return twice.neutral(np.tanh, b2)


def _settled(w2: float, b2: float) -> tuple[float, str]:
    found = theory("tanh").at(math.sqrt(w2), math.sqrt(b2))
    return float(found.fixed_points[found.attractor].c), "ENCLOSURE"


def _settled_again(w2: float, b2: float) -> float:
    from verify.guessing import twice

    return twice.settled(np.tanh, w2, b2)


def _one_layer(text: str, pool: str = "", k: int = 1, **parameters: Any) -> tuple[float, str]:
    block = f"dense >> {text} >> {pool}({k})" if pool else text
    found = theory(block).guessing_bias.amplification
    return float(found.number(q=1, **parameters)), str(found.kind)


def _one_layer_again(text: str, pool: str = "", k: int = 1, **parameters: Any) -> float:
    from verify.guessing import twice

    return twice.one_layer(text, k, pool == "avgpool", **parameters)


def _one_layer_measured(text: str, pool: str = "", k: int = 1, **parameters: Any) -> tuple[float, float]:
    """gamma of 20 000 units behind one layer, as centre and spread of phi over 2000 inputs.

    On centred data of infinite dimension all units have one centre: gamma is m^2/(V - m^2) of one sample.
    """
    import torch

    from verify.subject import subject

    phi = subject(text, parameters=parameters).phi if text != "x" else lambda z: z
    groups = []
    for part in range(20):
        x = phi(normals((200_000, k), stream(11, part, k), torch.float64))
        x = x.amax(1) if pool == "maxpool" else x.mean(1)
        groups.append((float(x.mean()), float(x.var())))
    m, v = np.array(groups).T
    ratio = m**2 / v - 1 / 200_000
    return float(ratio.mean()), float(ratio.std(ddof=1) / math.sqrt(20))


def _share(k: int, gamma: float, what: str) -> tuple[float, str]:
    law: Any = TwoClasses(gamma) if k == 2 else Classes(gamma, k)
    values = {"E max G": lambda: law.mean_largest, "sum G^2": lambda: law.same_class,
              "Var G": lambda: law.variance, "P(max G > 0.9)": lambda: law.exceeds(0.9),
              "density at 1/2": lambda: float(law.density(0.5))}  # fmt: skip
    return values[what](), "EXACT" if k == 2 else "floats"


def _share_again(k: int, gamma: float, what: str) -> float:
    import mpmath

    from verify.guessing import twice

    if k > 2:
        return twice.classes(gamma, k)[0 if what == "E max G" else 1]
    with mpmath.workdps(25):
        root = mpmath.sqrt(gamma)

        def mean(f: Callable[[Any], Any]) -> float:
            return float(mpmath.quad(lambda z: f(mpmath.ncdf(root * z)) * mpmath.npdf(z), [-9, -3, 0, 3, 9]))

        if what == "P(max G > 0.9)":
            edge = mpmath.findroot(lambda z: mpmath.ncdf(root * z) - mpmath.mpf("0.9"), 1.28 / root)
            return float(mpmath.erfc(edge / mpmath.sqrt(2)))
        if what == "density at 1/2":
            return float(mpmath.npdf(0) / mpmath.diff(lambda z: mpmath.ncdf(root * z), 0))
        parts = {"E max G": lambda g: max(g, 1 - g), "sum G^2": lambda g: g**2 + (1 - g) ** 2,
                 "Var G": lambda g: (g - mpmath.mpf(1) / 2) ** 2}  # fmt: skip
        return mean(parts[what])


def _share_measured(k: int, gamma: float, what: str) -> tuple[float, float]:
    """One linear layer whose biases make gamma: 2000 networks on 2000 orthogonal inputs."""
    import torch

    if what not in ("E max G", "sum G^2", "Var G"):
        raise KeyError(what)
    found = []
    for part in range(20):
        generator = stream(13, k, part)
        y = normals((100, 2000, k), generator, torch.float32)
        y = y + math.sqrt(gamma) * normals((100, 1, k), generator, torch.float32)
        share = torch.nn.functional.one_hot(y.argmax(-1), k).double().mean(1)
        squares = ((share**2).sum(1) - 1 / 2000) / (1 - 1 / 2000)
        found.append({"E max G": share.amax(1), "sum G^2": squares, "Var G": squares / 2 - 0.25}[what])
    values = torch.cat(found).numpy()
    return float(values.mean()), float(values.std() / math.sqrt(len(values)))


def _pooled(text: str, pool: str, k: int, what: str) -> tuple[float, str]:
    of = theory(f"dense >> {text} >> {pool}({k})")
    m, v = of.mean, of.second_moment
    chi = float(of.chi.number(q=1, sigma_w=1))
    values = {"E phi": lambda: float(m.number(q=1)), "V": lambda: float(v.number(q=1)), "chi": lambda: chi,
              "sigma_w^2 at dV/dq = 1": lambda: 1 / float(v.number(q=1)), "sigma_w^2 at chi = 1": lambda: 1 / chi,
              "C'(1) at dV/dq = 1": lambda: chi / float(v.number(q=1))}  # fmt: skip
    return values[what](), str(v.kind)


def _pooled_again(text: str, pool: str, k: int, what: str) -> float:
    from verify.guessing import twice

    m, v = twice.largest_moments(text, 1 if pool == "avgpool" else k)
    # of ReLU: phi' = 1 on the event that the largest (or the one) is above 0
    chi = 1 - 0.5**k if pool == "maxpool" else 0.5 / k
    v = v if pool == "maxpool" else m * m + (v - m * m) / k
    return {"E phi": m, "V": v, "chi": chi, "sigma_w^2 at dV/dq = 1": 1 / v, "sigma_w^2 at chi = 1": 1 / chi,
            "C'(1) at dV/dq = 1": chi / v}[what]  # fmt: skip


ASKED = {
    "depth": Asked(_depth, _depth_again, _depth_measured),
    "edge": Asked(_edge, _edge_again),
    "neutral": Asked(_neutral, _neutral_again),
    "settled": Asked(_settled, _settled_again),
    "one layer": Asked(_one_layer, _one_layer_again, _one_layer_measured),
    "share": Asked(_share, _share_again, _share_measured),
    "pooled": Asked(_pooled, _pooled_again),
}


def given(question: Question) -> dict[str, Any]:
    """What a question hands to the functions of its kind."""
    return {
        key: value for key, value in question.items() if key not in ("kind", "printed", "corrected", "measure", "slow")
    }


def rounds_to(value: float, printed: str) -> bool:
    """Whether a value rounds to a printed number; one unit of its last place is allowed."""
    mantissa, _, power = printed.partition("e")
    digits = len(mantissa.partition(".")[2])
    return abs(value - float(printed)) <= 1.01 * 10.0 ** (int(power or 0) - digits)


__all__ = ["ASKED", "Asked", "given", "rounds_to"]
