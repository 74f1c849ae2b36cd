"""Quadrature in NumPy: composite Gauss-Legendre for one variable, Hermite series with a Parseval bound for pairs."""

TYPES = ("ArrayLike", "ArrayLike", "NDArray[np.floating]")
UNPACK = "_arrays"

QUADRATURE = '''
_GAUSS = np.polynomial.legendre.leggauss(20)
_TAIL = (np.polynomial.legendre.legvander(_GAUSS[0], 19)*_GAUSS[1][:, None]*(np.arange(20) + 0.5))[:, 17:]
_OCTAVES = 2.0**np.arange(-30, 16, 0.5)


def _panels(edges):
    """Nodes and weights of the 20-point Gauss-Legendre rule on the panels between sorted edges (last axis)."""
    left, half = edges[..., :-1, None], np.diff(edges)[..., :, None]/2
    nodes = left + half*(1 + _GAUSS[0])
    weights = half*_GAUSS[1]
    return nodes.reshape(*nodes.shape[:-2], -1), weights.reshape(*weights.shape[:-2], -1)


def _edges(f, reach, breaks, octaves=_OCTAVES):
    """Edges of panels on which 20 points resolve f.

    Panels double every two steps away from 0 and from each breakpoint, so that every scale is met; one is halved
    while the last Legendre coefficients of f on it are not small against f there and nearer to 0.
    """
    centres = np.array([0.0, *breaks])
    edges = np.concatenate([centres] + [centre + s*octaves for centre in centres for s in (-1, 1)])
    edges = np.unique(np.clip(edges, -reach, reach))
    while edges.size < 4000:
        left, half = edges[:-1], np.diff(edges)/2
        values = f(left[:, None] + half[:, None]*(1 + _GAUSS[0]))
        size = np.abs(values).max(-1)
        order = np.argsort(np.minimum(np.abs(left), np.abs(edges[1:])))
        nearer = np.empty_like(size)
        nearer[order] = np.maximum.accumulate(size[order])
        bad = np.abs(values @ _TAIL).max(-1) > 1e-13*size + 1e-15*nearer
        bad &= half > 1e-12*np.abs(edges[1:])
        if not bad.any():
            break
        edges = np.sort(np.concatenate([edges, left[bad] + half[bad]]))
    return edges


def _expectation(f, q, breaks=()):
    """E f(x), x ~ N(0, q), by Gauss-Legendre panels that do not depend on q."""
    q = np.asarray(q, dtype=float)
    low = np.log2(q.min(initial=1.0, where=q > 0))/2
    octaves = _OCTAVES if low > -26 else 2.0**np.arange(np.floor(low) - 4, 16, 0.5)
    x, w = _panels(_edges(f, 38.6*np.sqrt(q.max(initial=0.0)), breaks, octaves))
    fw = f(x)*w
    flat = q.reshape(-1)
    out = np.empty_like(flat)
    for start in range(0, flat.size, 256):
        s = flat[start:start + 256, None]
        out[start:start + 256] = np.exp(-x*x/(2*s)) @ fw/np.sqrt(2*np.pi*s[:, 0])
    return out.reshape(q.shape)


def _z_rule(scales, edges):
    """Nodes and weights (the normal density included) in z, for functions of scale times z with these edges."""
    cuts = [np.clip(e/s[..., None], -13.0, 13.0) for s, e in zip(scales, edges)]
    base = np.broadcast_to(np.linspace(-13.0, 13.0, 105), (*scales[0].shape, 105))
    z, w = _panels(np.sort(np.concatenate([base, *cuts], axis=-1), axis=-1))
    return z, w*np.exp(-z*z/2)/np.sqrt(2*np.pi)


def _weighted(f, weight, q, breaks=()):
    """E f(sqrt(q) z) weight(z), z standard normal."""
    q = np.asarray(q, dtype=float)
    edges, flat = _edges(f, 13*np.sqrt(q.max(initial=0.0)), breaks), q.reshape(-1)
    out = np.empty_like(flat)
    for start in range(0, flat.size, 256):
        root = np.sqrt(flat[start:start + 256])
        z, w = _z_rule((root,), (edges,))
        out[start:start + 256] = (w*weight(z)*f(root[:, None]*z)).sum(-1)
    return out.reshape(q.shape)


def _hermite(f, q, edges, order):
    """E f(sqrt(q) z) h_k(z) for k < order, h_k the normalised Hermite polynomials; and E f^2."""
    root = np.sqrt(q)
    z, w = _z_rule((root,), (edges,))
    values = f(root[..., None]*z)
    weighted = w*values
    below, here, found = np.zeros_like(z), np.ones_like(z), []
    for k in range(order):
        found.append((weighted*here).sum(-1))
        below, here = here, (z*here - np.sqrt(k)*below)/np.sqrt(k + 1)
    return np.stack(found, axis=-1), (weighted*values).sum(-1)


def _plane(f, g, q1, q2, c, edges_f, edges_g, breaks):
    """E f(u) g(v) of one pair, |c| < 1: the mean of g(v) given u, averaged over u; NaN where panels are too many."""
    if edges_f.size + edges_g.size > 600:
        return np.nan
    r1, r2, s = np.sqrt(q1), np.sqrt(q2), np.sqrt((1 - c)*(1 + c))
    own = [edges_f/r1, np.linspace(-13.0, 13.0, 27)]
    if c:  # a kink of g is smoothed over a width s
        beside = s*2.0**np.arange(-2, 20)
        own += [edges_g/(r2*c)] + [(b/r2 + side*beside)/c for b in (0.0, *breaks) for side in (-1, 1)]
    z, w = _panels(np.unique(np.clip(np.concatenate(own), -13.0, 13.0)))
    fw, total = f(r1*z)*w*np.exp(-z*z/2), 0.0
    for start in range(0, z.size, 128):
        some = z[start:start + 128, None]
        cuts = np.clip((edges_g/r2 - c*some)/s, -9.0, 9.0)
        base = np.broadcast_to(np.linspace(-9.0, 9.0, 10), (some.size, 10))
        t, wt = _panels(np.sort(np.concatenate([cuts, base], axis=-1), axis=-1))
        total += fw[start:start + 128] @ (g(r2*(c*some + s*t))*wt*np.exp(-t*t/2)).sum(-1)
    return total/(2*np.pi)


def _pair(f, g, df, dg, q1, q2, c, breaks=()):
    """E f(u) g(v) for variances q1, q2 and correlation c: sum of a_k(q1) b_k(q2) c^k (Mehler).

    The part left out is at most |c|^N sqrt((E f^2 - sum a_k^2)(E g^2 - sum b_k^2)); where that is not below 1e-14
    of sqrt(E f^2 E g^2) with N = 128 the pair is integrated over the plane. c = 1 and c = -1 are one-variable
    expectations.
    """
    q1, q2, c = np.broadcast_arrays(*(np.asarray(value, dtype=float) for value in (q1, q2, c)))
    shape = c.shape
    q1, q2, c = (np.atleast_1d(value).reshape(-1) for value in (q1, q2, c))
    out = np.full(c.shape, np.nan)
    edges_f, edges_g = (_edges(h, 13*np.sqrt(q.max(initial=0.0)), breaks) for h, q in ((f, q1), (g, q2)))
    edge = np.abs(c) == 1
    if edge.any():
        r1, r2 = np.sqrt(q1[edge]), np.copysign(np.sqrt(q2[edge]), c[edge])
        z, w = _z_rule((r1, r2), (edges_f, edges_g))
        out[edge] = (w*f(r1[:, None]*z)*g(r2[:, None]*z)).sum(-1)
    todo = np.flatnonzero(~edge)
    for order in (48, 128):
        for start in range(0, todo.size, max(1, 4096//order)):
            i = todo[start:start + max(1, 4096//order)]
            a, m_f = _hermite(f, q1[i], edges_f, order)
            b, m_g = _hermite(g, q2[i], edges_g, order)
            size = np.sqrt(m_f*m_g)
            left_f, left_g = np.abs(m_f - (a*a).sum(-1)), np.abs(m_g - (b*b).sum(-1))
            good = np.abs(c[i])**order*np.sqrt(left_f*left_g) <= 1e-14*size
            value = (a*b*c[i, None]**np.arange(order)).sum(-1)
            out[i[good]] = value[good]
        todo = todo[np.isnan(out[todo])]
    todo = todo[np.abs(c[todo]) < 1]
    if todo.size:
        coarse = [_edges(h, 13*np.sqrt(q.max()), breaks, 2.0**np.arange(-4, 16)) for h, q in ((f, q1), (g, q2))]
        for i in todo:
            out[i] = _plane(f, g, q1[i], q2[i], c[i], *coarse, breaks)
    return out.reshape(shape)[()]


def _cast(value, dtype):
    """The value in the dtype of the arguments; scalars for scalars."""
    return np.asarray(value, dtype=dtype)[()]
'''
