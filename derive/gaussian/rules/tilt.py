"""Exponentials of quadratics and waves: complete the square."""

from dataclasses import replace

from derive.gaussian.closed import Closed, constant, monomial
from derive.gaussian.closed import angle as turned
from derive.gaussian.linalg import apply as matvec
from derive.gaussian.linalg import determinant, dot, multiply, solve
from derive.gaussian.problem import plus, shifted, times
from derive.gaussian.rule import Outcome, Rule
from derive.gaussian.rules.shift import centre
from derive.gaussian.stops import Blocked, Diverges


def apply(problem, scalars):
    if not problem.quad and (not problem.wave or _felt(problem, problem.cov, scalars)):
        return None
    size, zero, one = len(problem.names), scalars.zero, scalars.one
    quadratic, linear = _split(problem, scalars)
    if any(any(row) for row in quadratic):
        twice = multiply(problem.cov, quadratic, zero)
        matrix = tuple(tuple((one if i == j else zero) - twice[i][j] for j in range(size)) for i in range(size))
        condition = _condition(problem, quadratic, scalars)
        det, cov = solve(matrix, problem.cov, one)
        if cov is None:
            raise Blocked([problem.describe(scalars)])
        scalars.assume_positive(det)
        root = scalars.root(one / det)
    else:
        cov, root, condition = problem.cov, (one, frozenset()), ()
    shift = matvec(cov, linear, zero)
    exponent = dot(linear, shift, zero) / 2
    if not problem.wave or _felt(problem, cov, scalars):  # a wave that a half-space feels stays for later
        centred, constant = centre(replace(problem, cov=cov, quad=()), shift, scalars)
        return Outcome(((monomial(scalars, root[0], root[1], exponent + constant), (centred,)),), condition)
    tilted = replace(problem, cov=cov, quad=(), wave=(), imag=(), phase=None)
    turn = matvec(cov, problem.wave, zero)
    exponent = exponent - dot(problem.wave, turn, zero) / 2
    centred, constant = centre(tilted, shift, scalars)
    factor = monomial(scalars, root[0], root[1], exponent + constant)
    return Outcome(_waves(problem, centred, shift, turn, factor, scalars), condition)


def _felt(problem, cov, scalars) -> bool:
    """Whether the complex shift i cov wave moves a half-space."""
    turn = matvec(cov, problem.wave, scalars.zero)
    vectors = [cdf.vector for cdf in problem.cdfs] + [vector for vector, _, _ in problem.spaces]
    return any(dot(v, turn, scalars.zero) for v in vectors) or any(turn[step.index] for step in problem.steps)


def _waves(problem, centred, shift, turn, factor, scalars):
    """Re e^(i angle) E[(poly + i imag)(y + i turn)]: no half-space feels the turn."""
    zero = scalars.zero
    angle = problem.phase + dot(problem.wave, shift, zero)
    real, imaginary = _turned(shifted(problem.poly, shift, zero), turn, zero)
    second = _turned(shifted(problem.imag, shift, zero), turn, zero)
    real, imaginary = plus(real, times(-scalars.one, second[1]), zero), plus(imaginary, second[0], zero)
    along, across = turned(scalars, angle)
    across = across * constant(scalars, -scalars.one)
    terms = [
        (factor * trig, (replace(centred, poly=poly),))
        for poly, trig in ((real, along), (imaginary, across))
        if poly and trig.terms
    ]
    return tuple(terms) or ((Closed(scalars, {}), (centred,)),)


def _turned(poly, turn, zero):
    """Real and imaginary part of the polynomial at y + i turn."""
    size = len(turn)
    doubled = tuple((key + (0,) * size, c) for key, c in poly)
    result: tuple[dict, dict] = ({}, {})
    for index in range(size):
        if not turn[index]:
            continue
        expanded: dict = {}
        for key, c in doubled:
            power = key[index]
            binomial = 1
            for k in range(power + 1):
                new = list(key)
                new[index], new[size + index] = power - k, k
                expanded[tuple(new)] = expanded.get(tuple(new), zero) + c * binomial * turn[index] ** k
                binomial = binomial * (power - k) // (k + 1)
        doubled = tuple(expanded.items())
    for key, c in doubled:
        order = sum(key[size:])
        sign = -1 if order % 4 in (2, 3) else 1
        target = result[order % 2]
        target[key[:size]] = target.get(key[:size], zero) + c * sign
    return tuple(tuple(sorted(((k, c) for k, c in part.items() if c), reverse=True, key=_key)) for part in result)


def _key(item):
    return item[0]


def _split(problem, scalars):
    """(2A, b) of the exponent z'Az + b.z."""
    size, zero = len(problem.names), scalars.zero
    matrix = [[zero] * size for _ in range(size)]
    linear = [zero] * size
    for key, c in problem.quad:
        places = [i for i, k in enumerate(key) for _ in range(k)]
        if len(places) == 1:
            linear[places[0]] = c
        else:
            i, j = places
            matrix[i][j] = matrix[i][j] + c
            matrix[j][i] = matrix[j][i] + c
    return matrix, linear


def _condition(problem, quadratic, scalars) -> tuple:
    """What keeps the tilted covariance positive definite and does not follow from the assumptions."""
    size, zero, one = len(problem.names), scalars.zero, scalars.one
    found: dict = {}
    subsets = [[i] for i in range(size)] + [list(range(k)) for k in range(2, size + 1)]
    for subset in subsets:
        inner = tuple(
            tuple(
                (one if i == j else zero)
                - dot(problem.cov[i], [quadratic[k][j] if k in subset else zero for k in range(size)], zero)
                for j in subset
            )
            for i in subset
        )
        minor = determinant(inner, one)
        if scalars.sign(minor) in (0, -1):
            raise Diverges(scalars.lower(minor))
        if scalars.sign(minor) is None:
            found[scalars.lower(minor)] = None
    return tuple(found)


RULE = Rule(
    name="tilt",
    order=30,
    statement=r"\mathbb{E}\bigl[e^{z^\top Az+b^\top z}g(z)\bigr]"
    r"=\frac{e^{b^\top\Sigma'b/2}}{\sqrt{\det(I-2\Sigma A)}}\,\mathbb{E}\,g(y+\Sigma'b),"
    r"\quad y\sim\mathcal{N}(0,\Sigma'),\;\Sigma'=(I-2\Sigma A)^{-1}\Sigma,"
    r"\text{ if }\Sigma^{-1}-2A\succ0",
    source="completing the square; for imaginary b the characteristic function",
    apply=apply,
)
