"""What one residual block does to the Gram matrix of its stream at width n: drift, shift and noise."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from itertools import combinations_with_replacement
from typing import TYPE_CHECKING, Any

import flint
import numpy as np
from sympy import Expr, Integer, Symbol

from derive.depth.finite import block, inputs_at, residual, through
from derive.depth.finite.moments import Moments
from derive.depth.finite.recursion import Coefficients
from derive.gaussian.numbers import number, plain_ball
from derive.layers.dense import Dense
from derive.layers.elementwise import Elementwise
from derive.layers.residual import Residual
from derive.program.symbols import Q1, Q2, SIGMA_B, SIGMA_W, K, X
from derive.records import EocError, Unsupported
from derive.surface.exact import deviation, exact
from derive.surface.finite_inputs import LAW, PAIRS, RATIO, VERTICES, TwoInputs, _kernel, _named
from derive.surface.results import Result

if TYPE_CHECKING:
    from derive.depth.finite.residual_rates import ResidualRates

TERMS, TERMS_KINKED = 80, 240
"""Hermite coefficients of phi^2 that the two-time covariances are summed over."""
PLACES = {"11": (0, 0), "22": (1, 1), "12": (0, 1)}


@dataclass(frozen=True)
class _Turned:
    """What `TwoInputs` asks of a finite width: the activation and Dense of one turn of a branch."""

    theory: Any
    _phi: Expr
    _dense: tuple[Expr, Expr]


@dataclass(frozen=True)
class BlockLaw:
    """S' = S + drift(S) + shift(S)/n + eta/sqrt(n) for the Gram matrix S_ab = x_a.x_b/n of a stream of width n.

    For a block x' = a x + b F(x) whose branch F is made of Dense layers and activations and ends in a Dense. eta is
    Gaussian to leading order, centred, with covariance `noise`. `drift`, `shift`, `noise` are Results in q for one
    input; `pair_drift` and so on give them for two inputs in q1, q2, c; `at(S, ...)` numbers for any set of inputs;
    `depth` follows a stack of such blocks with what rows remember; `rates` its growth per block for ReLU and its kin.

    A branch that begins with a Dense makes S a closed Markov chain: the law is exact up to higher orders of 1/n
    inside the branch, and the shift of a branch with one activation is 0. A branch that begins with an activation
    reads the rows themselves: the law holds for rows that are Gaussian apart from their fixed Gram matrix, exactly so
    in the first block behind a Dense; further on rows remember earlier blocks, see `depth`.
    r_n is the width of the stream over that of the branch, where the branch begins with a Dense.
    """

    theory: Any

    @cached_property
    def _residual(self) -> Residual:
        stages = self.theory.block.stages
        if len(stages) != 1 or not isinstance(stages[0], Residual):
            raise Unsupported(
                "the law of a block that is no residual block", where=str(self.theory.block),
                instead='theory("residual(relu >> dense)"), or depth(...) for a stack of Dense layers',
            )  # fmt: skip
        return stages[0]

    @cached_property
    def branch(self) -> block.Branch:
        """The branch as activations with the Dense behind each."""
        inner = self._residual.inner
        entry, rest = (inner[0], inner[1:]) if isinstance(inner[0], Dense) else (None, inner)
        turns = list(zip(rest[::2], rest[1::2], strict=False))
        fine = all(isinstance(phi, Elementwise) and isinstance(dense, Dense) for phi, dense in turns)
        if not turns or len(rest) % 2 or not fine:
            raise Unsupported(
                "the law of this branch", where=str(self._residual),
                why="it is derived for activations and Dense layers in turn, a Dense at the end",
                instead="residual(dense >> tanh >> dense)",
            )  # fmt: skip
        weights = [(d.symbols[0] ** 2, d.symbols[1] ** 2) for _, d in turns]
        made = tuple(block.Turn(phi.phi, phi.dphi, *w) for (phi, _), w in zip(turns, weights, strict=True))
        first = None if entry is None else (entry.symbols[0] ** 2, entry.symbols[1] ** 2)
        return block.Branch(first, made)

    @property
    def _scales(self) -> tuple[Expr, Expr]:
        scale, shortcut = self._residual.scales
        return shortcut.expr, scale.expr

    @cached_property
    def _one(self) -> block.OneInput:
        return block.one_input(self.branch, *self._scales, RATIO)

    def _result(self, template: Expr, law: tuple[str, ...], title: str, symbol: str) -> Result:
        free = template.free_symbols
        names = (*law, *(s.name for s in (RATIO, SIGMA_W, SIGMA_B) if s in free))
        return Result(template, names, self.theory.domains, title, symbol, self.theory.notes)

    @cached_property
    def drift(self) -> Result:
        """Phi(q) = (a^2 - 1) q + b^2 Q(q), Q the kernel of the branch: what an infinitely wide block adds."""
        return self._result(self._one.drift, ("q",), "drift of a block", r"\Phi(q)")

    @cached_property
    def shift(self) -> Result:
        """Psi(q): the width times what the mean of S' is off."""
        return self._result(self._one.shift, ("q",), "shift of a block", r"\Psi(q)")

    @cached_property
    def noise(self) -> Result:
        """n Var(S' | S = q) = 4 a^2 b^2 q Q + b^4 (2 Q^2 + V), V the vertex of the branch."""
        return self._result(self._one.noise, ("q",), "noise of a block", r"n\,\mathrm{Var}\,S'")

    @cached_property
    def _two(self) -> TwoInputs:
        if len(self.branch.turns) != 1:
            raise Unsupported(
                "formulas for two inputs of a branch of several activations", where=str(self._residual),
                instead="at([[1, 0.3], [0.3, 1]], ...) for numbers, or drift, shift, noise for one input",
            )  # fmt: skip
        dense = self._residual.inner[-1]
        return TwoInputs(_Turned(self.theory, self.branch.turns[0].phi, dense.symbols))

    def _entered(self, template: Expr) -> Expr:
        """In the kernel of the stream: behind a Dense the activation sees sigma_w^2 S + sigma_b^2."""
        if self.branch.entry is None:
            return template
        weight, bias = self.branch.entry
        return template.xreplace({s: weight * s + bias for s in (Q1, Q2, K)})

    def pair_drift(self, p: str = "12") -> Result:
        """Phi_p of two inputs; p is "11", "22" or "12"."""
        a, b = self._scales
        kernel = self._entered(self._two._kernel(_named(p)))
        return self._result((a**2 - 1) * LAW[p] + b**2 * kernel, ("q1", "q2", "c"), f"drift {p}", rf"\Phi_{{{p}}}")

    def pair_shift(self, p: str = "12") -> Result:
        """Psi_p of two inputs."""
        total: Expr = Integer(0)
        if self.branch.entry is None:
            template = self._two.mean_correction(_named(p)).template.xreplace({RATIO: Integer(1)})
            total = self._scales[1] ** 2 * self._on_the_sphere(template)
        return self._result(total, ("q1", "q2", "c"), f"shift {p}", rf"\Psi_{{{p}}}")

    def pair_noise(self, p: str = "12", q: str = "12") -> Result:
        """n Cov(S'_p, S'_q | S) of two inputs."""
        stream: dict[tuple[int, int], Any] = {PLACES[name]: LAW[name] for name in PAIRS}
        kernel = {PLACES[name]: self._entered(self._two._kernel(name)) for name in PAIRS}
        if self.branch.entry is None:
            vertex = self._on_the_sphere(self._two.vertex(_named(p), _named(q)).template.xreplace({RATIO: Integer(1)}))
        else:
            vertex = RATIO * self._entered(self._two._source(_named(p), _named(q)))
        total = block.noise(stream, kernel, vertex, PLACES[p], PLACES[q], *self._scales)
        return self._result(total, ("q1", "q2", "c"), f"noise {p} {q}", rf"n\,\mathrm{{Cov}}(S'_{{{p}}}, S'_{{{q}}})")

    def _on_the_sphere(self, template: Expr) -> Expr:
        stream: dict[tuple[int, int], Any] = {PLACES[name]: LAW[name] for name in PAIRS}
        fixed: dict[Symbol, Expr] = {
            VERTICES[p, q]: -block.wishart(stream, PLACES[p], PLACES[q])
            for p, q in combinations_with_replacement(PAIRS, 2)
        }
        gone = {s: Integer(0) for s in template.free_symbols if s.name.startswith("K1_")}
        return template.xreplace({**fixed, **gone})

    def at(
        self, gram: Any, sigma_w: Any = None, sigma_b: Any = 0, *, ratio: Any = 1, distinct: int = 2, **parameters: Any
    ) -> block.BlockNumbers:
        """Drift, shift and noise at a positive definite Gram matrix of any number of inputs, in floats.

        distinct   how many different inputs may meet in an entry of the noise, 2 to 4; the other entries are nan
        """
        stream = np.array([[float(v) for v in row] for row in _kernel(gram)])
        values = self._values(sigma_w, sigma_b, parameters)
        shortcut, scale = (_float(s, values) for s in self._scales)
        turns = []
        for turn in self.branch.turns:
            weights = _float(turn.weight, values), _float(turn.bias, values)
            turns.append(inputs_at.floats(turn.phi, turn.slope, *weights, values, len(stream), distinct))
        entry = None
        if self.branch.entry is not None:
            entry = _float(self.branch.entry[0], values), _float(self.branch.entry[1], values)
        return block.several_inputs(stream, entry, turns, shortcut, scale, float(Fraction(ratio)), distinct)

    def _values(self, sigma_w: Any, sigma_b: Any, parameters: Mapping[str, Any]) -> dict[str, Fraction]:
        values = {**self.theory._values(parameters), "sigma_b": deviation(sigma_b, "sigma_b")}
        if sigma_w is not None:
            values["sigma_w"] = deviation(sigma_w, "sigma_w")
        return values

    def _turn(self) -> block.Turn:
        if len(self.branch.turns) != 1:
            raise Unsupported(
                "depth of blocks with several activations in a branch", where=str(self._residual),
                instead="at(...) for one block, or a branch of one activation",
            )  # fmt: skip
        return self.branch.turns[0]

    def depth(
        self, q0: Any, blocks: int, sigma_w: Any = None, sigma_b: Any = 0, *, ratio: Any = 1, **parameters: Any
    ) -> residual.ResidualDepth:
        """The mean square of the stream after 0 to `blocks` blocks on one input, rows i.i.d. N(0, q0) before the first.

        Exact to order 1/width for branches that begin with an activation, whose rows remember every earlier block, and
        for those that begin with a Dense, which forget them; `closure_*` is what a closed equation for the mean square
        alone gives. Cost: blocks^2. Scales with a depth in them take it as a parameter: depth(1, 100, 1.4, L=100).
        """
        turn, start = self._turn(), exact(q0, "q0")
        if start <= 0 or not isinstance(blocks, int) or blocks < 1:
            raise EocError(f"q0 = {q0}, blocks = {blocks}", why="a variance and a number of blocks", instead="1, 20")
        values = self._values(sigma_w, sigma_b, parameters)
        shortcut, scale = (_float(s, values) for s in self._scales)
        weight, bias = _float(turn.weight, values), _float(turn.bias, values)
        moments = Moments(turn.phi, turn.slope, values)
        at = through.from_moments(moments, weight, bias)
        if self.branch.entry is None:
            terms = TERMS_KINKED if moments.kinked else TERMS

            def hermite(q: float) -> np.ndarray:
                return moments.hermite(q, terms)

            return residual.with_memory(at, hermite, float(start), blocks, shortcut, scale, weight, bias)
        first, own = (_float(e, values) for e in self.branch.entry)

        def entered(q: float) -> Coefficients:
            here = at(first * q + own)
            slope, bend = first * here.transport, first**2 * here.curvature
            return Coefficients(here.kernel, slope, bend, here.source, 0.0, 0.0)

        return residual.memoryless(entered, float(start), blocks, shortcut, scale, float(Fraction(ratio)))

    def rates(self, sigma_w: Any = None, **parameters: Any) -> ResidualRates:
        """Growth per block of spread and mean deep in a stack of ReLU-like blocks without biases. ENCLOSURE.

        Raises Unsupported for activations that are no line on each side of 0.
        """
        from derive.depth.finite.residual_rates import residual_rates
        from derive.surface.universality import _is_scale_invariant

        turn, values = self._turn(), self._values(sigma_w, 0, parameters)
        first = self._residual.inner[0]
        if self.branch.entry is not None or not _is_scale_invariant(first):
            raise Unsupported(
                "rates per block", where=str(self._residual),
                why="the branch is no activation of one line on each side of 0 with a Dense behind it",
                instead="depth(...)",
            )  # fmt: skip
        with flint.ctx.workprec(120):
            given = (turn.phi.subs(X, 1), -turn.phi.subs(X, -1), *self._scales, turn.weight)
            return residual_rates(*(plain_ball(e, values) for e in given))


def _float(expr: Expr, values: Mapping[str, Any]) -> float:
    return float(number(expr, values).mid)


__all__ = ["BlockLaw"]
