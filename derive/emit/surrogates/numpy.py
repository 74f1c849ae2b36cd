"""Surrogates in NumPy: Hermite series compressed in the variances and in the correlation."""

from derive.emit.surrogates._numpy_tables import TABLES

SURROGATE = (
    TABLES
    + '''

def _coordinates(f, q, z, made, level, second):
    """Coordinates of the Hermite coefficients of f at each variance."""
    flat = q.reshape(-1)
    found = [np.empty((flat.size, part[0].shape[1])) if part else None for part in made]
    for start in range(0, flat.size, 1024):
        values = _halves(f, flat[start:start + 1024], z, level[2], level[3])
        for part, into, value in zip(made, found, values):
            if part:
                into[start:start + 1024] = value @ part[second]
    return [part.reshape(*q.shape, -1) if part is not None else None for part in found]


def _clenshaw(terms, parity, c):
    """sum_m D_m T_m(c) over the m of a parity, where terms[m]() computes D_m."""
    twice = 4*c*c - 2
    here, before = np.zeros_like(c), np.zeros_like(c)
    for term in reversed(terms):
        value = term()
        value -= before
        np.multiply(twice, here, out=before)
        before += value
        here, before = before, here
    return c*(here - before) if parity else here - twice/2*before


def _pairs(made, first, second, c):
    """The values for coordinates of rows (..., n, 1, r), columns (..., 1, m, r) and correlations (..., n, m)."""
    total = 0.0
    for parity, part in enumerate(made):
        if part:
            left = np.swapaxes(first[parity], -2, -3)[..., 0, :, :]
            right = np.swapaxes(second[parity][..., 0, :, :], -1, -2)
            total = total + _clenshaw([lambda m=m: left @ m @ right + 0*c for m in part[2]], parity, c)
    return total


def _over(h, q):
    """h, rows for variances, as a function of variances like those given: interpolated in log q where they are many.

    Chebyshev's coefficients must have decayed to 3e-15 of the largest; else h itself.
    """
    low, high = q.min(initial=np.inf), q.max(initial=0.0)
    if q.size < 1000 or not high > low > 1e-9*high:
        return h
    n = int(14 + 6*np.log(high/low))
    angle = np.pi*(np.arange(n) + 0.5)/n
    middle, half = (np.log(high) + np.log(low))/2, (np.log(high) - np.log(low))/2
    made = np.cos(np.outer(np.arange(n), angle))*np.where(np.arange(n) > 0, 2/n, 1/n)[:, None] @ h(
        np.exp(middle + half*np.cos(angle)))
    if (np.abs(made[-3:]) > 3e-15*np.maximum(np.abs(made).max(0), 1)).any():
        return h

    def interpolated(q):
        t = (np.log(q) - middle)/half
        rows = np.empty((n, q.size))
        rows[0], rows[1] = 1, t
        for k in range(2, n):
            np.multiply(2*t, rows[k - 1], out=rows[k])
            rows[k] -= rows[k - 2]
        return rows.T @ made

    return interpolated


def _scaled(f, z, made, level, second):
    """Variances to rows: log E f^2, then the coordinates over sqrt(E f^2)."""

    def rows(q):
        found = [part for part in _coordinates(f, q, z, made, level, second) if part is not None]
        square = sum((part*part).sum(-1) for part in found)[:, None]
        return np.concatenate([np.log(square), *(part/np.sqrt(square) for part in found)], axis=-1)

    return rows


def _joined(made, first, second):
    """The Chebyshev coefficients in c of each pair, rows of terms, from rows of scaled coordinates."""
    found = []
    for part, left, right in zip(made, _split(made, first, 0), _split(made, second, 1)):
        outer = (left[:, None]*right).reshape(-1, left.shape[1])
        found.append(part[2].reshape(len(part[2]), -1) @ outer if part else outer)
    return found


def _split(made, rows, kind):
    """The parts of rows after the first column, transposed: coordinates of f (0) or g (1), Chebyshev terms (2)."""
    at, found = 1, []
    for part in made:
        size = (part[0].shape[1], part[1].shape[1], len(part[2]))[kind] if part else 0
        found.append(np.ascontiguousarray(rows[:, at:at + size].T))
        at += size
    return found


def _horner(left, right, parity, c):
    """sum_k a_k b_k c^k over the k of a parity, from rows of coefficients."""
    square, total = c*c, left[-1]*right[-1]
    for a, b in zip(left[-2::-1], right[-2::-1]):
        total *= square
        total += a*b
    return c*total if parity else total


def _triples(f, g, z, made, level, q1, q2, c):
    """The values for variances and correlations of each pair, all of one dimension."""
    first = _scaled(f, z, made, level, 0)
    second = first if f is g else _scaled(g, z, made, level, 1)
    alike = f is g and (q1 == q2).all()
    if alike:

        def one(q):
            rows = second(q)
            return np.concatenate([rows[:, :1].T, *_joined(made, rows, rows)]).T

        first = _over(one, q1)
    else:
        first, second = _over(first, q1), _over(second, q2)
    long = max(part[3].shape[1] for part in made if part) > 256
    out = np.empty(c.size)
    for start in range(0, out.size, 2048):
        some, total = slice(start, start + 2048), 0.0
        left = first(q1[some])
        right = left if alike else second(q2[some])
        if alike:
            columns = _split(made, left, 2)
        elif long:
            columns = _joined(made, left, right)
        else:
            columns = zip(_split(made, left, 0), _split(made, right, 1))
        for (parity, part), found in zip(enumerate(made), columns):
            if part and (alike or long):
                total = total + _clenshaw([row.copy for row in found], parity, c[some])
            elif part:
                total = total + _horner(part[3].T @ found[0], part[4].T @ found[1], parity, c[some])
        out[some] = np.exp((left[:, 0] + right[:, 0])/2)*total
    return out


def _series(key, f, g, level, q1, q2, c):
    """E f(u) g(v) within one level."""
    z, made = _table(key, f, g, level)
    q1, q2, c = (value.reshape((1,)*(2 - value.ndim) + value.shape) for value in (q1, q2, c))
    shape = np.broadcast_shapes(q1.shape, q2.shape, c.shape)
    if q1.shape[-2] == 1 and q2.shape[-1] == 1 and q1.size*q2.size > 1:
        q1, q2, c = (np.swapaxes(value, -1, -2) for value in (q1, q2, c))
        return np.swapaxes(_series(key, f, g, level, q1, q2, c), -1, -2)
    if q1.shape[-1] == 1 and q2.shape[-2] == 1:
        first, second = _coordinates(f, q1, z, made, level, 0), _coordinates(g, q2, z, made, level, 1)
        c = np.broadcast_to(c, shape)
        out = np.empty(shape)
        rows = max(1, 65536//max(1, out[..., :1, :].size))
        for start in range(0, shape[-2], rows):
            block = slice(start, start + rows) if q1.shape[-2] > 1 else slice(None)
            some = [part[..., block, :, :] if part is not None else None for part in first]
            out[..., start:start + rows, :] = _pairs(made, some, second, c[..., start:start + rows, :])
        return out
    flat = [np.broadcast_to(value, shape).reshape(-1) for value in (q1, q2, c)]
    return _triples(f, g, z, made, level, *flat).reshape(shape)


def _level(levels, *variances):
    """The first level that holds every variance, else the last."""
    largest = max(np.max(q, initial=0.0, where=q == q) for q in variances)
    return next((level for level in levels if largest <= level[0]), levels[-1])


def _surrogate(key, f, g, levels, otherwise, q1, q2, c):
    """E f(u) g(v) for variances q1, q2 and correlation c, by the smallest level that holds the variances."""
    q1, q2, c = (np.asarray(value, dtype=float) for value in (q1, q2, c))
    level = _level(levels, q1, q2)
    shape = np.broadcast_shapes(q1.shape, q2.shape, c.shape)
    value = _series(key, f, g, level, np.minimum(q1, level[0]), np.minimum(q2, level[0]), c).reshape(shape)
    outside = np.broadcast_to((q1 > level[0]) | (q2 > level[0]) | (np.abs(c) > 1), shape)
    if outside.any():
        value[outside] = np.nan
        beyond = outside & (np.abs(c) <= 1)
        if otherwise is not None and beyond.any():
            value[beyond] = otherwise(*(np.broadcast_to(part, shape)[beyond] for part in (q1, q2, c)))
    return value[()]


def _moment(f, levels, otherwise, q):
    """E f(x), x ~ N(0, q), by the trapezoidal rule of the level."""
    q = np.asarray(q, dtype=float)
    level = _level(levels, q)
    z, root = _half_rule(level[1])
    inside, value = q <= level[0], np.full(q.shape, np.nan)
    x = np.sqrt(q[inside])[..., None]*z
    value[inside] = (f(x) + f(-x)) @ (root*root/2)
    if otherwise is not None and (q > level[0]).any():
        value[q > level[0]] = otherwise(q[q > level[0]])
    return value[()]
'''
)
