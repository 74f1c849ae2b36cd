"""A wave on one half-space: the normal distribution function at a complex argument, by its real and imaginary part."""

from derive.gaussian.closed import Closed, angle, constant, monomial
from derive.gaussian.linalg import apply as matvec
from derive.gaussian.linalg import dot
from derive.gaussian.orthants import ratio
from derive.gaussian.rule import Outcome, Rule
from derive.gaussian.special import CosineNormalCdf, Dawson, SineNormalCdf


def apply(problem, scalars):
    if not problem.wave or len(problem.steps) != 1 or problem.cdfs or problem.spaces or problem.quad:
        return None
    if any(any(key) for key, _ in problem.poly + problem.imag):
        return None
    (step,) = problem.steps
    zero, variance = scalars.zero, problem.cov[step.index][step.index]
    turn = matvec(problem.cov, problem.wave, zero)
    # wave . z = (cov/var) w + r with r independent of w: r leaves exp(-Var(r)/2)
    cross = turn[step.index]
    rest = (dot(problem.wave, turn, zero) - cross * cross / variance) / 2
    even, odd = _half_line(cross, variance, -step.side * step.threshold, scalars)
    real, imag = (sum((c for _, c in poly), zero) for poly in (problem.poly, problem.imag))
    along, across = angle(scalars, problem.phase)
    side = constant(scalars, scalars.field(-step.side))
    first, second = constant(scalars, real), constant(scalars, imag)
    minus = constant(scalars, -scalars.one)
    value = along * (first * even + minus * side * second * odd)
    value = value + minus * across * (second * even + side * first * odd)
    return Outcome(((monomial(scalars, scalars.one, exponent=-rest) * value, ()),))


def _half_line(cross, variance, threshold, scalars) -> tuple[Closed, Closed]:
    """E cos(b z) 1{z < h} and E sin(b z) 1{z < h}, z standard normal, b = cross/s, h = threshold/s, s**2 = variance."""
    if not threshold:
        even = monomial(scalars, scalars.one / 2, exponent=-cross * cross / (2 * variance))
        factor, radicals = scalars.root(scalars.one / scalars.pi)
        sign, argument = _signed(ratio(cross, 2 * variance, scalars))
        return even, monomial(scalars, -sign * factor, radicals, special=Dawson(argument))
    h, (sign, b) = ratio(threshold, variance, scalars), _signed(ratio(cross, variance, scalars))
    odd = monomial(scalars, scalars.field(sign), special=SineNormalCdf(h, b))
    return monomial(scalars, scalars.one, special=CosineNormalCdf(h, b)), odd


def _signed(expr):
    return (-1, -expr) if expr.could_extract_minus_sign() else (1, expr)


RULE = Rule(
    name="wave_half_line",
    order=90,
    statement=r"\mathbb{E}\bigl[e^{i\omega^\top z}\mathbf{1}\{w<t\}\bigr]=e^{-(\omega^\top\Sigma\omega-b^2)/2}"
    r"\bigl(\Phi_{\cos}(t/s,b)+i\,\Phi_{\sin}(t/s,b)\bigr),\quad s^2=\operatorname{Var}w,\;"
    r"b=\operatorname{Cov}(w,\omega^\top z)/s,\;\Phi_{\cos}+i\,\Phi_{\sin}=e^{-b^2/2}\,\Phi(t/s-ib)",
    source="DLMF 7.2 (error and Dawson functions of a complex argument)",
    apply=apply,
)
