"""Surrogates in JAX: the tables of NumPy, series of static shape under jit, vmap and grad."""

from derive.emit.surrogates._numpy_tables import TABLES

SURROGATE = (
    TABLES.strip("\n")
    + '''


def _static(function):
    """A function of JAX arrays as one of NumPy arrays, also while tracing."""

    def values(x):
        with jax.ensure_compile_time_eval():
            return np.asarray(function(jnp.asarray(x)))

    return values


def _prepared(key, f, g, level, dtype):
    """The table of a level as arrays of a dtype."""
    first = _static(f)
    z, made = _table(key, first, first if f is g else _static(g), level)
    return np.asarray(z, dtype), [tuple(np.asarray(value, dtype) for value in part) if part else None for part in made]


def _coordinates(f, q, z, made, level, second):
    """Coordinates of the Hermite coefficients of f at each variance."""
    x = jnp.sqrt(q)[..., None]*z
    up = f(x)
    down = up if level[3] == 1 else f(-x)
    halves = (up, up) if level[3] == 1 else ((up + down)/2, (up - down)/2)
    return [value @ part[second] if part else None for part, value in zip(made, halves)]


def _clenshaw(terms, parity, c, term):
    """sum_m D_m T_m(c) over the m of a parity, D_m = term(terms[m])."""
    twice = 4*c*c - 2

    def step(state, item):
        here, before = state
        return (term(item) - before + twice*here, here), None

    start = jnp.zeros_like(c), jnp.zeros_like(c)
    (here, before), _ = jax.lax.scan(step, start, terms, reverse=True)
    return c*(here - before) if parity else here - twice/2*before


def _pairs(made, first, second, c):
    """The values for coordinates of rows (n, r), columns (m, r) and correlations (n, m), some rows at a time."""

    def block(given):
        rows, c = given
        total = jnp.zeros_like(c)
        for parity, part in enumerate(made):
            if part:
                left, right = rows[parity] @ part[2], second[parity].T
                total = total + _clenshaw(left, parity, c, lambda item: item @ right)
        return total

    size = max(1, min(64, 65536//max(1, c.shape[1])))
    many = c.shape[0]//size*size if c.shape[0] > size else 0
    parts = []
    if many:
        shaped = jax.tree.map(lambda a: a[:many].reshape(-1, size, a.shape[-1]), (first, c))
        parts.append(jax.lax.map(block, shaped).reshape(many, -1))
    if many < c.shape[0]:
        parts.append(block(jax.tree.map(lambda a: a[many:], (first, c))))
    return jnp.concatenate(parts)


def _triples(made, first, second, c):
    """The values for coordinates (n, r) of each pair and correlations (n)."""
    total = jnp.zeros_like(c)
    for parity, part in enumerate(made):
        if part:
            left, right = first[parity], second[parity]
            total = total + _clenshaw(jnp.asarray(part[2]), parity, c, lambda core: ((left @ core)*right).sum(-1))
    return total


def _series(key, f, g, level, q1, q2, c):
    """E f(u) g(v) within one level."""
    z, made = _prepared(key, f, g, level, c.dtype)
    shape = jnp.broadcast_shapes(q1.shape, q2.shape, c.shape)
    q1, q2 = (q.reshape((1,)*(2 - q.ndim) + q.shape) for q in (q1, q2))
    if len(shape) == 2 and q1.shape[1] == 1 and q2.shape[0] == 1:
        first, second = _coordinates(f, q1[:, 0], z, made, level, 0), _coordinates(g, q2[0], z, made, level, 1)
        first = [part if part is None else jnp.broadcast_to(part, (shape[0], part.shape[1])) for part in first]
        return _pairs(made, first, second, jnp.broadcast_to(c, shape))
    q1, q2, c = (jnp.broadcast_to(value, shape).reshape(-1) for value in (q1.reshape(q1.shape[-len(shape):] if shape
                 else ()), q2.reshape(q2.shape[-len(shape):] if shape else ()), c))
    first, second = _coordinates(f, q1, z, made, level, 0), _coordinates(g, q2, z, made, level, 1)
    return _triples(made, first, second, c).reshape(shape)


def _at_most(q, top):
    """q where it is inside a level; with the whole gradient at its end, which a minimum would halve."""
    return jnp.where(q <= top, q, top)


def _by_level(levels, largest, within, beyond):
    """The value by the first level that holds the largest variance, computed for that level only."""
    if len(levels) == 1 and beyond is None:
        return within(levels[0])
    place = sum((largest > level[0]).astype(int) for level in levels)
    branches = [lambda level=level: within(level) for level in levels]
    return jax.lax.switch(place, [*branches, beyond or branches[-1]])


def _surrogate(key, f, g, levels, otherwise, q1, q2, c):
    """E f(u) g(v) for variances q1, q2 and correlation c, by the smallest level that holds the variances."""
    top = levels[-1][0]
    q1, q2, c = (jnp.asarray(value) for value in (q1, q2, c))
    shape = jnp.broadcast_shapes(q1.shape, q2.shape, c.shape)
    outside = jnp.broadcast_to((q1 > top) | (q2 > top), shape)

    def within(level):
        return _series(key, f, g, level, _at_most(q1, level[0]), _at_most(q2, level[0]), c).reshape(shape)

    def beyond():
        return jnp.where(outside, jnp.broadcast_to(otherwise(q1, q2, c), shape), within(levels[-1]))

    largest = jax.lax.stop_gradient(jnp.maximum(q1.max(initial=0.0), q2.max(initial=0.0)))
    value = _by_level(levels, largest, within, beyond if otherwise is not None else None)
    wrong = jnp.abs(c) > 1 if otherwise is not None else outside | (jnp.abs(c) > 1)
    return jnp.where(wrong, jnp.nan, value)


def _moment(f, levels, otherwise, q):
    """E f(x), x ~ N(0, q), by the trapezoidal rule of the level."""

    def within(level):
        z, root = (np.asarray(part, q.dtype) for part in _half_rule(level[1]))
        x = jnp.sqrt(_at_most(q, level[0]))[..., None]*z
        return (f(x) + f(-x)) @ (root*root/2)

    def beyond():
        return jnp.where(q > levels[-1][0], otherwise(q), within(levels[-1]))

    largest = jax.lax.stop_gradient(q.max(initial=0.0))
    value = _by_level(levels, largest, within, beyond if otherwise is not None else None)
    return value if otherwise is not None else jnp.where(q > levels[-1][0], jnp.nan, value)
'''
)
