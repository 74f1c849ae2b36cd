"""The conventions and the kinds of result, as sentences with $mathematics$ for pages."""

from __future__ import annotations

CONVENTIONS = (
    r"A dense layer computes $z_i = \sum_j W_{ij} x_j + b_i$ with independent $W_{ij} \sim "
    r"\mathcal{N}(0, \sigma_w^2/n)$, $n$ the fan-in, and $b_i \sim \mathcal{N}(0, \sigma_b^2)$; $\sigma_w$ and "
    r"$\sigma_b$ are standard deviations ($\sigma_w$ is what PyTorch calls gain). In the limit of infinite width "
    r"the pre-activations $z$ are Gaussian.",
    r"$q$ is the variance of a pre-activation; $q_1$, $q_2$ and $c$ are the variances and the correlation of the "
    r"pre-activations $u$, $v$ of two inputs, $K = c\sqrt{q_1 q_2}$ their covariance and $\Delta = q_1 q_2 - K^2$.",
    r"$\varphi'$ is the derivative away from kinks; a kink, a null set of the line, does not count.",
    r"$V(q) = \sigma_w^2 \operatorname{\mathbb{E}}[\varphi(z)^2] + \sigma_b^2$ is the variance map, "
    r"$\chi(q) = \sigma_w^2 \operatorname{\mathbb{E}}[\varphi'(z)^2]$ the gradient gain and "
    r"$\chi_{\parallel}(q) = V'(q)$ the slope of the variance map, with $z \sim \mathcal{N}(0, q)$.",
    r"A point of the edge of chaos fulfils $V(q^{*}) = q^{*}$ and $\chi(q^{*}) = 1$ jointly; it is stable if "
    r"$|\chi_{\parallel}(q^{*})| < 1$.",
)

BLOCK_CONVENTIONS = (
    CONVENTIONS[0],
    CONVENTIONS[1],
    r"The block is observed at the output of its first layer with weights; where weights stand in branches only, on "
    r"its stream. One turn leads from there back to the same place. $y$ and $y'$ are the same unit of the block's "
    r"output for two inputs.",
    r"$V(q)$ is the variance after one turn, $\chi(q)$ the factor by which the mean square of a gradient grows in one "
    r"turn, and $\chi_{\parallel}(q) = V'(q)$.",
    CONVENTIONS[-1],
)
"""The conventions of a page about a block; CONVENTIONS are those about one activation behind one dense layer."""

KINDS = {
    "EXACT": "an exact formula in elementary functions and erf",
    "SPECIAL": "an exact formula that names special functions",
    "SERIES": "a truncated series with its order and a rigorous bound",
    "INTEGRAL": "an exact formula that contains an unevaluated Gaussian expectation",
    "ENCLOSURE": "a number with a rigorous radius",
    "ESTIMATE": "a sample mean with a standard error",
    "DIVERGENT": "infinite; the condition under which it converges is stated",
    "UNKNOWN": "no answer; what blocked it is named",
}

FUNCTIONS = (
    (r"\Phi\left", r"$\Phi$ is the standard normal distribution function."),
    (
        r"\Phi_2",
        r"$\Phi_2(h, k, \rho)$ is the distribution function of two standard normal variables of correlation $\rho$.",
    ),
    (
        "S_4",
        r"$S_4(\rho_{12}, \rho_{13}, \rho_{14}, \rho_{23}, \rho_{24}, \rho_{34})$ is the mean of the product of the "
        r"signs of four standard normal variables with these correlations.",
    ),
    (r"\mathbf{1}", r"$\mathbf{1}[\,\cdot\,]$ is 1 where the condition holds and 0 elsewhere."),
    (r"atan2", r"$\operatorname{atan2}(y, x)$ is the angle of the point $(x, y)$."),
    (
        r"_{u, v}",
        r"$\operatorname{\mathbb{E}}_{u, v}$ is over the centred Gaussian pair with variances $q_1$, $q_2$ and "
        r"covariance $K$.",
    ),
    (r"\operatorname{erf}", r"$\operatorname{erf}(x) = \frac{2}{\sqrt{\pi}} \int_0^x e^{-t^2}\,dt$."),
)
"""(how it begins in LaTeX, its definition) for what a reader may not know."""


NAMED = (
    (
        "S₄(",
        "S₄(ρ₁₂, ρ₁₃, ρ₁₄, ρ₂₃, ρ₂₄, ρ₃₄) = E sign(z₁)·sign(z₂)·sign(z₃)·sign(z₄), "
        "z standard normal with these correlations",
    ),
)
"""(how it begins in a line of text, its definition) for what a terminal's reader may not know."""


def functions_named(lines: list[str]) -> list[str]:
    """Definitions of the functions that occur in some of the lines of text."""
    return [sentence for mark, sentence in NAMED if any(mark in line for line in lines)]


def functions_used(latex_texts: list[str]) -> list[str]:
    """Definitions of the special symbols that occur in some of the texts."""
    return [sentence for mark, sentence in FUNCTIONS if any(mark in text for text in latex_texts)]
