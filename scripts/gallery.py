"""Draws docs/gallery: a portrait of each activation, a comparison sheet, depth scales, depth with random networks.

python scripts/gallery.py [NAME ...] [--folder docs/gallery]
"""

from __future__ import annotations

import argparse
from pathlib import Path

import numpy as np

from derive import Activation, theory
from derive.catalogue import entry
from derive.show.gallery import draw, portrait
from derive.show.phase_curves import depth_figure, lines_figure
from derive.show.phase_plots import save
from derive.show.phase_sheet import sheet, sheet_data

FOLDER = Path(__file__).resolve().parents[1] / "docs" / "gallery"
PORTRAITS = {
    "relu": {}, "leaky_relu": {"a": "0.1"}, "elu": {"alpha": "1"}, "selu": {}, "gelu": {}, "silu": {}, "mish": {},
    "tanh": {}, "erf": {}, "sigmoid": {}, "softplus": {"beta": "1"}, "hardtanh": {"a": "-1", "b": "1"},
    "softsign": {}, "sin": {},
}  # fmt: skip
HEAD = """# Gallery

Drawn by `python scripts/gallery.py` from the toolkit itself. σ_w² is the variance of the weights times fan-in, σ_b²
that of the biases, q the variance of pre-activations, c the correlation of those of two inputs.

The upper panels show what becomes of signals that start at q₀ = 1: where gradients vanish or explode, with contours of
the depth scale of correlations; and the variance that attracts q₀, with the separatrix, the variance from which a
signal explodes, where there is one. The lower panels show one layer's maps, on the edge of chaos at q* = 1 where it has
such a point, with staircases from layer to layer.

`theory("tanh").phase().plot("tanh.svg")` and `eoc phase tanh --plot tanh.svg` draw the upper panels.

[Guessing bias in pictures](guessing-bias.md): its phases, depth, class fractions and gradients.
"""


def portraits(names: list[str], folder: Path) -> None:
    for name in names:
        found = entry(name)
        given = PORTRAITS[name]
        title = found.title if found else name
        title += "".join(f", {key} = {value}" for key, value in given.items())
        figure = draw(portrait(theory(Activation(name, **given)), title))
        save(figure, folder / f"{name}.png", f"portrait of {name}", dpi=80)


def sheets(folder: Path) -> None:
    chosen = ("tanh", "relu", "gelu", "silu", "mish", "selu")
    save(sheet(sheet_data([(name, theory(name)) for name in chosen])), folder / "compare.svg", "comparison sheet")
    d = theory("tanh").phase(sigma_w=(0.6, 3), sigma_b=np.array([0.0, 0.1, 0.3]), n=241)
    axes = [(rf"$\sigma_b$ = {b:g}", d.sigma_w, d.xi_c[i]) for i, b in enumerate(d.sigma_b)]
    figure = lines_figure("tanh: depth scale of correlations", r"$\sigma_w$", r"$\xi_c$ in layers", axes, log=True)
    save(figure, folder / "tanh_depth_scale.svg", "depth scale of tanh")


def depth(folder: Path) -> None:
    """Theory against random networks of width 256 through 30 layers."""
    import torch

    from verify.conditional import kernels
    from verify.stream import stream
    from verify.subject import subject

    layers, width, networks = 30, 256, 400
    panels = [
        {"label": "$q$, variance", "curves": [], "bands": []},
        {"label": "$c$, correlation", "curves": [], "bands": []},
    ]
    t, phi = theory("tanh"), subject("tanh").phi
    gram = [[1.0, 0.2], [0.2, 1.0]]
    l = np.arange(1, layers + 1)
    for i, (w, b) in enumerate((("1", "0.3"), ("1.3", "0.3"), ("2", "0.3"))):
        found = t.depth(gram, layers, w, b)
        name = rf"$\sigma_w$ = {w}, $\sigma_b$ = {b}"
        k = kernels(
            phi, torch.tensor(gram, dtype=torch.float64), width=width, depth=layers, networks=networks,
            sigma_w=float(w), sigma_b=float(b), generator=stream(0, i, 0),
        )  # fmt: skip
        q = k[:, :, 0, 0].numpy()
        c = (k[:, :, 0, 1] / (k[:, :, 0, 0] * k[:, :, 1, 1]).sqrt()).numpy()
        for panel, line, sample in ((panels[0], found.q[:, 0], q), (panels[1], found.c[:, 0, 1], c)):
            panel["curves"].append((name, l, line))
            panel["bands"].append((l, sample.mean(0), sample.std(0) / networks**0.5))
    save(
        depth_figure(
            f"tanh: infinite width (lines), {networks} networks of width {width} with 2 standard errors (bands)", panels
        ),
        folder / "tanh_depth.svg",
        "tanh against depth",
    )


def page(folder: Path) -> str:
    parts = [HEAD]
    parts.append("## Side by side\n\n![edges of chaos and correlation maps](compare.svg)\n")
    parts.append("## Against depth\n\n![variance and correlation against depth](tanh_depth.svg)\n")
    parts.append("![depth scale of correlations](tanh_depth_scale.svg)\n")
    for name in PORTRAITS:
        found = entry(name)
        parts.append(f"## {found.title if found else name}\n\n![{name}]({name}.png)\n")
    return "\n".join(parts)


def main() -> None:
    """Draw everything, or the portraits named."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("names", nargs="*", metavar="NAME")
    parser.add_argument("--folder", type=Path, default=FOLDER)
    given = parser.parse_args()
    given.folder.mkdir(parents=True, exist_ok=True)
    portraits(given.names or list(PORTRAITS), given.folder)
    if not given.names:
        sheets(given.folder)
        depth(given.folder)
        (given.folder / "index.md").write_text(page(given.folder), encoding="utf-8")


if __name__ == "__main__":
    main()
