"""Surrogates in torch: Hermite series compressed in the variances and in the correlation."""

from derive.emit.surrogates._torch_tables import TABLES

SURROGATE = (
    TABLES
    + '''

def _seen(*values):
    """Whether values are tensors with numbers in them: not while tracing or under vmap."""
    if torch.compiler.is_compiling():
        return False
    try:
        return all(value.data_ptr() >= 0 for value in values)
    except RuntimeError:
        return False


def _plain(*values):
    """Whether nobody differentiates or transforms them: what may be computed in place."""
    return not any(value.requires_grad for value in values) and _seen(*values)


def _coordinates(f, q, z, made, level, second):
    """Coordinates of the Hermite coefficients of f at each variance."""
    parts = []
    for some in q.reshape(-1).split(4096) if q.numel() > 4096 else (q.reshape(-1),):
        values = _halves(f, some, z, level[2], level[3])
        parts.append([value @ part[second] if part else None for part, value in zip(made, values)])
    joined = [torch.cat(rows) if rows[0] is not None else None for rows in zip(*parts)]
    return [part.reshape(*q.shape, -1) if part is not None else None for part in joined]


def _clenshaw(first, terms, parity, c):
    """sum_m D_m T_m(c) over the m of a parity; D_m is terms[m], or first[m] @ terms with `first` given."""
    twice = 4*c*c - 2
    here, before = torch.zeros_like(c), torch.zeros_like(c)
    flat = first is not None and c.dim() == 2 and first.dim() == 3 and first.shape[1] == c.shape[0]
    flat = flat and terms.shape[-1] == c.shape[1] and _plain(first, terms, c)
    for m in reversed(range(len(terms) if first is None else len(first))):
        if flat:
            torch.addmm(before, first[m], terms, beta=-1, out=before)
            here, before = before.addcmul_(twice, here), here
        else:
            term = terms[m] if first is None else first[m] @ terms
            here, before = term - before + twice*here, here
    return c*(here - before) if parity else here - twice/2*before


def _chains(left, right, parity, c):
    """sum_k a_k b_k c^k over the k of a parity for rows and columns of coefficients, by four chains of Horner."""
    square = c*c
    fourth, sums = (square*square)*(square*square), [torch.zeros_like(c)]*4
    for k in reversed(range(left.shape[-1])):
        sums[k % 4] = sums[k % 4]*fourth + left[..., :, None, k]*right[..., None, :, k]
    total = (sums[0] + sums[1]*square) + (sums[2] + sums[3]*square)*(square*square)
    return c*total if parity else total


def _pairs(made, first, second, c):
    """The values for coordinates of rows (..., n, 1, r), columns (..., 1, m, r) and correlations (..., n, m)."""
    total = 0.0
    for parity, part in enumerate(made):
        if part:
            left = first[parity].squeeze(-2)
            if torch.compiler.is_compiling() and len(part[3]) <= 80:  # one fused loop
                right = second[parity].squeeze(-3) @ part[4].T
                total = total + _chains(left @ part[3].T, right, parity, c)
                continue
            cores = part[2].reshape(len(part[2]), *(1,)*(left.dim() - 2), *part[2].shape[1:])
            total = total + _clenshaw(left @ cores, second[parity].squeeze(-3).transpose(-1, -2), parity, c)
    return total


def _over(h, q):
    """h, rows for variances, as a function of variances like those given: interpolated in log q where they are many.

    Chebyshev's coefficients must have decayed to 3e-15 of the largest; else h itself.
    """
    if q.numel() < 1000 or not _seen(q):
        return h
    ends = torch.stack(torch.aminmax(q.detach()))
    if not ends[1] > ends[0] > 1e-9*ends[1]:
        return h
    low, high = torch.log(ends).tolist()
    n = int(14 + 6*(high - low))
    k = torch.arange(n, dtype=torch.float64, device=q.device)
    angle = torch.pi*(k + 0.5)/n
    middle, half = (high + low)/2, (high - low)/2
    matrix = torch.cos(k[:, None]*angle)*((1 + k.clamp(max=1))/n)[:, None]
    made = matrix @ h(torch.exp(middle + half*torch.cos(angle)))
    if bool((made[-3:].abs() > 3e-15*made.abs().amax(0).clamp(min=1)).any()):
        return h

    def interpolated(q):
        t = (torch.log(q) - middle)/half
        rows = [torch.ones_like(t), t]
        for _ in range(2, n):
            rows.append(2*t*rows[-1] - rows[-2])
        return torch.stack(rows).T @ made

    return interpolated


def _scaled(f, z, made, level, second):
    """Variances to rows: log E f^2, then the coordinates over sqrt(E f^2)."""

    def rows(q):
        found = [part for part in _coordinates(f, q, z, made, level, second) if part is not None]
        square = sum((part*part).sum(-1) for part in found)[:, None]
        return torch.cat([torch.log(square), *(part/torch.sqrt(square) for part in found)], dim=-1)

    return rows


def _split(made, rows, kind):
    """The parts of rows after the first column, transposed: coordinates of f (0) or g (1), Chebyshev terms (2)."""
    sizes = [(part[0].shape[1], part[1].shape[1], len(part[2]))[kind] if part else 0 for part in made]
    return [part.T.contiguous() for part in torch.split(rows[:, 1:], sizes, dim=1)]


def _joined(made, first, second):
    """The Chebyshev coefficients in c of each pair, rows of terms, from rows of scaled coordinates."""
    found = []
    for part, left, right in zip(made, _split(made, first, 0), _split(made, second, 1)):
        if part:
            found.append(part[2].flatten(1) @ (left[:, None]*right).flatten(0, 1))
        else:
            found.append(left)
    return found


def _horner(left, right, parity, c):
    """sum_k a_k b_k c^k over the k of a parity, from rows of coefficients."""
    square, product = c*c, left*right
    total = product[-1]
    for term in product.unbind(0)[-2::-1]:
        total = torch.addcmul(term, total, square)
    return c*total if parity else total


def _triples(f, g, z, made, level, q1, q2, c):
    """The values for variances and correlations of each pair, all of one dimension."""
    first = _scaled(f, z, made, level, 0)
    second = first if f is g else _scaled(g, z, made, level, 1)
    alike = f is g and _plain(q1, q2) and torch.equal(q1, q2)
    if alike:

        def one(q):
            rows = second(q)
            return torch.cat([rows[:, :1].T, *_joined(made, rows, rows)]).T

        first = _over(one, q1)
    else:
        first, second = _over(first, q1), _over(second, q2)
    long = max(len(part[3]) for part in made if part) > 256
    found = []
    for one, two, some in zip(q1.split(8192), q2.split(8192), c.split(8192)):
        left = first(one)
        right = left if alike else second(two)
        if alike:
            columns = _split(made, left, 2)
        elif long:
            columns = _joined(made, left, right)
        else:
            columns = zip(_split(made, left, 0), _split(made, right, 1))
        total = 0.0
        for (parity, part), terms in zip(enumerate(made), columns):
            if part and (alike or long):
                total = total + _clenshaw(None, terms, parity, some)
            elif part:
                total = total + _horner(part[3] @ terms[0], part[4] @ terms[1], parity, some)
        found.append(torch.exp((left[:, 0] + right[:, 0])/2)*total)
    return torch.cat(found) if found else c


def _series(key, f, g, level, q1, q2, c):
    """E f(u) g(v) within one level."""
    z, made = _table(key, f, g, level, c.device)
    q1, q2, c = (value.reshape((1,)*(2 - value.dim()) + value.shape) for value in (q1, q2, c))
    shape = torch.broadcast_shapes(q1.shape, q2.shape, c.shape)
    if q1.shape[-2] == 1 and q2.shape[-1] == 1 and q1.numel()*q2.numel() > 1:
        q1, q2, c = (value.transpose(-1, -2) for value in (q1, q2, c))
        return _series(key, f, g, level, q1, q2, c).transpose(-1, -2)
    if q1.shape[-1] == 1 and q2.shape[-2] == 1:
        first, second = _coordinates(f, q1, z, made, level, 0), _coordinates(g, q2, z, made, level, 1)
        c = c.expand(shape)
        rows = max(1, 65536//max(1, c[..., :1, :].numel()))
        if shape[-2] <= rows or torch.compiler.is_compiling():
            return _pairs(made, first, second, c)
        found = []
        for start in range(0, shape[-2], rows):
            block = slice(start, start + rows) if q1.shape[-2] > 1 else slice(None)
            some = [part[..., block, :, :] if part is not None else None for part in first]
            found.append(_pairs(made, some, second, c[..., start:start + rows, :]))
        return torch.cat(found, dim=-2)
    flat = (value.expand(shape).reshape(-1) for value in (q1, q2, c))
    return _triples(f, g, z, made, level, *flat).reshape(shape)


def _level(levels, *variances):
    """The first level that holds every variance, else the last."""
    if len(levels) == 1:
        return levels[0]
    largest = max((float(q.detach().nan_to_num(0.0).max()) for q in variances if q.numel()), default=0.0)
    return next((level for level in levels if largest <= level[0]), levels[-1])


def _surrogate(key, f, g, levels, otherwise, q1, q2, c):
    """E f(u) g(v) for variances q1, q2 and correlation c, by the smallest level that holds the variances."""
    q1, q2, c = (value.to(torch.float64) for value in (q1, q2, c))
    level = _level(levels, q1, q2)
    top = level[0]
    shape = torch.broadcast_shapes(q1.shape, q2.shape, c.shape)
    value = _series(key, f, g, level, q1.clamp(max=top), q2.clamp(max=top), c).reshape(shape)
    outside = ((q1 > top) | (q2 > top) | (c.abs() > 1)).expand(shape)
    if otherwise is None:
        return torch.where(outside, torch.nan, value)
    if bool(outside.any()):
        beyond = outside & (c.abs() <= 1)
        value = torch.where(outside, torch.nan, value)
        if bool(beyond.any()):
            q1, q2, c = (part.expand(shape)[beyond] for part in (q1, q2, c))
            value = value.masked_scatter(beyond, otherwise(q1, q2, c))
    return value


def _moment(f, levels, otherwise, q):
    """E f(x), x ~ N(0, q), by the trapezoidal rule of the level."""
    dtype, q = q.dtype, q.to(torch.float64)
    level = _level(levels, q)
    z, root = _half_rule(level[1], q.device)
    x = torch.sqrt(q.clamp(max=level[0]))[..., None]*z
    value = (f(x) + f(-x)) @ (root*root/2)
    outside = q > level[0]
    if otherwise is None:
        return torch.where(outside, torch.nan, value).to(dtype)
    if bool(outside.any()):
        value = value.masked_scatter(outside, otherwise(q[outside]))
    return value.to(dtype)
'''
)
