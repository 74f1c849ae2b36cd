"""A user's activation as a trainable layer of torch, and `init_` with the gain that the emitted maps give."""

from __future__ import annotations

from derive.program.init_source import draw_source

TAKEN = frozenset(
    ("training", "type", "half", "float", "double", "bfloat16", "to", "cpu", "cuda", "eval", "train", "apply")
)
"""Attributes of torch.nn.Module that a parameter of phi could meet."""


def layer_source(parameters: tuple[str, ...], title: str) -> str:
    """`class Activation(torch.nn.Module)`, which calls the module's phi."""
    if not parameters:
        return f'''class Activation(torch.nn.Module):
    """{title} as a layer."""

    def forward(self, x):
        return phi(x)'''
    given = ", ".join(parameters)
    fields = {name: f"{name}_" if name in TAKEN else name for name in parameters}
    handed = ", ".join(f"{name}=self.{field}" for name, field in fields.items())
    kept = "\n".join(f'        self._keep("{field}", {name}, learnable)' for name, field in fields.items())
    shown = ", ".join(f"{name}={{self.{field}.tolist()}}" for name, field in fields.items())
    return f'''class Activation(torch.nn.Module):
    """{title} as a layer; {given} are fixed, or learned with the weights where `learnable` is true.

    A parameter may be a number, or a tensor that broadcasts with the input (one value a channel, say). Nothing keeps a
    learned parameter in the domain that the theory asks for.
    """

    def __init__(self, *, {given}, learnable=False):
        super().__init__()
{kept}

    def _keep(self, name, value, learnable):
        value = torch.as_tensor(value, dtype=torch.get_default_dtype()).clone()
        if learnable:
            setattr(self, name, torch.nn.Parameter(value))
        else:
            self.register_buffer(name, value)

    def forward(self, x):
        return phi(x, {handed})

    def extra_repr(self):
        return f"{shown}"'''


_CRITICAL = '''
@torch.no_grad()
def critical_gains({head}):
    """(sigma_w, sigma_b) with chi(q) = 1 and V(q) = q: variances stay at q, gradients keep their size.

    Raises ValueError where sigma_b**2 would be negative.
    """
    q = torch.as_tensor(q, dtype=torch.float64)
    sigma_w = chi(q{of_chi}, sigma_w=1.0)**-0.5
    square = float(q - variance_map(q{of_variance}, sigma_w=sigma_w, sigma_b=0.0))
    if square < -1e-12*float(q):
        raise ValueError(f"at q = {{float(q)}} sigma_b**2 would be {{square:.6g}}: pass sigma_w, or another q")
    return float(sigma_w), square**0.5 if square > 1e-12*float(q) else 0.0
'''

_INIT = '''
def init_(model, *, {head}, mode="fan_in", law="normal", generator=None):
    """Draws the weights of every dense and convolutional layer: Var W = sigma_w**2/fan, Var b = sigma_b**2.

    {words}
    mode  fan_in, fan_out or fan_avg;  law  normal, uniform, truncated (at two deviations) or orthogonal
    """{lines}
    return _fill(model, [sigma_w]*len(_layers(model)), sigma_b, mode, law, generator)
'''


def init_source(critical: tuple[tuple[str, ...], tuple[str, ...]] | None) -> str:
    """`init_(model)`; `critical` names the parameters of the module's `chi` and `variance_map`, which then give the
    gains where none are passed, by `critical_gains`; None where the module has no such maps.
    """
    if critical is None:
        words = "No critical gain is known here: sigma_w must be given."
        return f"{draw_source()}\n\n\n{_INIT.format(head='sigma_w, sigma_b=0.0', words=words, lines='').strip()}"
    of_chi, of_variance = critical
    names = sorted({*of_chi, *of_variance})
    given = [f"{name}={name}" for name in names]
    text = _CRITICAL.format(
        head=", ".join(("q=1.0", *(["*", *names] if names else []))),
        of_chi="".join(f", {name}={name}" for name in of_chi),
        of_variance="".join(f", {name}={name}" for name in of_variance),
    )
    lines = f"""
    if sigma_w is None:
        sigma_w, found = critical_gains({", ".join(("q", *given))})
        sigma_b = found if sigma_b is None else sigma_b
    sigma_b = 0.0 if sigma_b is None else sigma_b"""
    words = "Without sigma_w the gains are those of `critical_gains` at the variance q."
    init = _INIT.format(head=", ".join((*names, "sigma_w=None, sigma_b=None, q=1.0")), words=words, lines=lines)
    return "\n\n\n".join((draw_source(), text.strip(), init.strip()))


def with_import(text: str) -> str:
    """The module's text with `import math` before the first import."""
    return text.replace("\nimport torch\n", "\nimport math\n\nimport torch\n", 1)


__all__ = ["init_source", "layer_source", "with_import"]
