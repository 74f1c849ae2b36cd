"""What each head of a formula's tree means, once in mpmath and once in torch.

Written from the definitions alone; nothing is taken from `derive.program.operations`, so that the two disagree
when either is wrong.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import torch


def exact_heads(mp: Any) -> dict[str, Callable]:
    """Heads to functions of mpmath numbers in the context `mp`."""
    half = mp.mpf(1) / 2

    def softplus(x):
        return max(x, mp.zero) + mp.log1p(mp.exp(-abs(x)))

    return {
        "add": lambda *a: mp.fsum(a),
        "sub": lambda a, b: a - b,
        "mul": lambda *a: mp.fprod(a),
        "div": lambda a, b: a / b,
        "pow": lambda a, b: mp.power(a, b),
        "neg": lambda a: -a,
        "lt": lambda a, b: a < b,
        "le": lambda a, b: a <= b,
        "gt": lambda a, b: a > b,
        "ge": lambda a, b: a >= b,
        "eq": lambda a, b: a == b,
        "ne": lambda a, b: a != b,
        "and": lambda *a: all(a),
        "or": lambda *a: any(a),
        "not": lambda a: not a,
        "exp": mp.exp,
        "expm1": mp.expm1,
        "log": mp.log,
        "log1p": mp.log1p,
        "sqrt": mp.sqrt,
        "sin": mp.sin,
        "cos": mp.cos,
        "tan": mp.tan,
        "sec": mp.sec,
        "csc": mp.csc,
        "cot": mp.cot,
        "asin": mp.asin,
        "acos": mp.acos,
        "atan": mp.atan,
        "atan2": mp.atan2,
        "sinh": mp.sinh,
        "cosh": mp.cosh,
        "tanh": mp.tanh,
        "sech": mp.sech,
        "csch": mp.csch,
        "coth": mp.coth,
        "asinh": mp.asinh,
        "acosh": mp.acosh,
        "atanh": mp.atanh,
        "erf": mp.erf,
        "erfc": mp.erfc,
        "erfcx": lambda x: mp.exp(x * x) * mp.erfc(x),
        "normal_cdf": lambda x: half * mp.erfc(-x / mp.sqrt(2)),
        "normal_pdf": lambda x: mp.exp(-x * x / 2) / mp.sqrt(2 * mp.pi),
        "sigmoid": lambda x: 1 / (1 + mp.exp(-x)),
        "softplus": softplus,
        "abs": abs,
        "sign": mp.sign,
        "step": lambda x: mp.one if x > 0 else half if x == 0 else mp.zero,
        "max": max,
        "min": min,
        "clip": lambda x, low, high: min(max(x, low), high),
        "sinc": lambda x: mp.sin(x) / x if x != 0 else mp.one,
    }


def larger(x: Any, y: Any) -> Any:
    """The larger of two tensors; forward-mode derivatives of torch.maximum run in Python and take far longer."""
    return y.where((x < y) | y.isnan(), x)


def smaller(x: Any, y: Any) -> Any:
    """The smaller of two tensors."""
    return y.where((x > y) | y.isnan(), x)


def torch_heads() -> dict[str, Callable]:
    """Heads to functions of torch tensors; every argument is a tensor of one dtype (a scalar has no axes)."""
    import torch

    def fold(function):
        def apply(first, *rest):
            for other in rest:
                first = function(first, other)
            return first

        return apply

    def step(x):
        return torch.where(x > 0, 1.0, torch.where(x == 0, 0.5, 0.0)).to(x.dtype)

    return {
        "add": fold(torch.add),
        "sub": torch.sub,
        "mul": fold(torch.mul),
        "div": torch.div,
        "pow": torch.pow,
        "neg": torch.neg,
        "lt": torch.lt,
        "le": torch.le,
        "gt": torch.gt,
        "ge": torch.ge,
        "eq": torch.eq,
        "ne": torch.ne,
        "and": fold(torch.logical_and),
        "or": fold(torch.logical_or),
        "not": torch.logical_not,
        "exp": torch.exp,
        "expm1": torch.expm1,
        "log": torch.log,
        "log1p": torch.log1p,
        "sqrt": torch.sqrt,
        "sin": torch.sin,
        "cos": torch.cos,
        "tan": torch.tan,
        "sec": lambda x: torch.reciprocal(torch.cos(x)),
        "csc": lambda x: torch.reciprocal(torch.sin(x)),
        "cot": lambda x: torch.reciprocal(torch.tan(x)),
        "asin": torch.asin,
        "acos": torch.acos,
        "atan": torch.atan,
        "atan2": torch.atan2,
        "sinh": torch.sinh,
        "cosh": torch.cosh,
        "tanh": torch.tanh,
        "sech": lambda x: torch.reciprocal(torch.cosh(x)),
        "csch": lambda x: torch.reciprocal(torch.sinh(x)),
        "coth": lambda x: torch.reciprocal(torch.tanh(x)),
        "asinh": torch.asinh,
        "acosh": torch.acosh,
        "atanh": torch.atanh,
        "erf": torch.erf,
        "erfc": torch.erfc,
        "erfcx": torch.special.erfcx,
        "sigmoid": torch.sigmoid,
        "abs": torch.abs,
        "sign": torch.sign,
        "step": step,
        "max": fold(larger),
        "min": fold(smaller),
        "clip": lambda x, low, high: smaller(larger(x, low), high),
        **_smooth_heads(),
    }


@cache
def _smooth_heads() -> dict[str, Callable]:
    """Heads whose formula has constants: torch differentiates those forward in Python, and loads its compiler first."""
    import torch

    def density(x: torch.Tensor) -> torch.Tensor:
        return torch.exp(-x * x / 2) * 0.3989422804014327

    def sinc(x: torch.Tensor) -> torch.Tensor:
        return torch.special.sinc(x / 3.141592653589793)

    return {
        "normal_cdf": differentiable(lambda x: 0.5 * torch.erfc(-0.7071067811865476 * x), density),
        "normal_pdf": differentiable(density, lambda x: -x * density(x)),
        "softplus": differentiable(lambda x: torch.logaddexp(x, torch.zeros_like(x)), torch.sigmoid),
        "sinc": differentiable(sinc, lambda x: torch.where(x.abs() < 1e-3, -x / 3, (torch.cos(x) - sinc(x)) / x)),
    }


def differentiable(
    value: Callable[[torch.Tensor], torch.Tensor], slope: Callable[[torch.Tensor], torch.Tensor]
) -> Callable[[torch.Tensor], torch.Tensor]:
    """An elementwise function of torch with the given derivative, forward and backward, once."""
    import torch

    class Given(torch.autograd.Function):
        """The function."""

        @staticmethod
        def forward(x: torch.Tensor) -> torch.Tensor:
            return value(x)

        @staticmethod
        def setup_context(ctx: Any, inputs: Any, output: torch.Tensor) -> None:
            ctx.save_for_backward(*inputs)
            ctx.save_for_forward(*inputs)

        @staticmethod
        def jvp(ctx: Any, *tangents: Any) -> torch.Tensor:
            return tangents[0] * slope(ctx.saved_tensors[0])

        @staticmethod
        def backward(ctx: Any, *gradients: torch.Tensor) -> torch.Tensor:
            return gradients[0] * slope(ctx.saved_tensors[0])

    return Given.apply
