"""Sums and constants leave the expectation."""

from derive.gaussian.rule import Rule

RULE = Rule(
    name="linearity",
    order=-10,
    statement=r"\mathbb{E}\sum_ic_if_i(z)=\sum_ic_i\,\mathbb{E}f_i(z)",
    source="linearity of the integral",
    apply=lambda problem, scalars: None,  # acts on the integrand before there is a problem: derive.gaussian.engine
)
