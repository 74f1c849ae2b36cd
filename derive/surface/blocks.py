"""Theory: the maps of a block and what a deep stack of it does."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import TYPE_CHECKING, Any

from sympy import Expr, oo, sqrt

from derive.depth import fixed
from derive.depth.edges import EdgeOfChaos
from derive.layers.block import Block, BlockMaps, as_layer, maps
from derive.layers.dense import Dense
from derive.layers.elementwise import Elementwise
from derive.layers.nested import every_stage
from derive.layers.stage import Stage
from derive.program.symbols import Q1, Q2, SIGMA_B, SIGMA_W, C, K, Q
from derive.records import EocError, Interval, OperatingPoint
from derive.show.printer import latex
from derive.surface.activations import Activation
from derive.surface.block_text import read_block
from derive.surface.exact import deviation, exact
from derive.surface.results import Result

if TYPE_CHECKING:
    from derive.depth.fixed_set import Bifurcation
    from derive.depth.universality import Universality
    from derive.surface.finite_width import FiniteWidth
    from derive.surface.guessing_bias import GuessingBias

NOT_YET = ("jacobian",)


def theory(block: Any, **options: Any) -> Theory:
    """The wide-network theory of a block at random initialization.

    block   a Block (Dense() >> phi), an Activation, or text ("gelu", "dense >> x*tanh(x)")
    options passed to Activation (domains, parameters) where the block is text

    Raises EocError for what is no block.
    """
    if isinstance(block, Block):
        return Theory(block)
    if isinstance(block, str):
        return Theory(read_block(block, **options))
    is_layer = isinstance(block, Stage)
    return Theory(Block((as_layer(block if is_layer else _activation(block, options)),)))


def _activation(source: Any, options: Mapping[str, Any]) -> Activation:
    return source if isinstance(source, Activation) else Activation(source, **options)


@dataclass(frozen=True)
class Theory:
    """The maps of a block, its edge of chaos and its fixed points.

    Quantities are Results; the state is that of the block's first Dense output (variance q, or q1, q2 and
    correlation c for two inputs).
    """

    block: Block

    @cached_property
    def maps(self) -> BlockMaps:
        """The maps as expressions in `GaussianE` nodes."""
        return maps(self.block)

    @property
    def domains(self) -> tuple[tuple[str, Interval], ...]:
        """Domains of the parameters of its activations."""
        return tuple(sorted(self.block.parameters.items()))

    @property
    def activation(self) -> Elementwise:
        """The first activation of the block, in a branch if need be; EocError where it has none."""
        if self._first is None:
            raise EocError(f"{self.block!r} has no activation")
        return self._first

    @cached_property
    def _first(self) -> Elementwise | None:
        return next((stage for stage in every_stage(self.block.stages) if isinstance(stage, Elementwise)), None)

    def _result(self, template: Expr, law: tuple[str, ...], title: str, symbol: str, sigmas: bool = False) -> Result:
        free = template.free_symbols
        names = law + tuple(s.name for s in (SIGMA_W, SIGMA_B) if sigmas and s in free)
        return Result(template, names, self.domains, title, symbol, self.notes)

    @property
    def notes(self) -> tuple[str, ...]:
        """Warnings that travel with its results."""
        jumping = ("the activation jumps: its gradient gain is infinite and it has no edge of chaos",)
        own = (note for stage in every_stage(self.block.stages) for note in getattr(stage, "notes", ()))
        return (*(jumping if self.maps.jumps else ()), *dict.fromkeys(own), *self.maps.notes)

    @cached_property
    def mean(self) -> Result:
        """E of the block's output, given q."""
        symbol = r"\mathbb{E}\,\varphi"
        return self._result(self.maps.output.mean1.xreplace({Q1: Q}), ("q",), "mean", symbol, sigmas=True)

    @cached_property
    def second_moment(self) -> Result:
        """E of the squared output, given q."""
        symbol = r"\mathbb{E}\,\varphi^{2}"
        return self._result(self.maps.output.second1.xreplace({Q1: Q}), ("q",), "second moment", symbol, sigmas=True)

    @cached_property
    def covariance_map(self) -> Result:
        """E of the product of the outputs of two inputs, given q1, q2, c."""
        symbol = r"\mathbb{E}\,\varphi(u)\varphi(v)"
        return self._result(self.maps.output.cross, ("q1", "q2", "c"), "covariance map", symbol, sigmas=True)

    @cached_property
    def variance_map(self) -> Result:
        """V(q) = sigma_w^2 E phi(sqrt(q) Z)^2 + sigma_b^2 (Poole et al. 2016, eq. 3)."""
        return self._result(self.maps.cycle.second1.xreplace({Q1: Q}), ("q",), "variance map", "V(q)", sigmas=True)

    @cached_property
    def correlation_map(self) -> Result:
        """C(q1, q2, c) = (sigma_w^2 E phi(u) phi(v) + sigma_b^2) / sqrt(V(q1) V(q2)) (Poole et al. 2016, eq. 5)."""
        cycle = self.maps.cycle
        # a norm makes both variances one expression, of which no root is to be taken
        alike = cycle.second1 == cycle.second2
        template = cycle.cross / (cycle.second1 if alike else sqrt(cycle.second1 * cycle.second2))
        return self._result(template, ("q1", "q2", "c"), "correlation map", "C(q_1, q_2, c)", sigmas=True)

    @cached_property
    def chi(self) -> Result:
        """The gradient gain sigma_w^2 E phi'(sqrt(q) Z)^2; infinite for a function that jumps."""
        # the gain of a batch normalisation knows the correlation of the batch's inputs
        finite = self.maps.backward.xreplace({Q1: Q, Q2: Q}).xreplace({K: C * Q})
        template = oo if self.maps.jumps else finite
        law = ("q", "c") if C in finite.free_symbols else ("q",)
        names = (*law, *(s.name for s in (SIGMA_W, SIGMA_B) if s in finite.free_symbols))
        return self._result(template, names, "gradient gain", r"\chi(q)")

    @cached_property
    def chi_parallel(self) -> Result:
        """dV/dq, without derivatives of phi (kinks and jumps come out right)."""
        slope = self.variance_map.diff("q")
        return self._result(slope.template, ("q",), "slope of the variance map", r"\chi_\parallel(q)", sigmas=True)

    def edge_of_chaos(
        self, q: Any = None, *, sigma_b: Any = None, sigma_w: Any = None, digits: int = 16, **parameters: Any
    ) -> EdgeOfChaos:
        """The points where V(q) = q and chi(q) = 1.

        q        the fixed point's variance (default 1); q="q" gives the whole curve as Results in q
        sigma_b  or the bias standard deviation: every point of the curve with it
        sigma_w  or the weight standard deviation: every point of the curve with it and sigma_b^2 >= 0
        parameters of phi that are not given stay symbols, and the point's values are Results

        `.points` holds EdgePoints sorted by q, `.reason` says why there is none; scalar attributes are those of the
        valid and stable point with the smallest q, else of the first. Where the two conditions exclude each other
        (a pooled ReLU), `.gradient_critical` and `.variance_critical` are the points at which one of them holds.
        """
        from derive.surface.criticality import edge_of_chaos
        from derive.surface.marginal import decided

        return decided(self, edge_of_chaos(self, q, sigma_b, sigma_w, digits, parameters), parameters)

    def at(self, sigma_w: Any, sigma_b: Any = 0, q0: Any = 1, **parameters: Any) -> OperatingPoint:
        """Fixed points, phases and depth scales at (sigma_w, sigma_b); scalars are those of the attractor of q0."""
        values = self._values(parameters)
        values |= {"sigma_w": deviation(sigma_w, "sigma_w"), "sigma_b": deviation(sigma_b, "sigma_b")}
        templates = (self.variance_map.template, self.correlation_map.template, self.chi.template)
        return fixed.operating_point(*templates, values, exact(q0, "q0"), self._only_phi(), self.noisy)

    @cached_property
    def fixed_point_formulas(self) -> tuple[Expr, ...]:
        """Every solution of V(q) = q in sigma_w, sigma_b and parameters, SymPy expressions; () where none is known.

        Solved where V is a polynomial of degree 2 at most, or a line plus one exponential (sin); the real positive
        values are the fixed points.
        """
        from derive.depth.solved import formulas

        return formulas(self.variance_map.template)

    @property
    def noisy(self) -> bool:
        """Whether a layer draws noise for each input, so that two copies of one input come apart."""
        return any(getattr(stage, "separates", False) for stage in every_stage(self.block.stages))

    def _only_phi(self) -> Expr | None:
        """The function of a block of one activation behind one Dense; None for other blocks."""
        layers = [stage for stage in self.block.stages if not isinstance(stage, Dense)]
        alone = len(layers) == 1 and isinstance(layers[0], Elementwise) and len(self.block.stages) <= 2
        return layers[0].phi if alone else None

    def bifurcations(self, sigma_b: Any = 0, **parameters: Any) -> tuple[Bifurcation, ...]:
        """Every sigma_w at which the number of fixed points of V changes, sigma_b given.

        With several Dense layers in the block those at which two meet, for sigma_b > 0, found on a grid and certified
        one by one.
        """
        from derive.depth.fixed_set import bifurcations

        values: dict[str, Any] = {**self._values(parameters), "sigma_b": deviation(sigma_b, "sigma_b")}
        return bifurcations(self.variance_map.template, self.chi.template, values)

    def phase(self, sigma_w: Any = (0.5, 3), sigma_b: Any = (0, 1), n: int = 200, q0: float = 1, **given: Any) -> Any:
        """The phase diagram over (sigma_w, sigma_b): a PhaseDiagram of arrays with `.plot(path)`; floats to 1e-10."""
        from derive.show.phase import phase_diagram

        return phase_diagram(self, sigma_w, sigma_b, n, q0, **given)

    @cached_property
    def universality(self) -> Universality:
        """Its universality class with reasons: scale-invariant, zero, half-stable or none."""
        from derive.surface.universality import universality

        return universality(self)

    @cached_property
    def finite_width(self) -> FiniteWidth:
        """What networks of finite width do: fluctuations and mean corrections at order 1/width."""
        from derive.surface.finite_width import FiniteWidth

        return FiniteWidth(self)

    @cached_property
    def guessing_bias(self) -> GuessingBias:
        """What its random networks prefer before training: drift ratio, class fractions, phases."""
        from derive.surface.guessing_bias import GuessingBias

        return GuessingBias(self)

    def depth(self, gram: Any, layers: int, sigma_w: Any, sigma_b: Any = 0, **parameters: Any) -> Any:
        """Variances, correlations and tangent kernels of inputs at layers 1 to `layers`: a `Depth` of arrays."""
        from derive.surface.layerwise import depth

        return depth(self, gram, layers, sigma_w, sigma_b, **parameters)

    def layers(self, count: int) -> Theory:
        """The theory of `count` turns of the block: its maps are the composed maps, as formulas."""
        from derive.surface.layerwise import repeated

        return Theory(repeated(self, count))

    def _values(self, parameters: Mapping[str, Any]) -> dict[str, Fraction]:
        domains = dict(self.domains)
        for name in parameters:
            if name not in domains:
                raise EocError(f"the block has no parameter {name}", instead=", ".join(domains) or "it has none")
        missing = [name for name in domains if name not in parameters]
        if missing:
            raise EocError(f"no value for {', '.join(missing)}", instead=f"{missing[0]}=...")
        values = {name: exact(value, name) for name, value in parameters.items()}
        for name, value in values.items():
            if value not in domains[name]:
                raise EocError(f"{name} = {value} is outside its domain {domains[name]}")
        return values

    @property
    def results(self) -> dict[str, Result]:
        """Every derived map by its attribute name."""
        names = ("mean", "second_moment", "covariance_map", "variance_map", "correlation_map", "chi", "chi_parallel")
        return {name: getattr(self, name) for name in names}

    def latex(self) -> str:
        """A complete LaTeX document: definitions, results with their kinds, derivations, sources."""
        from derive.show.latex import latex_document

        return latex_document(self)

    def report(self, path: str) -> None:
        """Write a self-contained HTML report."""
        from derive.show.html import write_report

        write_report(self, path)

    def __getattr__(self, name: str) -> Any:
        if name in NOT_YET:
            raise AttributeError(f"{name} is not built yet; built are {', '.join(self.results)}, edge_of_chaos, at")
        raise AttributeError(f"a theory has no attribute {name}")

    def __repr__(self) -> str:
        kinds = ", ".join(f"{name} {result.kind}" for name, result in self.results.items())
        return f"<Theory of {self.block}: {kinds}>"

    def _repr_latex_(self) -> str:
        rows = [f"{result.symbol} &= {latex(result.closed)}" for result in self.results.values()]
        return "$\\begin{aligned}" + r" \\ ".join(rows) + "\\end{aligned}$"


__all__ = ["Theory", "read_block", "theory"]
