"""Tables of surrogates in torch, computed where an emitted module is loaded."""

TABLES = '''
_SURROGATES = {}


def _half_rule(step, device):
    """Nodes z > 0 of the trapezoidal rule and the roots of its weights for E F(z) = E (F(z) + F(-z))/2."""
    z = step*(torch.arange(int(12.5/step), dtype=torch.float64, device=device) + 0.5)
    return z, torch.exp(-z*z/4)*(2*step)**0.5/6.283185307179586**0.25


def _hermite_rows(z, root, parity, terms):
    """h_k(z) times the weights, k = parity, parity + 2, ...; h_k the normalised Hermite polynomials."""
    below, here, found = torch.zeros_like(z), root, []
    for k in range(parity + 2*terms):
        if k % 2 == parity:
            found.append(here*root)
        below, here = here, (z*here - k**0.5*below)/(k + 1)**0.5
    return torch.stack(found)


def _powers(parity, terms, degree):
    """c^k = sum_m t[m, k] T_m(c), k and m from parity in steps of 2: positive numbers, by their ratios."""
    k = parity + 2*torch.arange(terms, dtype=torch.float64)
    ratio = k[1:]/(k[1:] + 1) if parity else (k[1:] - 1)/k[1:]
    found = [torch.cat([torch.ones(1, dtype=torch.float64), ratio]).cumprod(0)]
    for m in range(parity, parity + 2*degree - 2, 2):
        found.append(found[-1]*(k - m).clamp(min=0)/(k + m + 2)*(1 if m else 2))
    return torch.stack(found)


def _halves(f, q, z, parts, sides):
    """The even and the odd part of f at sqrt(q) z, None where a part is not used."""
    x = torch.sqrt(q)[..., None]*z
    up = f(x)
    if sides == 1:
        return tuple(up if part[0] else None for part in parts)
    down = f(-x)
    return (up + down)/2 if parts[0][0] else None, (up - down)/2 if parts[1][0] else None


@torch.no_grad()
def _build(f, g, level):
    """Nodes, and for even and odd degrees the maps to coordinates of f and g, the matrices between them, and from
    coordinates to Hermite coefficients.

    The vectors of Hermite coefficients at all variances up to the top lie in a space of small dimension: the first
    left singular vectors of a sample of them.
    """
    top, step, parts, sides = level
    z, root = _half_rule(step, "cpu")
    sample = top*10.0**torch.linspace(-12, 0, 200, dtype=torch.float64)
    every, made = ((1, 1, 1), (1, 1, 1)), []
    for parity, (terms, degree, rank) in enumerate(parts):
        if not terms:
            made.append(None)
            continue
        rows = _hermite_rows(z, root, parity, terms)
        bases = []
        for h in (f, g) if g is not f else (f,):
            scale = sum((root*part)**2 for part in _halves(h, sample, z, every, 2)).sum(-1).sqrt()
            columns = rows @ (_halves(h, sample, z, parts, sides)[parity]/scale[:, None]).T
            bases.append(torch.linalg.svd(columns, full_matrices=False)[0][:, :rank])
        core = torch.stack([bases[0].T @ (weight[:, None]*bases[-1]) for weight in _powers(parity, terms, degree)])
        made.append((rows.T @ bases[0], rows.T @ bases[-1], core, bases[0], bases[-1]))
    return z, made


@torch.compiler.assume_constant_result
def _table(key, f, g, level, device):
    """The tables on a device, built once."""
    if (key, level, device) not in _SURROGATES:
        z, made = _build(f, g, level)
        moved = [tuple(value.to(device) for value in part) if part else None for part in made]
        _SURROGATES[key, level, device] = z.to(device), moved
    return _SURROGATES[key, level, device]
'''
