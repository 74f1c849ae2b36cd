"""What a page calls the results: of one activation behind one Dense (phi), or of a block (its output y)."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any


@dataclass(frozen=True)
class Term:
    """A quantity's symbol in LaTeX and as text, and its meaning in a sentence with $mathematics$."""

    latex: str
    plain: str
    meaning: str


ACTIVATION = {
    "mean": Term(
        r"\operatorname{\mathbb{E}}\left[\varphi(z)\right]",
        "E φ(z)",
        r"Mean of the activation, $z \sim \mathcal{N}(0, q)$.",
    ),
    "second_moment": Term(
        r"\operatorname{\mathbb{E}}\left[\varphi(z)^{2}\right]", "E φ(z)²", "Mean square of the activation."
    ),
    "derivative_second_moment": Term(
        r"\operatorname{\mathbb{E}}\left[\varphi'(z)^{2}\right]",
        "E φ'(z)²",
        "Mean square of the derivative away from kinks.",
    ),
    "covariance_map": Term(
        r"\operatorname{\mathbb{E}}\left[\varphi(u)\,\varphi(v)\right]",
        "E φ(u)φ(v)",
        r"Second moment of the activations of two inputs, $K = c\sqrt{q_1 q_2}$.",
    ),
    "variance_map": Term(r"V(q)", "V(q)", "Variance of the next pre-activation."),
    "correlation_map": Term(
        r"C(q_{1}, q_{2}, c)", "C(q₁, q₂, c)", "Correlation of the next pre-activations of two inputs."
    ),
    "chi": Term(r"\chi(q)", "χ(q)", "Factor by which the mean square of a gradient grows in one layer."),
    "chi_parallel": Term(
        r"\chi_{\parallel}(q)",
        "χ∥(q)",
        r"Slope $V'(q)$ of the variance map, with the boundary terms of kinks and jumps.",
    ),
}

BLOCK = {
    **ACTIVATION,
    "mean": Term(
        r"\operatorname{\mathbb{E}}\left[y\right]",
        "E y",
        "Mean of a unit $y$ of the block's output; $q$ is the variance where the block is observed.",
    ),
    "second_moment": Term(
        r"\operatorname{\mathbb{E}}\left[y^{2}\right]", "E y²", "Mean square of a unit of the block's output."
    ),
    "unit_gain": Term(
        r"\chi_{1}(q)", "χ₁(q)", r"The gradient gain at $\sigma_w = 1$: $\chi(q) = \sigma_w^{2}\,\chi_{1}(q)$."
    ),
    "covariance_map": Term(
        r"\operatorname{\mathbb{E}}\left[y\,y'\right]",
        "E y·y'",
        r"Second moment of the outputs of two inputs, $K = c\sqrt{q_1 q_2}$.",
    ),
    "variance_map": Term(r"V(q)", "V(q)", "Variance after one turn round the block."),
    "correlation_map": Term(
        r"C(q_{1}, q_{2}, c)", "C(q₁, q₂, c)", "Correlation of two inputs after one turn round the block."
    ),
    "chi": Term(r"\chi(q)", "χ(q)", "Factor by which the mean square of a gradient grows in one turn."),
}


def alone(theory: Any) -> bool:
    """Whether the block is one activation behind one Dense."""
    return theory._only_phi() is not None


def terms(theory: Any) -> dict[str, Term]:
    """The words for this theory's results."""
    return ACTIVATION if alone(theory) else BLOCK


def results(theory: Any) -> dict[str, Any]:
    """The results of a theory in the order of a page.

    Of an activation E phi'^2 stands among them; of a block the gradient gain at sigma_w = 1, where its gradient gain
    is proportional to sigma_w^2.
    """
    named: dict[str, Any] = {"mean": theory.mean, "second_moment": theory.second_moment}
    slope = _slope(theory)
    if slope is not None:
        named["derivative_second_moment" if alone(theory) else "unit_gain"] = slope
    named |= {"covariance_map": theory.covariance_map, "variance_map": theory.variance_map}
    named |= {"correlation_map": theory.correlation_map, "chi": theory.chi, "chi_parallel": theory.chi_parallel}
    return named


def _slope(theory: Any) -> Any:
    from derive.gaussian.node import single
    from derive.program.symbols import SIGMA_B, SIGMA_W

    chi = theory.chi
    if alone(theory):
        body = single(theory.activation.dphi**2)
        return type(chi)(body, ("q",), chi.domains, "mean squared derivative", "", chi.notes)
    if not chi.template.is_finite and chi.template.is_number:
        return None
    per_unit = chi.template.expand(deep=False).coeff(SIGMA_W, 2)
    rest = (chi.template - SIGMA_W**2 * per_unit).expand(deep=False)
    if per_unit == 0 or per_unit.has(SIGMA_W, SIGMA_B) or rest != 0:
        return None
    law = tuple(name for name in chi.arguments if name != "sigma_w")
    return replace(chi, template=per_unit, arguments=law, title="gradient gain at unit weight variance", symbol="")


def weighted(theory: Any) -> bool:
    """Whether V(q) = sigma_w^2 E y^2 + sigma_b^2, so that a gain can be read off the second moment."""
    from derive.program.symbols import SIGMA_B, SIGMA_W

    second = theory.second_moment.template
    if second.has(SIGMA_W, SIGMA_B):
        return False
    return (theory.variance_map.template - SIGMA_B**2 - SIGMA_W**2 * second).expand(deep=False) == 0


__all__ = ["ACTIVATION", "BLOCK", "Term", "alone", "results", "terms", "weighted"]
