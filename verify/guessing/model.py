"""The guessing bias of a user's model on a user's data, layer by layer and over fresh initialisations."""

from __future__ import annotations

import copy
from collections.abc import Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from derive.depth.bias.guess import Classes, TwoClasses
from derive.records import EocError
from verify.guessing.data import digits
from verify.guessing.estimate import LayerBias, layer_bias
from verify.guessing.gradients import MeasuredGradients, class_gradients
from verify.guessing.inputs import checked_model, counted, fitting, taken
from verify.guessing.law import share_test

if TYPE_CHECKING:
    import torch
    from torch import nn

MOST_UNITS = 4096
"""Units of a layer that are looked at."""


@dataclass(frozen=True, eq=False)
class BiasReport:
    """What an untrained model prefers.

    layers      the drift ratio of every linear and convolutional layer's output, of the model as given
    fractions   (networks, classes): shares of the inputs assigned to each class, one row an initialisation; the model
                as given is the first row
    inputs      how many inputs were seen
    gamma       the mean drift ratio of the output over the initialisations, and its standard error
    gradients   squared gradients by class at every layer, of the model as given
    ks          p-value of Kolmogorov-Smirnov: shares of the first class over the initialisations against the law for
                Gaussian outputs with this gamma (which is estimated from them, so that large values say little); NaN
                for fewer than eight
    Kind: ESTIMATE.
    """

    layers: tuple[LayerBias, ...]
    fractions: np.ndarray
    inputs: int
    gamma: tuple[float, float]
    gradients: MeasuredGradients
    ks: float

    @property
    def largest(self) -> np.ndarray:
        """The largest class share of each initialisation."""
        return self.fractions.max(1)

    @property
    def predicted_largest(self) -> float:
        """E max G for Gaussian outputs with this gamma: larger than what is measured where outputs are not Gaussian."""
        k, gamma = self.fractions.shape[1], max(self.gamma[0], 0.0)
        return TwoClasses(gamma).mean_largest if k == 2 else Classes(gamma, k).mean_largest

    def __str__(self) -> str:
        rows = [f"{'layer':24} {'gamma':>10} {'error':>9} {'c':>7} {'spread':>7}"]
        rows += [
            f"{r.name[:24]:24} {r.gamma:10.4g} {r.gamma_error:9.2g} {r.c_bar:7.4f} {r.spread:7.4f}" for r in self.layers
        ]
        share = self.largest
        rows.append(
            f"{self.inputs} inputs, {len(share)} initialisations: largest class {share.mean():.3f} "
            f"(model as given {share[0]:.3f}, Gaussian outputs {self.predicted_largest:.3f}; "
            f"shares as for those: p = {self.ks:.2g})"
        )
        rows.append(str(self.gradients))
        return "\n".join(rows)

    def plot(self, path: Any = None) -> Any:
        """The drift ratio by layer, and the largest class share over initialisations."""
        from derive.show.phase_plots import new_figure, save

        figure = new_figure(10.0, 3.3)
        left, right, pull = figure.subplots(1, 3)
        at = np.arange(1, len(self.layers) + 1)
        left.errorbar(at, [r.c_bar for r in self.layers], [r.error for r in self.layers], marker="o", capsize=2)
        for axes in (left, pull):
            axes.locator_params(axis="x", integer=True)
        left.set(xlabel="layer", ylabel="mean correlation c = γ/(1+γ)")
        right.hist(self.largest, bins=20, range=(0, 1))
        right.axvline(1 / self.fractions.shape[1], color="grey", linestyle="dashed")
        right.axvline(self.predicted_largest, color="black")
        right.set(xlabel="largest class share of an untrained network", ylabel="initialisations")
        deep = np.arange(1, len(self.gradients.layers) + 1)
        pull.plot(deep, self.gradients.ratio, marker="o")
        pull.axhline(self.gradients.predicted_ratio, color="black")
        pull.set(xlabel="layer", ylabel="squared gradient: favoured/others")
        if path is not None:
            save(figure, path, "guessing bias of a model")
        return figure


def bias(
    model: nn.Module,
    loader: Iterable[Any] | torch.Tensor | None = None,
    *,
    initialisations: int = 50,
    inputs: int = 1000,
    seed: int = 0,
) -> BiasReport:
    """The guessing bias of a model with the data of a loader.

    model            any torch module with outputs (batch, classes); it is not changed
    loader           batches of inputs or (inputs, labels), or one tensor of inputs; without it scikit-learn's digits,
                     64 centred pixels an input (`verify.guessing.data.digits`)
    initialisations  fresh draws of a copy's weights by each layer's own `reset_parameters`, the model as given included
    inputs           inputs looked at

    With labels the gradients by class are those of the inputs of a class, without them every input is asked with every
    label. Raises EocError for outputs that are no class scores, for labels that are no classes, for inputs that are
    not finite or all alike, for a model without layers, and without scikit-learn where there is no loader.
    """
    import torch

    initialisations, seed = counted("initialisations", initialisations, 1), counted("seed", seed, 0) % 2**63
    x, labels = taken([digits()] if loader is None else loader, counted("inputs", inputs, 2))
    own = copy.deepcopy(checked_model(model)).eval().requires_grad_(True)
    parameter = next(own.parameters())
    x = x.to(parameter) if x.is_floating_point() or not _has_tokens(own) else x.to(parameter.device)
    fitting(own, x, loader is None)
    with torch.random.fork_rng():
        torch.manual_seed(seed)
        found, scores = _activations(own, x)
        if bool((scores == scores[0]).all()):
            raise EocError("all inputs have the same outputs", why="the drift ratio is over what differs between them")
        layers = tuple(layer_bias(name, y) for name, y in found.items())
        gradients = class_gradients(own, x, labels)
        rows, ratios = [_share(scores)], []
        ratios.append(_moments(scores))
        for _ in range(initialisations - 1):
            for part in own.modules():
                reset = getattr(part, "reset_parameters", None)
                if callable(reset):
                    reset()
            with torch.no_grad():
                scores = own(x)
            rows.append(_share(scores))
            ratios.append(_moments(scores))
    mu, sy = np.array(ratios).T
    gamma = float(mu.sum() / sy.sum())
    error = float(np.std(mu - gamma * sy, ddof=1) / np.sqrt(len(mu)) / sy.mean()) if len(mu) > 1 else float("nan")
    shares = np.stack(rows)
    ks = float("nan")
    if len(shares) >= 8:
        ks = share_test(shares[:, 0], max(gamma, 0.0), shares.shape[1], len(x), seed, centres=100_000).ks
    return BiasReport(layers, shares, len(x), (gamma, error), gradients, ks)


def _has_tokens(model: nn.Module) -> bool:
    from torch import nn

    return any(isinstance(part, (nn.Embedding, nn.EmbeddingBag)) for part in model.modules())


def _activations(model: nn.Module, x: torch.Tensor) -> tuple[dict[str, np.ndarray], torch.Tensor]:
    """Outputs of every layer with weights, flattened to (inputs, units), and the model's output."""
    import torch
    from torch import nn

    found: dict[str, np.ndarray] = {}
    kinds = (nn.Linear, nn.Conv1d, nn.Conv2d, nn.Conv3d)

    def keep(name: str) -> Any:
        def hook(_: Any, __: Any, output: torch.Tensor) -> None:
            flat = output.detach().reshape(len(output), -1).double()
            if len(flat) == len(x) and name not in found:
                stride = -(-flat.shape[1] // MOST_UNITS)
                found[name] = flat[:, ::stride].cpu().numpy()

        return hook

    handles = [
        m.register_forward_hook(keep(name or "model")) for name, m in model.named_modules() if isinstance(m, kinds)
    ]
    fast = torch.backends.mha.get_fastpath_enabled()
    torch.backends.mha.set_fastpath_enabled(False)  # it passes by the layers inside a transformer, and their hooks
    try:
        with torch.no_grad():
            scores = model(x)
    finally:
        torch.backends.mha.set_fastpath_enabled(fast)
        for handle in handles:
            handle.remove()
    return found, scores


def _share(scores: torch.Tensor) -> np.ndarray:
    return np.bincount(scores.argmax(1).cpu().numpy(), minlength=scores.shape[1]) / len(scores)


def _moments(scores: torch.Tensor) -> tuple[float, float]:
    """(variance of the centres between classes, of the signal), unbiased; what all scores share is no preference."""
    y = scores.detach().double().cpu().numpy()
    n, k = y.shape
    contrast = y - y.mean(1, keepdims=True)
    centre = contrast.mean(0)
    inner = float(((contrast - centre) ** 2).sum() / (n - 1) / (k - 1))
    return float((centre**2).sum() / (k - 1)) - inner / n, inner


__all__ = ["BiasReport", "bias"]
