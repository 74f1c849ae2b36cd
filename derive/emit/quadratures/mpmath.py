"""Quadrature in mpmath: Gauss-Legendre between breakpoints, one variable inside the other for pairs."""

TYPES = ("mp.mpf", "mp.mpf", "mp.mpf")
UNPACK = "_reals"

QUADRATURE = '''
def _line(scale, shift, breaks):
    """The ends of intervals in z: breakpoints of functions of shift + scale*z, and steps between them."""
    reach = mp.sqrt(2*mp.log(10)*(mp.dps + 3)) + 2
    cuts = [(b - shift)/scale for b in (0, *breaks)]
    ends = [-reach, -reach/3, reach/3, reach] + cuts + [cut + side/scale for cut in cuts for side in (-2, 2)]
    return sorted({end for end in ends if abs(end) <= reach})


def _expectation(f, q, breaks=()):
    """E f(x), x ~ N(0, q), at the precision in force."""
    root = mp.sqrt(q)
    return mp.quad(lambda z: f(root*z)*mp.npdf(z), _line(root, 0, breaks), method="gauss-legendre")


def _weighted(f, weight, q, breaks=()):
    """E f(sqrt(q) z) weight(z), z standard normal, at the precision in force."""
    root = mp.sqrt(q)
    return mp.quad(lambda z: f(root*z)*weight(z)*mp.npdf(z), _line(root, 0, breaks), method="gauss-legendre")


def _pair(f, g, df, dg, q1, q2, c, breaks=()):
    """E f(u) g(v) for variances q1, q2 and correlation c: the conditional mean of g(v) given u, averaged."""
    r1, r2, width = mp.sqrt(q1), mp.sqrt(q2), mp.sqrt((1 - c)*(1 + c))

    def conditional(z):
        if width == 0:
            return g(r2*c*z)
        ends = _line(r2*width, r2*c*z, breaks)
        return mp.quad(lambda t: g(r2*(c*z + width*t))*mp.npdf(t), ends, method="gauss-legendre")

    ends = sorted({*_line(r1, 0, breaks), *(_line(r2*abs(c), 0, breaks) if c != 0 else ())})
    return mp.quad(lambda z: f(r1*z)*conditional(z)*mp.npdf(z), ends, method="gauss-legendre")


def _cast(value, dtype):
    """The value."""
    return value
'''
