"""Quadrature in torch: composite Gauss-Legendre for one variable, Hermite series with a Parseval bound for pairs."""

TYPES = ("torch.Tensor", "float | torch.Tensor", "torch.Tensor")
UNPACK = "_tensors"

QUADRATURE = '''
def _legendre(n=20):
    """Nodes and weights of the n-point Gauss-Legendre rule: eigenvalues of its Jacobi matrix."""
    k = torch.arange(1, n, dtype=torch.float64)
    beta = k/torch.sqrt(4*k*k - 1)
    nodes, vectors = torch.linalg.eigh(torch.diag(beta, 1) + torch.diag(beta, -1))
    return nodes, 2*vectors[0]**2


def _tail(nodes, weights):
    """The matrix from values at the nodes to the last three Legendre coefficients."""
    below, here, found = torch.zeros_like(nodes), torch.ones_like(nodes), []
    for k in range(nodes.numel()):
        found.append(here*weights*(k + 0.5))
        below, here = here, ((2*k + 1)*nodes*here - k*below)/(k + 1)
    return torch.stack(found[-3:], dim=-1)


_GAUSS = _legendre()
_TAIL = _tail(*_GAUSS)
_OCTAVES = 2.0**torch.arange(-30, 16, 0.5, dtype=torch.float64)


def _panels(edges):
    """Nodes and weights of the Gauss-Legendre rule on the panels between sorted edges (last axis)."""
    nodes, weights = (part.to(edges.device) for part in _GAUSS)
    left, half = edges[..., :-1, None], torch.diff(edges)[..., :, None]/2
    return (left + half*(1 + nodes)).flatten(-2), (half*weights).flatten(-2)


@torch.no_grad()
def _edges(f, q, deviations, breaks, octaves=_OCTAVES):
    """Edges of panels on which 20 points resolve f, out to that many standard deviations of the largest q.

    Panels double every two steps away from 0 and from each breakpoint, so that every scale is met; one is halved
    while the last Legendre coefficients of f on it are not small against f there and nearer to 0.
    """
    octaves, tail, nodes = octaves.to(q.device), _TAIL.to(q.device), _GAUSS[0].to(q.device)
    centres = [octaves.new_zeros(())] + [octaves.new_tensor(float(b)) for b in breaks]
    edges = torch.cat([torch.stack(centres)] + [centre + s*octaves for centre in centres for s in (-1, 1)])
    reach = deviations*float(q.max().sqrt()) if q.numel() else 1.0
    edges = torch.unique(edges.clamp(-reach, reach))
    while edges.numel() < 4000:
        left, half = edges[:-1], torch.diff(edges)/2
        values = f(left[:, None] + half[:, None]*(1 + nodes))
        size = values.abs().amax(-1)
        order = torch.argsort(torch.minimum(left.abs(), edges[1:].abs()))
        nearer = torch.empty_like(size)
        nearer[order] = size[order].cummax(0).values
        bad = (values @ tail).abs().amax(-1) > 1e-13*size + 1e-15*nearer
        bad &= half > 1e-12*edges[1:].abs()
        if not bool(bad.any()):
            break
        edges = torch.sort(torch.cat([edges, left[bad] + half[bad]])).values
    return edges


def _expectation(f, q, breaks=()):
    """E f(x), x ~ N(0, q), in float64, by Gauss-Legendre panels that do not depend on q."""
    dtype, q = q.dtype, q.to(torch.float64)
    low = float(torch.log2(torch.where(q > 0, q, 1).min().detach()))/2 if q.numel() else 0.0
    octaves = _OCTAVES if low > -26 else 2.0**torch.arange(int(low) - 5, 16, 0.5, dtype=torch.float64)
    x, w = _panels(_edges(f, q, 38.6, breaks, octaves))
    fw = f(x)*w
    flat = q.reshape(-1)
    parts = []
    for start in range(0, flat.numel(), 256):
        s = flat[start:start + 256, None]
        parts.append(torch.exp(-x*x/(2*s)) @ fw/torch.sqrt(6.283185307179586*s[:, 0]))
    return (torch.cat(parts) if parts else flat).reshape(q.shape).to(dtype)


def _moving(edges, breaks):
    """Sorted edges; one that lies at a breakpoint moves with it."""
    for at in breaks:
        edges = torch.where((edges - at).abs() < 1e-9, at, edges)
    return torch.sort(edges.clamp(-13.0, 13.0), dim=-1).values


def _z_rule(scales, edges, breaks):
    """Nodes and weights (the normal density included) in z, for functions of scale times z with these edges.

    Panels move with the scales, so that what a function does at a breakpoint, a jump too, is part of the gradient.
    """
    cuts = [e/s[..., None] for s, e in zip(scales, edges)]
    base = torch.linspace(-13.0, 13.0, 105, dtype=torch.float64, device=scales[0].device)
    edges = torch.cat([base.expand(*scales[0].shape, 105), *cuts], dim=-1)
    z, w = _panels(_moving(edges, [b/s[..., None] for s in scales for b in breaks]))
    return z, w*torch.exp(-z*z/2)/2.5066282746310002


def _weighted(f, weight, q, breaks=()):
    """E f(sqrt(q) z) weight(z), z standard normal, in float64."""
    dtype, q = q.dtype, q.to(torch.float64)
    edges, parts = _edges(f, q, 13.0, breaks), []
    for some in q.reshape(-1).split(256):
        root = torch.sqrt(some)
        z, w = _z_rule((root,), (edges,), breaks)
        parts.append((w*weight(z)*f(root[:, None]*z)).sum(-1))
    return (torch.cat(parts) if parts else q).reshape(q.shape).to(dtype)


def _hermite(f, q, edges, order, breaks):
    """E f(sqrt(q) z) h_k(z) for k < order, h_k the normalised Hermite polynomials; and E f^2."""
    root = torch.sqrt(q)
    z, w = _z_rule((root,), (edges,), breaks)
    values = f(root[..., None]*z)
    weighted = w*values
    below, here, found = torch.zeros_like(z), torch.ones_like(z), []
    for k in range(order):
        found.append((weighted*here).sum(-1))
        below, here = here, (z*here - k**0.5*below)/(k + 1)**0.5
    return torch.stack(found, dim=-1), (weighted*values).sum(-1)


def _mehler(f, g, q1, q2, c, edges, order, breaks):
    """The series to `order` terms, and whether its remainder is below 1e-14 of sqrt(E f^2 E g^2)."""
    a, m_f = _hermite(f, q1, edges[0], order, breaks)
    b, m_g = _hermite(g, q2, edges[1], order, breaks)
    left = ((m_f - (a*a).sum(-1)).abs()*(m_g - (b*b).sum(-1)).abs()).sqrt()
    powers = torch.cat([torch.ones_like(c)[:, None], c[:, None].expand(-1, order - 1).cumprod(-1)], dim=-1)
    return (a*b*powers).sum(-1), (c.abs()**order*left <= 1e-14*(m_f*m_g).sqrt()).detach()


def _plane(f, g, q1, q2, c, edges_f, edges_g, breaks):
    """E f(u) g(v) of one pair, |c| < 1: the mean of g(v) given u, averaged over u; NaN where panels are too many."""
    if edges_f.numel() + edges_g.numel() > 600:
        return c*torch.nan
    r1, r2, s = q1.sqrt(), q2.sqrt(), ((1 - c)*(1 + c)).sqrt()
    own = [edges_f/r1, torch.linspace(-13.0, 13.0, 27, dtype=c.dtype, device=c.device)]
    if c != 0:  # a kink of g is smoothed over a width s
        beside = s*2.0**torch.arange(-2, 20, dtype=c.dtype, device=c.device)
        own += [edges_g/(r2*c)] + [(b/r2 + side*beside)/c for b in (0.0, *breaks) for side in (-1, 1)]
    ends = _moving(torch.cat(own), [b/r1 for b in breaks])
    z, w = _panels(ends[torch.cat([ends.new_ones(1), torch.diff(ends)]) > 0])
    base = torch.linspace(-9.0, 9.0, 10, dtype=c.dtype, device=c.device)
    fw, total = f(r1*z)*w*torch.exp(-z*z/2), 0.0
    for some, weighted in zip(z.split(128), fw.split(128)):
        cuts = ((edges_g/r2 - c*some[:, None])/s).clamp(-9.0, 9.0)
        t, wt = _panels(torch.sort(torch.cat([cuts, base.expand(some.numel(), 10)], dim=-1)).values)
        wt = wt*torch.exp(-t*t/2)
        total = total + weighted @ (g(r2*(c*some[:, None] + s*t))*wt).sum(-1)
    return total/6.283185307179586


def _pair(f, g, df, dg, q1, q2, c, breaks=()):
    """E f(u) g(v) for variances q1, q2 and correlation c: sum of a_k(q1) b_k(q2) c^k (Mehler), in float64.

    The part left out is at most |c|^N sqrt((E f^2 - sum a_k^2)(E g^2 - sum b_k^2)); where that is not below 1e-14
    of sqrt(E f^2 E g^2) with N = 128 the pair is integrated over the plane. c = 1 and c = -1 are one-variable
    expectations, and the derivative in c is there sqrt(q1 q2) E f'(u) g'(v) (Price). Of functions that jump df and
    dg are None; their derivative in c is not given at c = 1 and c = -1: NaN.
    """
    q1, q2, c = torch.broadcast_tensors(q1, q2, c)
    dtype, shape = c.dtype, c.shape
    q1, q2, c = (value.to(torch.float64).reshape(-1) for value in (q1, q2, c))
    out = torch.full_like(c, float("nan"))
    edges = _edges(f, q1, 13.0, breaks), _edges(g, q2, 13.0, breaks)
    edge, jumping = (c.abs() == 1).detach(), df is None or dg is None
    if bool(edge.any()):
        side = c[edge].detach()
        r1, r2 = q1[edge].sqrt(), q2[edge].sqrt()*side
        z, w = _z_rule((r1, r2), edges, breaks)
        u, v = r1[:, None]*z, r2[:, None]*z
        value = (w*f(u)*g(v)).sum(-1)
        if jumping:
            value = value + 0*(1 - c[edge]*side).sqrt()
        elif c.requires_grad:
            value = value + (c[edge] - side)*r1*r2.abs()*(w*df(u)*dg(v)).sum(-1)
        out = out.index_put((edge.nonzero()[:, 0],), value)
    todo = (~edge).nonzero()[:, 0]
    for order in (48, 128):
        kept = []
        for i in todo.split(max(1, 4096//order)):
            value, good = _mehler(f, g, q1[i], q2[i], c[i], edges, order, breaks)
            out = out.index_put((i[good],), value[good])
            kept.append(i[~good])
        todo = torch.cat(kept) if kept else todo
        if todo.numel() == 0:
            break
    todo = todo[c[todo].detach().abs() < 1]
    if todo.numel():
        octaves = 2.0**torch.arange(-4, 16, dtype=torch.float64)
        coarse = _edges(f, q1, 13.0, breaks, octaves), _edges(g, q2, 13.0, breaks, octaves)
        found = []
        for i in todo:
            fixed = c[i] if jumping else c[i].detach()
            value = _plane(f, g, q1[i], q2[i], fixed, *coarse, breaks)
            if c.requires_grad and not jumping:
                # Price; halfway between c and its copy, so that the second derivative is right too
                slope = _plane(df, dg, q1[i], q2[i], (c[i] + fixed)/2, *coarse, breaks)
                value = value + (c[i] - fixed)*(q1[i]*q2[i]).sqrt()*slope
            found.append(value)
        out = out.index_put((todo,), torch.stack(found))
    return out.reshape(shape).to(dtype)


def _cast(value, dtype):
    """The value in the dtype of the arguments."""
    return value.to(dtype)
'''
