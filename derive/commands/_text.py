"""What commands share: TEXT arguments that may begin with a minus sign, --set, --domain, -q, --no-cache."""

from __future__ import annotations

import re
import sys
from collections.abc import Callable
from fractions import Fraction
from typing import Any

import click

from derive.records import EocError, Interval


class TextCommand(click.Command):
    """A command whose TEXT argument may begin with `-`: what is no known option is text."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        return super().parse_args(ctx, self._options_first(ctx, list(args)))

    def _options_first(self, ctx: click.Context, args: list[str]) -> list[str]:
        takes_value = {
            name: isinstance(parameter, click.Option) and not (parameter.is_flag or parameter.count)
            for parameter in self.get_params(ctx)
            for name in (*parameter.opts, *parameter.secondary_opts)
        }
        options: list[str] = []
        texts: list[str] = []
        while args:
            arg = args.pop(0)
            if arg == "--":
                texts += args
                break
            if arg in takes_value:
                options.append(arg)
                if takes_value[arg] and args:
                    options.append(args.pop(0))
            elif re.match(r"--[a-z][a-z-]+(=|$)", arg):
                options.append(arg)
            else:
                texts.append(arg)
        return [*options, "--", *texts]


def text_argument(function: Callable[..., Any]) -> Callable[..., Any]:
    """TEXT: a formula, a catalogue name or a block; `-` reads standard input."""
    return click.argument("text", metavar="TEXT", callback=read_text)(function)


def common_options(function: Callable[..., Any]) -> Callable[..., Any]:
    """The options of every command."""
    function = click.option("--no-cache", is_flag=True, help="Neither read nor write the on-disk cache.")(function)
    return click.option("-q", "quiet", is_flag=True, help="Print nothing but what was asked for.")(function)


def value_options(function: Callable[..., Any]) -> Callable[..., Any]:
    """--set and --domain."""
    function = click.option(
        "--domain", "domains", multiple=True, metavar="a=0:1", callback=_read_domains,
        help="The domain of a parameter: open, or closed with brackets (a=[0:1]).",
    )(function)  # fmt: skip
    return click.option(
        "--set", "values", multiple=True, metavar="a=1/3", callback=_read_values, help="Give a parameter a value."
    )(function)


def read_text(ctx: click.Context, parameter: click.Parameter, text: str) -> str:
    """A TEXT argument; standard input for `-`."""
    if text != "-":
        return text
    read = sys.stdin.read().strip()
    if not read:
        raise EocError("standard input is empty", why="TEXT is -, so the formula is read from standard input")
    return read


def _split(item: str, option: str) -> tuple[str, str]:
    name, equals, value = item.partition("=")
    if not equals or not name.strip() or not value.strip():
        raise EocError(
            f"{option} takes NAME=VALUE",
            where=item,
            instead=f"{option} a=1/3" if option == "--set" else f"{option} a=0:1",
        )
    return name.strip(), value.strip()


def exact(text: str, where: str = "") -> Fraction:
    """A decimal or fraction as an exact number. Raises EocError."""
    try:
        if len(text) > 100 or abs(int(([*re.split("[eE]", text), "0"])[1])) > 400:
            raise ValueError
        return Fraction(text)
    except (ValueError, ZeroDivisionError):
        raise EocError(
            f"{text[:60]!r} is no number", where=where, instead="a decimal or a fraction: 0.25, 1e-3, 1/3"
        ) from None


def _read_values(ctx: click.Context, parameter: click.Parameter, items: tuple[str, ...]) -> dict[str, Fraction]:
    pairs = [_split(item, "--set") for item in items]
    for name, _ in pairs:
        if sum(name == other for other, _ in pairs) > 1:
            raise EocError(f"the parameter {name!r} is set twice")
    return {name: exact(value, f"--set {name}={value}") for name, value in pairs}


def _read_domains(ctx: click.Context, parameter: click.Parameter, items: tuple[str, ...]) -> dict[str, Interval]:
    return {name: read_interval(value) for name, value in (_split(item, "--domain") for item in items)}


def read_interval(text: str) -> Interval:
    """`0:1`, `0:`, `:1`, with brackets for closed ends: `[0:1)`. Raises EocError."""
    match = re.fullmatch(r"([\[(]?)([^:\[\]()]*)[:,]([^:\[\]()]*)([\])]?)", text.replace(" ", ""))
    if not match:
        raise EocError(f"{text!r} is no interval", instead="0:1 (open), [0:1] (closed), 0: (all positive numbers)")
    left, lower, upper, right = match.groups()
    low = float("-inf") if lower in ("", "-inf", "-oo") else exact(lower, text)
    high = float("inf") if upper in ("", "inf", "oo") else exact(upper, text)
    if low > high or (low == high and not (left == "[" and right == "]")):
        raise EocError(f"the interval {text!r} is empty", instead="the smaller end comes first: 0:1")
    return Interval(low, high, left != "[" or low == float("-inf"), right != "]" or high == float("inf"))
