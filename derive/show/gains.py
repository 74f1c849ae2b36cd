"""The document of `eoc gain`: three gains, each with what a deep stack does at it, and PyTorch's number."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from fractions import Fraction
from typing import Any

from derive.show.document import Names, attempt, formula, names_of
from derive.show.values import certified, gains, number, slope_of, symbols_of
from derive.show.wording import alone, results

SCHEMA = "eoc.gain/1"

MEANINGS = {
    "rms": ("root-mean-square gain", "keeps the variance of the pre-activations: V(q) = q"),
    "std": (
        "standard-deviation gain",
        "gives activations the variance q about their mean; the next layer sees the mean as well, so it keeps V(q) = q "
        "only where the mean is zero",
    ),
    "critical": ("χ-critical gain", "keeps the mean square of gradients: χ(q) = 1"),
}

SYMBOLS = {
    "rms": (r"\sqrt{q / \operatorname{\mathbb{E}}%s^{2}}", "√(q/E %s²)"),
    "std": (r"\sqrt{q / \operatorname{Var}%s}", "√(q/Var %s)"),
    "critical": (r"1/\sqrt{%s}", "1/√(%s)"),
}

NOT_SO = {
    "own": "none: the variance map is no multiple of σ_w² plus σ_b², so that no gain can be read off a moment",
    "critical": "none: the gradient gain is no multiple of σ_w² alone",
}


def gain_document(
    theory: Any, question: Mapping[str, Any], title: str, q: Fraction, torch: Any = None
) -> dict[str, Any]:
    """The three gains at variance q with their fixed points (sigma_b = 0), as JSON values.

    torch   None, or {"nonlinearity", "square" (a SymPy expression), "means"} of the same activation in PyTorch
    """
    from sympy import nan, zoo

    import derive

    found, names = results(theory), names_of(theory)
    chosen = gains(theory, found)
    rows = []
    for name, (label, meaning) in MEANINGS.items():
        gain = getattr(chosen, name)
        row = {"id": name, "title": label, "symbol": _symbol(theory, name), "meaning": meaning}
        if name == "critical" and theory.maps.jumps:
            rows.append({**row, "text": "none: the activation jumps, so that χ is infinite at every gain"})
        elif gain is None:
            rows.append({**row, "text": NOT_SO["critical" if name == "critical" else "own"]})
        elif gain.closed.has(zoo, nan):
            rows.append({**row, "text": "none: the activation is constant"})
        elif theory.domains:
            at_q = gain.subs(q=q)
            rows.append({**row, "kind": str(gain.kind), "formula": formula(at_q.closed, names)})
        else:
            value = attempt(lambda gain=gain: gain.number(q=q))
            rows.append(
                {**row, "text": f"no number: {value}"}
                if isinstance(value, str)
                else {**row, **certified(value), **_depth(found, gain.template, q)}
            )
    return {
        "schema": SCHEMA,
        "version": derive.__version__,
        "question": {**question, "q": str(q)},
        "activation": {"title": title, "parameters": [[name, str(domain)] for name, domain in theory.domains]},
        "block": not alone(theory),
        "moments": _moments(theory, found, q) if not theory.domains else [],
        "gains": rows,
        "joint": _joint(theory) if not theory.domains else None,
        "torch": None if torch is None else _torch(theory, found, torch, names, q),
        "leaky_slope": _leaky_slope(found, q) if alone(theory) and not theory.domains else None,
    }


def _symbol(theory: Any, name: str) -> dict[str, str]:
    """The gain as a formula in the moments of phi, of the block's output y, or in chi at sigma_w = 1."""
    y = (r"\varphi", "φ") if alone(theory) else ("y", "y")
    inside = symbols_of(theory)["slope"] if name == "critical" else y
    latex, plain = SYMBOLS[name]
    return {"latex": latex % inside[0], "unicode": plain % inside[1]}


def _joint(theory: Any) -> dict[str, Any]:
    """The points where V(q) = q and chi(q) = 1 hold together without biases, with the gain of each."""
    edge = attempt(lambda: theory.edge_of_chaos(sigma_b=0))
    if isinstance(edge, str):
        return {"points": [], "reason": edge}
    points = [
        {
            "sigma_w": certified(p.sigma_w),
            "q": certified(p.q),
            "stable": p.stable,
            "chi_parallel": certified(p.chi_parallel),
            "order": p.order,
        }
        for p in edge.points
    ]
    return {"points": points, "reason": edge.reason}


def _moments(theory: Any, found: Mapping[str, Any], q: Fraction) -> list[dict[str, Any]]:
    symbols = symbols_of(theory)
    rows = [("mean", found["mean"]), ("second_moment", found["second_moment"]), ("slope", slope_of(found))]
    return [
        number("", "", symbols[name][1], attempt(lambda r=result: r.number(q=q)))
        for name, result in rows
        if result is not None and set(result.arguments) <= {"q"}
    ]


def _torch(
    theory: Any, found: Mapping[str, Any], torch: Mapping[str, Any], names: Names, q: Fraction
) -> dict[str, Any]:
    from sympy import sqrt

    gain = sqrt(torch["square"])
    row = {"nonlinearity": torch["nonlinearity"], "meaning": torch["means"]}
    if theory.domains:
        return {**row, "formula": formula(gain, names)}
    held = replace(found["second_moment"], template=gain, arguments=())
    return {**row, **certified(held.number()), **_depth(found, gain, q)}


def _leaky_slope(found: Mapping[str, Any], q: Fraction) -> dict[str, Any]:
    """The slope a of a leaky ReLU with the same E phi^2: q (1 + a^2)/2 = E phi^2."""
    from sympy import Rational

    second = found["second_moment"]
    square = replace(second, template=2 * second.template / Rational(q.numerator, q.denominator) - 1)
    value = attempt(lambda: square.number(q=q))
    if isinstance(value, str):
        return number("", "a", "a", value)
    if value.lower >= 0:
        return number("", "a", "a", replace(square, template=square.template ** Rational(1, 2)).number(q=q))
    shown = certified(value, 10)["text"]
    reason = f"none: a² would be {shown}" if value.upper < 0 else f"undecided: a² = {shown}"
    return number("", "a", "a", reason)


def _depth(found: Mapping[str, Any], gain: Any, q: Fraction) -> dict[str, Any]:
    """V(q) at this gain with sigma_b = 0, and the fixed point that the variance q is carried to."""
    second = found["second_moment"]
    following = replace(second, template=gain**2 * second.template)
    value = attempt(lambda: following.number(q=q))
    if isinstance(value, str):
        return {"next_variance": value, "fixed_point": {"text": value}}
    return {
        "next_variance": certified(value),
        "fixed_point": _fixed_point(found, gain, q, value),
    }


def _fixed_point(found: Mapping[str, Any], gain: Any, q: Fraction, following: Any) -> dict[str, Any]:
    import flint
    from sympy import Rational

    from derive.depth.edge import zero_everywhere
    from derive.gaussian.numbers import ball, evaluate
    from derive.gaussian.scan import scan
    from derive.program.symbols import Q

    second, slope = found["second_moment"].template, _gain(found)
    with flint.ctx.workprec(140):
        square = evaluate(gain**2, {"q": q}, 30)[0]

        def excess(at: Any, digits: int) -> flint.arb:
            return square * evaluate(second, {"q": at}, digits)[0] - ball(at)

        kept = excess(q, 30).contains(0)
        if zero_everywhere(second, slope):
            return {"text": _scale_invariant(kept, float(following) / float(q))}
        if kept:
            return _described(found, square, ball(q))
        rough = Rational(float(square.mid())) * second - Q
        root, tendency = _carried_to(excess, lambda points: scan(rough, {}, "q", points), q)
        if root is None:
            return {"text": f"none: the variance {tendency}"}
        return _described(found, square, root)


def _scale_invariant(kept: bool, factor: float) -> str:
    if kept:
        return "every variance, marginally stable: χ∥ = 1 (the activation is scale-invariant)"
    return f"none: the variance {'shrinks' if factor < 1 else 'grows'} by the factor {factor:.6g} in each layer"


def _carried_to(excess: Callable[[Any, int], Any], guess: Callable[[list[float]], Any], q: Fraction) -> tuple[Any, str]:
    """The fixed point next to q in the direction in which the variance moves."""
    from derive.depth.roots import sign_changes
    from derive.gaussian.numbers import ball

    up = excess(q, 16) > 0
    roots = sign_changes(excess, guess)
    ahead = [root for root in roots if (root > ball(q) if up else root < ball(q))]
    if ahead:
        return (ahead[0] if up else ahead[-1]), ""
    return None, "grows without bound" if up else "falls to 0"


def _gain(found: Mapping[str, Any]) -> Any:
    """The gradient gain at sigma_w = 1."""
    from derive.program.symbols import SIGMA_W

    slope = slope_of(found)
    return found["chi"].template.xreplace({SIGMA_W: 1}) if slope is None else slope.template


def _described(found: Mapping[str, Any], square: Any, root: Any) -> dict[str, Any]:
    """The fixed point with its stability, gradient gain and root mean square of the activation."""
    from derive.gaussian.numbers import differentiate, evaluate, to_enclosure
    from derive.program.symbols import Q

    second, slope = found["second_moment"].template, _gain(found)
    at = {"q": root}
    parallel = square * evaluate(differentiate(second, Q), at, 20)[0]
    stable = True if abs(parallel) < 1 else False if abs(parallel) > 1 else None
    moment = evaluate(second, at, 20)[0]
    return {
        "text": "",
        "q": certified(to_enclosure(root)),
        "stable": stable,
        "chi_parallel": certified(to_enclosure(parallel)),
        "chi": certified(to_enclosure(square * evaluate(slope, at, 20)[0])),
        "activation_rms": certified(to_enclosure(moment.sqrt())),
    }
