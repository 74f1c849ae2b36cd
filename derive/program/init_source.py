"""Source text of `init_`, which draws the weights of a torch model with given gains: the one place for it.

The gain sigma_w of a layer means Var W = sigma_w**2/fan for every law of weights. A normal cut at two deviations has
the variance 1 - 2 a n(a)/(2 Phi(a) - 1) at a = 2 of its parent's; a uniform one on (-b, b) has b**2/3; of a
semi-orthogonal matrix, entries have 1/max(rows, columns).
"""

from __future__ import annotations

from collections.abc import Sequence

import flint
from flint import arb

MODES = ("fan_in", "fan_out", "fan_avg")
LAWS = ("normal", "uniform", "truncated", "orthogonal")

_DRAW = '''
def _fan(layer, mode):
    """How many inputs an output sees (fan_in), how many outputs an input reaches (fan_out), or their mean."""
    shape, groups = layer.weight.shape, getattr(layer, "groups", 1)
    stride = math.prod(getattr(layer, "stride", ()))
    taps = math.prod(shape[2:])
    if isinstance(layer, torch.nn.modules.conv._ConvTransposeNd):
        into, out = shape[0]*taps/(groups*stride), shape[1]*taps
    else:
        into, out = shape[1]*taps, shape[0]*taps/(groups*stride)
    if mode not in ("fan_in", "fan_out", "fan_avg"):
        raise ValueError(f"mode = {{mode!r}}: fan_in, fan_out or fan_avg")
    return {{"fan_in": into, "fan_out": out, "fan_avg": (into + out)/2}}[mode]


def _draw(weight, deviation, law, generator):
    """Fills a weight with numbers of mean 0 and this standard deviation."""
    if law == "normal":
        weight.normal_(0.0, deviation, generator=generator)
    elif law == "uniform":
        weight.uniform_(-3**0.5*deviation, 3**0.5*deviation, generator=generator)
    elif law == "truncated":
        parent = deviation/{cut!r}
        torch.nn.init.trunc_normal_(weight, 0.0, parent, -2*parent, 2*parent, generator=generator)
    elif law == "orthogonal":
        larger = max(weight.shape[0], weight[0].numel())
        torch.nn.init.orthogonal_(weight, deviation*larger**0.5, generator=generator)
    else:
        raise ValueError(f"law = {{law!r}}: normal, uniform, truncated or orthogonal")


def _layers(model):
    """Its dense and convolutional layers, in order."""
    kinds = torch.nn.Linear, torch.nn.modules.conv._ConvNd
    return [layer for layer in model.modules() if isinstance(layer, kinds)]


@torch.no_grad()
def _fill(model, gains, sigma_b, mode, law, generator):
    """Var W = gain**2/fan and Var b = sigma_b**2 in each layer."""
    for layer, gain in zip(_layers(model), gains):
        _draw(layer.weight, gain/_fan(layer, mode)**0.5, law, generator)
        if layer.bias is not None:
            layer.bias.normal_(0.0, sigma_b, generator=generator) if sigma_b else layer.bias.zero_()
    return model
'''


def draw_source() -> str:
    """`_fill(model, gains, sigma_b, mode, law, generator)` and what it needs; it uses torch and math."""
    with flint.ctx.workprec(80):
        two = arb(2)
        density = (-two * two / 2).exp() / (2 * arb.pi()).sqrt()
        left = 1 - 2 * two * density / (two / arb(2).sqrt()).erf()
        cut = float(left.sqrt().mid())
    return _DRAW.format(cut=cut).strip("\n")


def fixed_init_code(gains: Sequence[float], sigma_b: float, widths: Sequence[int]) -> str:
    """A module with `init_(model)` for a stack of these hidden widths, each layer with its own gain."""
    listed = ", ".join(f"{gain:.17g}" for gain in gains)
    return f'''import math

import torch

GAINS = ({listed},)
SIGMA_B = {sigma_b!r}
WIDTHS = {tuple(widths)!r}


{draw_source()}


def init_(model, *, mode="fan_in", law="normal", generator=None):
    """Weights and biases of the {len(gains)} layers of a stack, in order, for its widths.

    mode  fan_in, fan_out or fan_avg;  law  normal, uniform, truncated or orthogonal
    """
    layers = _layers(model)
    if tuple(layer.out_features for layer in layers[:-1]) != WIDTHS or len(layers) != len(GAINS):
        raise ValueError(f"made for hidden widths {{WIDTHS}}")
    return _fill(model, GAINS, SIGMA_B, mode, law, generator)
'''


__all__ = ["LAWS", "MODES", "draw_source", "fixed_init_code"]
