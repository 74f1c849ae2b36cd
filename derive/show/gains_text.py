"""The document of `eoc gain` for terminals."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from rich.console import Group, RenderableType
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from derive.show.text import greek


def short(document: Mapping[str, Any]) -> RenderableType:
    """One line a gain: its name and value."""
    table = _grid()
    for row in document["gains"]:
        table.add_row(row["id"], _value(row))
    return table


def gains_table(document: Mapping[str, Any]) -> RenderableType:
    """Every gain with its meaning, its fixed point and what `calculate_gain` says."""
    q = document["question"]["q"]
    parts: list[RenderableType] = [
        Text(f"{document['activation']['title']}: gains at q = {q} (σ_w with σ_b = 0)", style="bold")
    ]
    if document["moments"]:
        parts.append(
            Text("   ".join(f"{row['symbol']['unicode']} = {row['text']}" for row in document["moments"]), style="dim")
        )
    for row in document["gains"]:
        parts += [
            Text(),
            Text.assemble(
                (f"{row['title']} ", "bold"), (row["symbol"]["unicode"], "dim"), " = ", (_value(row), "bold")
            ),
        ]
        parts += [Padding(Text(line), (0, 0, 0, 2)) for line in (row["meaning"], *_depth(row, q))]
    parts += _joint(document["joint"])
    if not document["block"]:
        parts += [Text(), *_torch(document, q)]
    if document["leaky_slope"]:
        parts.append(Text(f"leaky ReLU slope a with the same E φ²: {document['leaky_slope']['text']}"))
    if document["activation"]["parameters"]:
        name, domain = document["activation"]["parameters"][0]
        parts.append(Text(f"{name} in {domain}; numbers, fixed points and stability: --set {name}=...", style="dim"))
    return Group(*parts)


def _joint(joint: Mapping[str, Any] | None) -> list[RenderableType]:
    """The edge of chaos without biases: the gain that keeps both the variance and the gradients."""
    if joint is None:
        return []
    lines = [
        Text(),
        Text("without biases, V(q*) = q* and χ(q*) = 1 together (the edge of chaos at σ_b = 0)", style="bold"),
    ]
    for point in joint["points"]:
        open_word = "χ∥ = 1" if point["order"] else "χ∥ = 1, higher orders decide"
        word = {True: "stable", False: "unstable", None: open_word}[point["stable"]]
        lines.append(Text(f"  σ_w = {point['sigma_w']['text']} at q* = {point['q']['text']}, {word}"))
        if point["order"]:
            lines.append(Text(f"  {greek(point['order'])}"))
    if joint["reason"]:
        lines.append(Text(f"  {greek(joint['reason'])}"))
    return list(lines)


def _value(row: Mapping[str, Any]) -> str:
    return row["formula"]["unicode"] if "formula" in row else row["text"]


def _depth(row: Mapping[str, Any], q: str) -> list[str]:
    if "fixed_point" not in row:
        return []
    following, point = row["next_variance"], row["fixed_point"]
    if isinstance(following, str):
        return [f"V({q}): {following}"]
    lines = [f"V({q}) = {following['text']}"]
    if point["text"]:
        return [*lines, f"fixed point: {point['text']}"]
    word = {True: "stable", False: "unstable", None: "marginal or undecided to first order"}[point["stable"]]
    lines.append(f"fixed point: q* = {point['q']['text']}, {word} (χ∥ = {point['chi_parallel']['text']})")
    lines.append(f"there: gradient gain χ = {point['chi']['text']}, activation rms = {point['activation_rms']['text']}")
    return lines


def _torch(document: Mapping[str, Any], q: str) -> list[RenderableType]:
    row = document["torch"]
    if row is None:
        return [
            Text("torch.nn.init.calculate_gain: knows no such nonlinearity (it raises; 'relu' is not a substitute)")
        ]
    head = f"torch.nn.init.calculate_gain({row['nonlinearity']!r}) = {_value(row)}: {row['meaning']}"
    return [Text(head), *(Padding(Text(line), (0, 0, 0, 2)) for line in _depth(row, q))]


def _grid() -> Table:
    table = Table(box=None, show_header=False, padding=(0, 2, 0, 0))
    table.add_column(no_wrap=True)
    return table
