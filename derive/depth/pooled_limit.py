"""The end of the edge of chaos at q -> 0 behind a largest of units."""

from __future__ import annotations

from sympy import Expr, Heaviside, limit, simplify

from derive.gaussian.answer import answer
from derive.gaussian.maxima.contest import Contest, contest
from derive.gaussian.maxima.recognise import Largest, exchangeable, recognise
from derive.gaussian.node import GaussianE, single
from derive.gaussian.numbers import outermost
from derive.program.symbols import Q, X
from derive.records import Unsupported


def pooled(*parts: Expr) -> bool:
    """Whether an expectation is over several units."""
    return any(isinstance(node, GaussianE) and node.cov.rows > 1 for part in parts for node in outermost(part))


def common_limit(second: Expr, slope: Expr) -> Expr | None:
    """lim E phi'^2 as q -> 0 where it is lim E phi^2/q too, else None: only then V(q) = q and chi = 1 meet at q = 0.

    The largest of k units is sqrt(q) times that of standard ones, M: with phi(x)^2/x^2 and phi'(x)^2 tending to a
    on the right and b on the left of 0 the two limits are E M^2 (a 1{M > 0} + b 1{M < 0}) and the same without M^2.
    They are equal for two units and a = b (E M^2 = 1), and not for three (E M^2 = 1.276).

    Raises Unsupported where the limits are not known in closed form.
    """
    sizes = [_limit(expr, order) for expr, order in ((second, 2), (slope, 0))]
    return sizes[1] if sizes[1].is_finite and simplify(sizes[0] - sizes[1]) == 0 else None


def _rising(found: Contest | None) -> Largest | None:
    """The largest of units where what is compared rises through 0: then the largest one wins next to q = 0."""
    if found is None or not all(limit(found.rank.diff(X), X, 0, side).is_positive for side in "+-"):
        return None
    return Largest(found.body, found.k, found.of_one)


def _limit(expr: Expr, order: int) -> Expr:
    nodes = outermost(expr)
    node = nodes[0] if len(nodes) == 1 else None
    if isinstance(node, GaussianE) and exchangeable(node) == (Q, 0) and not (expr / node).has(Q, GaussianE):
        found = recognise(node.body, node.variables) or _rising(contest(node.body, node.variables))
        if found is not None:
            right, left = (limit(found.body / X**order, X, 0, side) for side in "+-")
            if not (right.is_finite and left.is_finite):
                return right + left  # of squares: infinite
            body = X**order * (right * Heaviside(X) + left * Heaviside(-X) if right != left else right)
            closed = answer(single(Largest(body, found.k, found.of_one).on_line(Q), Q)).closed
            if closed is not None:
                return expr / node * closed.subs(Q, 1)
    raise Unsupported(
        "the end of the edge of chaos at q -> 0",
        where=str(expr)[:80],
        why="without biases it asks how the mean square and the slopes behave next to q = 0",
        instead="a sigma_b that is not 0",
    )


__all__ = ["common_limit", "pooled"]
