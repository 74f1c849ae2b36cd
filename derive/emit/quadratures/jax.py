"""Quadrature in JAX: fixed panels in z, cut at every scale; Hermite series with a checked remainder for pairs."""

TYPES = ("jax.typing.ArrayLike", "jax.typing.ArrayLike", "jax.Array")
UNPACK = "_arrays"

QUADRATURE = '''
def _legendre(n=20):
    """Nodes and weights of the n-point Gauss-Legendre rule: eigenvalues of its Jacobi matrix."""
    k = np.arange(1, n)
    beta = k/np.sqrt(4.0*k*k - 1)
    nodes, vectors = np.linalg.eigh(np.diag(beta, 1) + np.diag(beta, -1))
    return nodes, 2*vectors[0]**2


_GAUSS = _legendre()
_OCTAVES = 2.0**np.arange(-12, 14)


def _moving(edges, breaks, reach):
    """Sorted edges; one that lies at a breakpoint moves with it."""
    for at in breaks:
        edges = jnp.where(jnp.abs(edges - at) < 1e-9, at, edges)
    return jnp.sort(jnp.clip(edges, -reach, reach))


def _z_rule(scales, breaks):
    """Nodes and weights (the normal density included) in z, for functions of each scale times z.

    Panels of width 1/4, cut at the breakpoints and at powers of 2 away from 0 and from each breakpoint. They move
    with the scales, so that what a function does at a breakpoint, a jump too, is part of the gradient.
    """
    centres = np.array([0.0, *breaks])
    cuts = np.concatenate([centres] + [centre + s*_OCTAVES for centre in centres for s in (-1, 1)])
    base = jnp.linspace(-13.0, 13.0, 105, dtype=scales[0].dtype)
    parts = [jnp.asarray(cuts, dtype=base.dtype)/s for s in scales]
    edges = _moving(jnp.concatenate([base, *parts]), [b/s for s in scales for b in breaks], 13.0)
    left, half = edges[:-1, None], jnp.diff(edges)[:, None]/2
    z = (left + half*(1 + jnp.asarray(_GAUSS[0], dtype=base.dtype))).reshape(-1)
    w = (half*jnp.asarray(_GAUSS[1], dtype=base.dtype)).reshape(-1)
    return z, w*jnp.exp(-z*z/2)/2.5066282746310002


def _mapped(function, *arguments):
    """The function of scalars over arrays, one element after another."""
    arguments = jnp.broadcast_arrays(*arguments)
    shape = arguments[0].shape
    flat = jax.lax.map(lambda given: function(*given), tuple(a.reshape(-1) for a in arguments))
    return flat.reshape(shape)


def _expectation(f, q, breaks=()):
    """E f(x), x ~ N(0, q)."""

    def one(q):
        root = jnp.sqrt(q)
        z, w = _z_rule((root,), breaks)
        return (w*f(root*z)).sum()

    return _mapped(one, q)


def _weighted(f, weight, q, breaks=()):
    """E f(sqrt(q) z) weight(z), z standard normal."""

    def one(q):
        root = jnp.sqrt(q)
        z, w = _z_rule((root,), breaks)
        return (w*weight(z)*f(root*z)).sum()

    return _mapped(one, q)


def _mehler(f, g, r1, r2, c, rules, order):
    """The series to `order` terms, and whether its remainder is below the tolerance."""
    (z1, w1), (z2, w2) = rules
    f1, g2 = f(r1*z1), g(r2*z2)

    def term(state, k):
        (h1, l1), (h2, l2), power, total, left1, left2 = state
        a, b = (w1*f1*h1).sum(), (w2*g2*h2).sum()
        up, down = 1/jnp.sqrt(k + 1), jnp.sqrt(k)
        first, second = ((z1*h1 - down*l1)*up, h1), ((z2*h2 - down*l2)*up, h2)
        return (first, second, power*c, total + a*b*power, left1 - a*a, left2 - b*b), None

    m1, m2 = (w1*f1*f1).sum(), (w2*g2*g2).sum()
    ones, zeros = jnp.ones_like(z1), jnp.zeros_like(z1)
    start = ((ones, zeros), (jnp.ones_like(z2), jnp.zeros_like(z2)), jnp.ones_like(c), jnp.zeros_like(c), m1, m2)
    end, _ = jax.lax.scan(term, start, jnp.arange(order, dtype=c.dtype))
    tolerance = 1e-14 if c.dtype == jnp.float64 else 1e-6
    remainder = jnp.abs(c)**order*jnp.sqrt(jnp.abs(end[4]*end[5]))
    return end[3], jax.lax.stop_gradient(remainder <= tolerance*jnp.sqrt(m1*m2))


def _plane(f, g, q1, q2, c, breaks):
    """E f(u) g(v) of one pair, |c| < 1: the mean of g(v) given u, averaged over u."""
    r1, r2, s = jnp.sqrt(q1), jnp.sqrt(q2), jnp.sqrt((1 - c)*(1 + c))
    centres = np.array([0.0, *breaks])
    cuts = jnp.asarray(np.concatenate([centres] + [a + side*_OCTAVES for a in centres for side in (-1, 1)]), c.dtype)
    nodes, weights = (jnp.asarray(part, c.dtype) for part in _GAUSS)

    def panels(edges, at, reach, width):
        base = jnp.linspace(-reach, reach, int(2*reach/width) + 1, dtype=c.dtype)
        edges = _moving(jnp.concatenate([base, edges]), at, reach)
        left, half = edges[:-1, None], jnp.diff(edges)[:, None]/2
        z = (left + half*(1 + nodes)).reshape(-1)
        return z, (half*weights).reshape(-1)*jnp.exp(-z*z/2)

    z, w = panels(jnp.concatenate([cuts/r1, cuts/(r2*jnp.where(c == 0, 1, c))]), [b/r1 for b in breaks], 13.0, 1.0)

    def given(z):
        t, wt = panels((cuts/r2 - c*z)/s, [], 9.0, 2.0)
        return (wt*g(r2*(c*z + s*t))).sum()

    return (w*f(r1*z)*jax.lax.map(given, z, batch_size=128)).sum()/6.283185307179586


def _pair(f, g, df, dg, q1, q2, c, breaks=()):
    """E f(u) g(v) for variances q1, q2 and correlation c: sum of a_k(q1) b_k(q2) c^k (Mehler).

    The part left out is at most |c|^N sqrt((E f^2 - sum a_k^2)(E g^2 - sum b_k^2)); where that is not below 1e-14
    (1e-6 in float32) of sqrt(E f^2 E g^2) with N = 64 the pair is integrated over the plane. c = 1 and c = -1 are
    one-variable expectations, and the derivative in c is there sqrt(q1 q2) E f'(u) g'(v) (Price). Of functions that
    jump df and dg are None; their derivative in c is not given at c = 1 and c = -1: NaN.
    """

    def edge(q1, q2, c):
        side = jax.lax.stop_gradient(jnp.where(c < 0, -1.0, 1.0).astype(c.dtype))
        r1, r2 = jnp.sqrt(q1), side*jnp.sqrt(q2)
        z, w = _z_rule((r1, r2), breaks)
        value = (w*f(r1*z)*g(r2*z)).sum()
        if df is None or dg is None:
            return value + 0*jnp.sqrt(1 - c*side)
        return value + (c - side)*jnp.sqrt(q1*q2)*(w*df(r1*z)*dg(r2*z)).sum()

    def series(q1, q2, c):
        r1, r2 = jnp.sqrt(q1), jnp.sqrt(q2)
        rules = _z_rule((r1,), breaks), _z_rule((r2,), breaks)
        short, good = _mehler(f, g, r1, r2, c, rules, 64)

        # elsewhere the other branch of the gradient has a harmless correlation
        inside = jnp.where(jnp.abs(c) < 1, c, 0.5)

        def longer():
            if df is None or dg is None:
                return _plane(f, g, q1, q2, inside, breaks)
            # Price; halfway between c and its copy, so that the second derivative is right too
            fixed = jax.lax.stop_gradient(inside)
            slope = jnp.sqrt(q1*q2)*_plane(df, dg, q1, q2, (inside + fixed)/2, breaks)
            return _plane(f, g, q1, q2, fixed, breaks) + (inside - fixed)*slope

        return jax.lax.cond(good, lambda: short, longer)

    def one(q1, q2, c):
        return jax.lax.cond(jnp.abs(c) == 1, edge, series, q1, q2, c)

    return _mapped(one, q1, q2, c)


def _cast(value, dtype):
    """The value in the dtype of the arguments."""
    return value.astype(dtype)
'''
