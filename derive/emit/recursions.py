"""What an emitted module computes from its maps: kernels layer by layer, tangent kernels, the complement 1 - C."""

from __future__ import annotations

from dataclasses import dataclass

from derive.emit.layout import indented
from derive.program.owen_source import rule


@dataclass(frozen=True)
class Library:
    """How an array library spells what the recursions need.

    rows      how many rows of n columns are taken at a time
    joined    blocks of rows as one matrix
    """

    name: str
    unpack: str
    array: str
    places: str
    clipped: str
    rows: str
    joined: str


_BLOCK = "max(1, 1048576//max(1, gram[..., 0].{size}))"

LIBRARIES = {
    "numpy": Library(
        "np", "_arrays", "ArrayLike", "np.arange(n)", "np.clip(ratio, -1, 1)",
        _BLOCK.format(size="size"), "np.concatenate(blocks, axis=-2) if len(blocks) > 1 else blocks[0]",
    ),
    "torch": Library(
        "torch", "_tensors", "torch.Tensor", "torch.arange(n, device=gram.device)",
        "ratio - (ratio - torch.clip(ratio, -1, 1)).detach()",
        _BLOCK.format(size="numel()"), "torch.cat(blocks, dim=-2) if len(blocks) > 1 else blocks[0]",
    ),
    "jax": Library(
        "jnp", "_arrays", "jax.typing.ArrayLike", "jnp.arange(n)",
        "ratio - jax.lax.stop_gradient(ratio - jnp.clip(ratio, -1, 1))", "n", "blocks[0]",
    ),
}  # fmt: skip

_PARTS = '''
def _correlations(gram, start, stop):
    """Some rows of a Gram matrix: variances of rows and columns, correlations (0 on the diagonal), the diagonal."""
    n = gram.shape[-1]
    places = {places}
    diagonal = places[start:stop, None] == places
    q = {np}.diagonal(gram, 0, -2, -1)
    root = {np}.sqrt(q)
    ratio = gram[..., start:stop, :]/(root[..., start:stop, None]*root[..., None, :])
    # what rounding puts beyond 1 is cut off without cutting off the gradient
    c = {np}.where(diagonal, {np}.zeros_like(ratio), {clipped})
    return q[..., start:stop, None], q[..., None, :], c, diagonal


def _by_rows(row_block, gram):
    """The matrix whose rows start to stop are row_block(start, stop): no intermediate is as large as the matrix."""
    n = gram.shape[-1]
    step = {rows}
    blocks = [row_block(start, min(start + step, n)) for start in range(0, max(n, 1), max(step, 1))]
    return {joined}
'''


def recursion_source(backend: str, parameters: tuple[str, ...], tangent: bool) -> str:
    """`kernel_step`, `kernel_recursion` and, where phi has no jumps, `tangent_step` and `tangent_recursion`.

    They call `covariance_map`, `variance_map` and `derivative_covariance_map` of the same module.
    """
    lib = LIBRARIES[backend]
    keywords = (*parameters, "sigma_w", "sigma_b")
    own = "".join(f", {p}={p}" for p in parameters)
    every = "".join(f", {p}={p}" for p in keywords)
    names = ", ".join(keywords)
    typed = ", ".join(f"{k}: {'float | torch.Tensor' if backend == 'torch' else lib.array}" for k in keywords)
    step = [
        f"gram, {names} = {lib.unpack}(gram, {names})",
        "",
        "def row_block(start, stop):",
        "    q1, q2, c, diagonal = _correlations(gram, start, stop)",
        f"    crossed = sigma_w**2*covariance_map(q1, q2, c{own}) + sigma_b**2",
        f"    return {lib.name}.where(diagonal, variance_map(q2{every}), crossed)",
        "",
        "return _by_rows(row_block, gram)",
    ]
    doc = "The Gram matrix (..., n, n) of pre-activations of the next layer, from that of this layer."
    parts = [
        _PARTS.strip("\n").format(
            np=lib.name, places=lib.places, clipped=lib.clipped, rows=lib.rows, joined=lib.joined
        ),
        indented(f"def kernel_step(gram: {lib.array}, *, {typed}):", doc, step),
        indented(
            f"def kernel_recursion(gram: {lib.array}, depth: int, *, {typed}):",
            "The Gram matrix of pre-activations `depth` layers on; the diagonal of `gram` holds variances q > 0.",
            ["for _ in range(depth):", f"    gram = kernel_step(gram{every})", "return gram"],
        ),
    ]
    if tangent:
        parts += _tangent(lib, typed, names, own, every)
    return "\n\n\n".join(parts) + "\n"


def _tangent(lib: Library, typed: str, names: str, own: str, every: str) -> list[str]:
    step = [
        f"gram, tangent, {names} = {lib.unpack}(gram, tangent, {names})",
        "mapped = kernel_step(gram" + every + ")",
        "",
        "def row_block(start, stop):",
        "    q1, q2, c, diagonal = _correlations(gram, start, stop)",
        f"    alone = derivative_covariance_map(q2, q2, {lib.name}.ones_like(q2){own})",
        f"    gain = {lib.name}.where(diagonal, alone, derivative_covariance_map(q1, q2, c{own}))",
        "    return mapped[..., start:stop, :] + sigma_w**2*gain*tangent[..., start:stop, :]",
        "",
        "return mapped, _by_rows(row_block, gram)",
    ]
    doc = (
        "The next layer's Gram matrix K' and tangent kernel K' + sigma_w^2 E[phi'(u) phi'(v)] times this layer's\n"
        "(Jacot, Gabriel & Hongler 2018, arXiv 1806.07572, theorem 1; all layers trained, NTK parametrisation)."
    )
    loop = ["tangent = gram", "for _ in range(depth):", f"    gram, tangent = tangent_step(gram, tangent{every})"]
    return [
        indented(f"def tangent_step(gram: {lib.array}, tangent: {lib.array}, *, {typed}):", doc, step),
        indented(
            f"def tangent_recursion(gram: {lib.array}, depth: int, *, {typed}):",
            "The Gram matrix and the tangent kernel `depth` layers on; the first tangent kernel is the Gram matrix.",
            [*loop, "return gram, tangent"],
        ),
    ]


def correlation_source(
    backend: str, doc: str, covariance: tuple[str, ...], variance: tuple[str, ...], parameters: tuple[str, ...]
) -> str:
    """`correlation_map` of the emitted covariance and variance maps, whose parameters are given."""
    lib = LIBRARIES[backend]
    keywords = (*parameters, "sigma_w", "sigma_b")
    typed = ", ".join(f"{k}: {'float | torch.Tensor' if backend == 'torch' else lib.array}" for k in keywords)
    result = {"numpy": "NDArray[np.floating]", "torch": "torch.Tensor", "jax": "jax.Array"}[backend]
    head = f"def correlation_map(q1: {lib.array}, q2: {lib.array}, c: {lib.array}, *, {typed}) -> {result}:"
    own = "".join(f", {p}={p}" for p in covariance)
    every = "".join(f", {p}={p}" for p in (*variance, "sigma_w", "sigma_b"))
    names = ", ".join(("q1", "q2", "c", *keywords))
    scale = f"({lib.name}.sqrt(variance_map(q1{every}))*{lib.name}.sqrt(variance_map(q2{every})))"
    lines = [f"{names} = {lib.unpack}({names})"]
    lines.append(f"return (sigma_w*sigma_w*covariance_map(q1, q2, c{own}) + sigma_b*sigma_b)/{scale}")
    return indented(head, doc, lines)


def complement_source(backend: str, parameters: tuple[str, ...], has_rule: bool) -> str:
    """`correlation_complement(q1, q2, e)`: 1 - C at c = 1 - e.

    K(1) - K(1 - e) = sqrt(q1 q2) int_0^e E phi'(u) phi'(v) ds at correlation 1 - s (Price 1958), s = e t^2 so that
    the integrand is smooth in t also for a phi with kinks.
    """
    lib = LIBRARIES[backend]
    np = lib.name
    keywords = (*parameters, "sigma_w", "sigma_b")
    own = "".join(f", {p}={p}" for p in parameters)
    every = "".join(f", {p}={p}" for p in keywords)
    names = ", ".join(keywords)
    typed = ", ".join(f"{k}: {'float | torch.Tensor' if backend == 'torch' else lib.array}" for k in keywords)
    args = f"q1: {lib.array}, q2: {lib.array}, e: {lib.array}"
    doc = (
        "1 - C(q1, q2, c) at c = 1 - e, 0 <= e <= 2, with full relative accuracy for q1 = q2 down to the smallest e.\n"
        "For q1 != q2 the part that stays at e = 0 is a difference of numbers of order 1. Differentiable for e > 0."
    )
    lines = [
        f"q1, q2, e, {names} = {lib.unpack}(q1, q2, e, {names})",
        f"scale = {np}.sqrt(variance_map(q1{every})*variance_map(q2{every}))",
        f"near = {np}.where(e < 0.25, e, 0.25)",
        "total = 0",
        "for t, weight in zip(_NODES, _WEIGHTS):",
        f"    total = total + 2*t*weight*_derivative_covariance_beside(q1, q2, near*t*t{own})",
        f"change = {np}.sqrt(q1*q2)*near*total",
        f"far = covariance_map(q1, q2, 1 - near{own}) - covariance_map(q1, q2, 1 - e{own})",
        f"change = sigma_w**2*(change + {np}.where(e < 0.25, 0*far, far))",
        f"rest = scale - sigma_w**2*covariance_map(q1, q2, {np}.ones_like(e){own}) - sigma_b**2",
        f"return ({np}.where(q1 == q2, 0*rest, rest) + change)/scale",
    ]
    head = f"def correlation_complement({args}, *, {typed}):"
    parts = ([] if has_rule else [rule()]) + [indented(head, doc, lines)]
    return "\n\n\n".join(parts) + "\n"
