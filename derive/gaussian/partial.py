"""Expectations of which only a part is closed: the atoms leave, the rest stays one smaller expectation."""

from __future__ import annotations

from functools import lru_cache

from sympy import Expr, count_ops

from derive.gaussian.answer import answer
from derive.gaussian.node import GaussianE
from derive.gaussian.rules import linearity
from derive.records import Kind


@lru_cache(maxsize=256)
def partly_closed(node: GaussianE) -> Expr | None:
    """E f = (closed form of the atoms of f) + E(the rest of f), the closed form tested like any other; or None.

    None where f is a sum of atoms, has none, or the expectation of its atoms alone diverges or has no closed form,
    and where the rest would be more than three times as long as f.
    """
    after = linearity.rewrite(node)
    if after is None:
        return None
    replies = [answer(part) for part in after.atoms(GaussianE)]
    closed = {reply.node: reply.closed for reply in replies if reply.closed is not None and not reply.condition}
    if len(closed) != 1 or any(reply.kind is Kind.DIVERGENT for reply in replies):
        return None
    (rest,) = after.atoms(GaussianE) - closed.keys()
    return None if count_ops(rest.body) > 3 * count_ops(node.body) else after.xreplace(closed)


__all__ = ["partly_closed"]
