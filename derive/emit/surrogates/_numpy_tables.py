"""Tables of surrogates in NumPy, computed where an emitted module is loaded."""

TABLES = '''
_SURROGATES = {}


def _half_rule(step):
    """Nodes z > 0 of the trapezoidal rule and the roots of its weights for E F(z) = E (F(z) + F(-z))/2."""
    z = step*(np.arange(int(12.5/step)) + 0.5)
    return z, np.exp(-z*z/4)*np.sqrt(2*step)/(2*np.pi)**0.25


def _hermite_rows(z, root, parity, terms):
    """h_k(z) times the weights, k = parity, parity + 2, ...; h_k the normalised Hermite polynomials."""
    below, here, found = np.zeros_like(z), root, []
    for k in range(parity + 2*terms):
        if k % 2 == parity:
            found.append(here*root)
        below, here = here, (z*here - np.sqrt(k)*below)/np.sqrt(k + 1)
    return np.array(found)


def _powers(parity, terms, degree):
    """c^k = sum_m t[k, m] T_m(c), k and m from parity in steps of 2: positive numbers, by their ratios."""
    k = parity + 2*np.arange(terms)
    first = np.cumprod(np.concatenate([[1.0], k[1:]/(k[1:] + 1.0) if parity else (k[1:] - 1.0)/k[1:]]))
    found = [first]
    for m in range(parity, parity + 2*degree - 2, 2):
        found.append(found[-1]*np.maximum(k - m, 0)/(k + m + 2.0)*(1 if m else 2))
    return np.stack(found, axis=-1)


def _halves(f, q, z, parts, sides):
    """The even and the odd part of f at sqrt(q) z, None where a part is not used."""
    x = np.sqrt(q)[..., None]*z
    up = f(x)
    if sides == 1:
        return tuple(up if part[0] else None for part in parts)
    down = f(-x)
    return (up + down)/2 if parts[0][0] else None, (up - down)/2 if parts[1][0] else None


def _table(key, f, g, level):
    """Nodes, and for even and odd degrees the maps to coordinates of f and g, the matrices between them, and from
    coordinates to Hermite coefficients.

    The vectors of Hermite coefficients at all variances up to the top lie in a space of small dimension: the first
    left singular vectors of a sample of them.
    """
    if (key, level) in _SURROGATES:
        return _SURROGATES[key, level]
    top, step, parts, sides = level
    z, root = _half_rule(step)
    sample = top*10.0**np.linspace(-12, 0, 200)
    made = []
    for parity, (terms, degree, rank) in enumerate(parts):
        if not terms:
            made.append(None)
            continue
        rows = _hermite_rows(z, root, parity, terms)
        bases = []
        for h in (f, g) if g is not f else (f,):
            scale = np.sqrt(sum((root*part)**2 for part in _halves(h, sample, z, ((1, 1, 1), (1, 1, 1)), 2)).sum(-1))
            columns = rows @ (_halves(h, sample, z, parts, sides)[parity]/scale[:, None]).T
            bases.append(np.linalg.svd(columns, full_matrices=False)[0][:, :rank])
        powers = _powers(parity, terms, degree)
        core = np.stack([bases[0].T @ (weight[:, None]*bases[-1]) for weight in powers.T])
        made.append((rows.T @ bases[0], rows.T @ bases[-1], core, bases[0].T, bases[-1].T))
    _SURROGATES[key, level] = z, made
    return _SURROGATES[key, level]
'''
