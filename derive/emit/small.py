"""Small variances: closed forms with tilted half-spaces cancel as q -> 0; there the expectation is integrated instead.

For phi continuous with phi(0) = 0 and kinks at 0 only,
E phi(u) phi(v) = E phi(u) E phi(v) + sqrt(q1 q2) int_0^asin(c) E[phi'(u) phi'(v)](sin t) cos t dt (Price 1958),
and E phi(u) is a sum over dyadic panels: nothing cancels beyond what the function itself does.
"""

from __future__ import annotations

from derive.emit.layout import indented
from derive.emit.zero import above_zero

_SOURCE = '''
_PANEL = {gauss}


def _dyadic_mean(f, q):
    """E f(x), x ~ N(0, q), for f smooth on both sides of 0: Gauss-Legendre on panels that halve towards 0."""
    nodes, weights = {nodes}
    root, total = {np}.sqrt(q), 0*q
    for k in range(18):
        end = 13.0*0.5**k
        start = 0.5*end if k < 17 else 0.0
        for node, weight in zip(nodes, weights):
            z = start + (end - start)*node
            factor = (end - start)*weight*0.3989422804014327*2.718281828459045**(-0.5*z*z)
            total = total + factor*(f(root*z) + f(-root*z))
    return total


def _by_correlation(f, slope, q1, q2, c):
    """E f(u) f(v) from the means and E f'(u) f'(v) at correlations from 0 to c, on panels that shrink towards 1."""
    nodes, weights = {nodes}
    top, total = {asin}({np}.abs(c)), 0*c
    side = {np}.where(c < 0, -{np}.ones_like(c), {np}.ones_like(c))
    for k in range(8):
        start = 1.5707963267948966*(1 - 0.25**k)
        end = 1.5707963267948966*(1 - 0.25**(k + 1)) if k < 7 else 1.5707963267948966
        width = {np}.where(top > start, {np}.where(top < end, top, end) - start, 0*top)
        for node, weight in zip(nodes, weights):
            t = start + width*node
            total = total + weight*width*{np}.cos(t)*slope(q1, q2, side*{np}.sin(t))
    return _dyadic_mean(f, q1)*_dyadic_mean(f, q2) + {np}.sqrt(q1)*{np}.sqrt(q2)*side*total
'''

_CHOOSE = {
    "numpy": '''
def _where_careful(value, careful, chosen, *arguments):
    """The value, computed with care where `chosen`."""
    there = chosen(*arguments)
    if not there.any():
        return value
    value = np.array(value)
    value[there] = careful(*(argument[there] for argument in arguments))
    return value[()]
''',
    "torch": '''
def _where_careful(value, careful, chosen, *arguments):
    """The value, computed with care where `chosen`; derivatives are those of `value`."""

    def corrected(value, *arguments):
        there = chosen(*arguments)
        if not bool(there.any()):
            return value
        with torch.no_grad():
            return value.masked_scatter(there, careful(*(argument[there] for argument in arguments)))

    places = range(1 + len(arguments))
    partials = {place: lambda value, *rest, s=float(place == 0): torch.full_like(value, s) for place in places}
    return _differentiable(corrected, partials, ())(value, *arguments)
''',
    "jax": '''
def _where_careful(value, careful, chosen, *arguments):
    """The value, computed with care where `chosen`; derivatives are those of `value`."""
    fixed = jax.lax.stop_gradient((value, *arguments))

    def one(given):
        return jax.lax.cond(chosen(*given[1:]), lambda *a: careful(*a[1:]), lambda *a: a[0], *given)

    def every(*given):
        return jax.lax.map(one, tuple(a.reshape(-1) for a in given)).reshape(value.shape)

    anywhere = jnp.any(chosen(*fixed[1:]))
    return value + jax.lax.stop_gradient(jax.lax.cond(anywhere, every, lambda *given: given[0], *fixed) - value)
''',
}

_SPELLING = {
    "numpy": {"np": "np", "asin": "np.arcsin"},
    "torch": {"np": "torch", "asin": "torch.asin"},
    "jax": {"np": "jnp", "asin": "jnp.arcsin"},
}

BACKENDS = tuple(_SPELLING)


def small_source(backend: str) -> str:
    """The functions that every value integrated at small variances shares."""
    from derive.program.owen_source import nodes_and_weights

    nodes, weights = nodes_and_weights(12)
    return _SOURCE.format(gauss=repr((nodes, weights)), nodes="_PANEL", **_SPELLING[backend]).strip("\n")


def choose_source(backend: str) -> str:
    """The function that computes a value with care where it must be."""
    return _CHOOSE[backend].strip("\n")


def careful_source(
    backend: str,
    name: str,
    law: tuple[str, ...],
    keywords: tuple[str, ...],
    parts: list[str],
    chosen: list[str],
    head: str,
    doc: str,
) -> str:
    """The public function `name`: `_name_closed`, and where chosen `_name_of` of the integrated expectations.

    parts    a line `e0 = ...` for each expectation
    chosen   the lines that return where they are integrated
    """
    unpack, broadcast = {
        "numpy": ("_arrays", "np.broadcast_arrays"),
        "torch": ("_tensors", "torch.broadcast_tensors"),
        "jax": ("_arrays", "jnp.broadcast_arrays"),
    }[backend]
    names = ", ".join((*law, *keywords))
    comma = "," if len(law) + len(keywords) == 1 else ""
    given = "".join(f", {k}={k}" for k in keywords)
    stand_ins = ", ".join(f"e{i}" for i in range(len(parts)))
    careful = [*parts, f"return _{name}_of({', '.join(law)}, {stand_ins}{given})"]
    lines = [
        f"{names}{comma} = {broadcast}(*{unpack}({names}))",
        *above_zero(backend, law),
        f"value = _{name}_closed({', '.join(law)}{given})",
        f"return _where_careful(value, _{name}_careful, _{name}_chosen, {names})",
    ]
    choice = indented(f"def _{name}_chosen({names}):", "", chosen)
    return "\n\n\n".join((choice, indented(f"def _{name}_careful({names}):", "", careful), indented(head, doc, lines)))
