"""Laws of weights: their second moment in closed form, the fans it is divided by, and library defaults."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from sympy import Expr, Integer, Max, Min, Rational, erf, exp, oo, pi, sqrt

from derive.layers.stage import ratio
from derive.records import EocError

MODES = ("fan_in", "fan_out", "fan_avg")


@dataclass(frozen=True)
class WeightLaw:
    """Moments of one weight: `mean` E W and `second` E W^2; `gaussian` and `orthogonal` name its shape.

    The map of a layer needs the mean to be 0: a mean m adds (fan_in m E x)^2, which grows with the width.
    """

    name: str
    mean: Expr
    second: Expr

    @property
    def variance(self) -> Expr:
        """Var W."""
        return self.second - self.mean**2

    @property
    def std(self) -> Expr:
        """The standard deviation."""
        return sqrt(self.variance)

    @property
    def centred(self) -> bool:
        """Whether E W = 0."""
        return self.mean == 0

    def sigma_w2(self, fan_in: Any) -> Expr:
        """fan_in E W^2, the sigma_w^2 of a layer whose outputs see `fan_in` inputs. Raises EocError unless centred."""
        if not self.centred:
            raise EocError(
                f"{self.name} weights have the mean {self.mean}",
                why="a layer's map needs E W = 0: a mean of the weights adds a term that grows with the width",
                instead="a law that is symmetric about 0, or subtract its mean",
            )
        return ratio(fan_in, "fan_in") * self.second


def normal(std: Any) -> WeightLaw:
    """N(0, std^2)."""
    return WeightLaw("normal", Integer(0), _positive(std, "std") ** 2)


def uniform(bound: Any) -> WeightLaw:
    """U(-bound, bound): variance bound^2/3."""
    return WeightLaw("uniform", Integer(0), _positive(bound, "bound") ** 2 / 3)


def rademacher(size: Any) -> WeightLaw:
    """+-size with equal probability."""
    return WeightLaw("Rademacher", Integer(0), _positive(size, "size") ** 2)


def truncated(std: Any, low: Any = -2, high: Any = 2, *, in_sigmas: bool = False, corrected: bool = False) -> WeightLaw:
    """N(0, std^2) kept between two bounds, which are absolute (torch's `trunc_normal_`) or multiples of std.

    With a = low/std, b = high/std, Z = Phi(b) - Phi(a) and the density n:
    E W = std (n(a) - n(b))/Z, E W^2 = std^2 [1 + (a n(a) - b n(b))/Z].

    in_sigmas  the bounds are multiples of std (TensorFlow, Keras, JAX)
    corrected  std is that of what is left: the parent is widened, as Keras and JAX do (needs in_sigmas)
    """
    s, a, b = _positive(std, "std"), _bound(low), _bound(high)
    if not a < b:
        raise EocError(f"the interval from {low} to {high} is empty", instead="low=-2, high=2")
    if not in_sigmas:
        if corrected:
            raise EocError("a corrected std needs bounds in multiples of it", instead="in_sigmas=True")
        a, b = a / s, b / s
    kept = (erf(b / sqrt(2)) - erf(a / sqrt(2))) / 2
    mean = (_density(a) - _density(b)) / kept
    second = 1 + (_edge(a) - _edge(b)) / kept
    if corrected:
        s = s / sqrt(second - mean**2)
    return WeightLaw("truncated normal", s * mean, s**2 * second)


def folded(std: Any) -> WeightLaw:
    """|N(0, std^2)|: mean std sqrt(2/pi), E W^2 = std^2; it is not centred."""
    s = _positive(std, "std")
    return WeightLaw("folded normal", s * sqrt(2 / pi), s**2)


def orthogonal(gain: Any, rows: Any, columns: Any) -> WeightLaw:
    """A (semi-)orthogonal matrix times gain: E W^2 = gain^2/max(rows, columns); the wide limit is that of a normal."""
    larger = Max(ratio(rows, "rows"), ratio(columns, "columns"))
    return WeightLaw("orthogonal", Integer(0), _positive(gain, "gain") ** 2 / larger)


@dataclass(frozen=True)
class Fans:
    """How many inputs an output sees and how many outputs an input reaches, in the interior and on average.

    The forward factor of a law is fan_in E W^2; a coordinate's gradient grows by fan_out E W^2.
    """

    fan_in: Expr
    fan_out: Expr

    def of(self, mode: str) -> Expr:
        """The fan of a mode: fan_in, fan_out, or fan_avg, their mean (Glorot & Bengio 2010, eq. 12)."""
        if mode not in MODES:
            raise EocError(f"mode = {mode!r} is unknown", instead=" | ".join(MODES))
        return {"fan_in": self.fan_in, "fan_out": self.fan_out, "fan_avg": (self.fan_in + self.fan_out) / 2}[mode]


def linear_fans(inputs: Any, outputs: Any) -> Fans:
    """Of a dense layer."""
    return Fans(_count(inputs, "inputs"), _count(outputs, "outputs"))


def conv_fans(
    channels_in: Any, channels_out: Any, kernel: Any, *, groups: Any = 1, stride: Any = 1, transposed: bool = False
) -> Fans:
    """Of a convolution, `kernel` and `stride` numbers or one per direction (dilation changes nothing).

    An output sees taps C_in/groups inputs, an input reaches taps C_out/(groups stride^dims) outputs. A transposed
    convolution is the other way round: taps C_in/(groups stride^dims) and taps C_out/groups; with a stride that does
    not divide the kernel the number of inputs differs between outputs and this is its mean.
    Source: He et al. 2015 (arXiv 1502.01852), section 2.2, with groups and stride counted.
    """
    kernels = kernel if isinstance(kernel, (tuple, list)) else (kernel,)
    strides = stride if isinstance(stride, (tuple, list)) else (stride,) * len(kernels)
    taps, step, share = Integer(1), Integer(1), _count(groups, "groups")
    for k, s in zip(kernels, strides, strict=True):
        taps, step = taps * _count(k, "kernel"), step * _count(s, "stride")
    into, out = taps * _count(channels_in, "channels_in") / share, taps * _count(channels_out, "channels_out") / share
    if (_count(channels_in, "channels_in") % share, _count(channels_out, "channels_out") % share) != (0, 0):
        raise EocError(f"{groups} groups do not divide {channels_in} and {channels_out} channels", instead="groups=1")
    return Fans(into / step, out) if transposed else Fans(into, out / step)


def torch_fans(shape: tuple[int, ...]) -> Fans:
    """What torch's initialisers take for fans: weight.shape[1] and weight.shape[0], times the taps.

    That is right for fan_in of a convolution; fan_out leaves out groups and stride, and for a transposed convolution
    the two are exchanged.
    """
    if len(shape) < 2:
        raise EocError(f"a weight of shape {shape} has no fans", instead="a weight of two directions or more")
    taps = Integer(1)
    for size in shape[2:]:
        taps *= size
    return Fans(taps * shape[1], taps * shape[0])


def kaiming(fan: Any, a: Any = 0, *, shape: str = "normal") -> WeightLaw:
    """Variance 2/((1 + a^2) fan). `a` is the slope of a leaky ReLU, not an amplitude: a larger a is a smaller weight.

    Source: He et al. 2015 (arXiv 1502.01852), eq. 14-15.
    """
    slope = ratio(a, "a")
    variance = 2 / ((1 + slope**2) * ratio(fan, "fan"))
    if shape == "uniform":
        return uniform(sqrt(3 * variance))
    if shape != "normal":
        raise EocError(f"shape = {shape!r} is unknown", instead='"normal" or "uniform"')
    return normal(sqrt(variance))


def leaky_slope(second_moment: Any) -> Expr:
    """The slope a of the leaky ReLU with E f^2 = second_moment at q = 1: a^2 = 2 E f^2 - 1.

    Raises EocError where there is none: an activation whose output is smaller than a ReLU's has no such slope.
    """
    square = 2 * ratio(second_moment, "second_moment") - 1
    if square < 0:
        raise EocError(
            f"no leaky ReLU has the second moment {second_moment}",
            why=f"a^2 would be {square.evalf(6)}",
            instead="pass the gain 1/sqrt(E f^2) itself, not a slope",
        )
    return sqrt(square)


@dataclass(frozen=True)
class Default:
    """What a library draws: the law of the weights and E b^2 of the biases."""

    weight: WeightLaw
    bias: Expr


def library_default(library: str, fans: Fans) -> Default:
    """Of a dense or convolutional layer made without asking: torch, keras or flax.

    torch: kaiming_uniform(a = sqrt(5)), that is U(-1/sqrt(fan_in), 1/sqrt(fan_in)) for weights and biases:
    sigma_w^2 = 1/3. keras: Glorot uniform, no bias. flax: LeCun truncated normal, corrected, no bias.
    """
    if library == "torch":
        law = kaiming(fans.fan_in, sqrt(5), shape="uniform")
        return Default(law, 1 / (3 * fans.fan_in))
    if library == "keras":
        return Default(uniform(sqrt(3 / fans.of("fan_avg"))), Integer(0))
    if library == "flax":
        return Default(truncated(1 / sqrt(fans.fan_in), in_sigmas=True, corrected=True), Integer(0))
    raise EocError(f"the defaults of {library!r} are unknown", instead="torch | keras | flax")


def balance(fans: Fans, mode: str) -> tuple[Expr, Expr]:
    """(forward, backward) factors of a law with variance 1/fan(mode): 1 where it preserves, on one side at a time."""
    fan = fans.of(mode)
    return fans.fan_in / fan, fans.fan_out / fan


def geometric(fans: Fans) -> Expr:
    """fan_in fan_out/fan_avg^2, at most 1: what averaging the fans costs forward and backward together."""
    smaller, larger = Min(fans.fan_in, fans.fan_out), Max(fans.fan_in, fans.fan_out)
    return smaller * larger / fans.of("fan_avg") ** 2


def _density(x: Expr) -> Expr:
    return Integer(0) if abs(x) == oo else exp(-(x**2) / 2) / sqrt(2 * pi)


def _edge(x: Expr) -> Expr:
    return Integer(0) if abs(x) == oo else x * _density(x)


def _bound(value: Any) -> Expr:
    if value in (float("inf"), float("-inf"), oo, -oo):
        return oo if value > 0 else -oo
    return ratio(value, "bound")


def _positive(value: Any, name: str) -> Expr:
    number = ratio(value, name)
    if not number > 0:
        raise EocError(f"{name} = {value} is not positive", why="it is the size of a weight", instead=f"{name}=0.02")
    return number


def _count(value: Any, name: str) -> Expr:
    number = Fraction(str(value))
    if number.denominator != 1 or number < 1:
        raise EocError(f"{name} = {value} is no count", instead=f"{name}=3")
    return Rational(number.numerator)
