"""Hand-written kernels of neural-tangents, timed on request by benchmarks/emission.py, in that library's Python.

A line "NAME FILE" asks for one call of a kernel on the arrays of the .npz file (covariances K, variances q1 and q2);
the answer is the seconds it took, or "none".
"""

from __future__ import annotations

import sys
import time
import types
from collections.abc import Callable
from functools import cache
from typing import Any

# its experimental part needs TensorFlow, and nothing here needs that part
sys.modules["neural_tangents.experimental"] = types.ModuleType("neural_tangents.experimental")

import jax  # noqa: E402
import numpy as np  # noqa: E402

jax.config.update("jax_enable_x64", True)

from neural_tangents import stax  # noqa: E402

LAYERS = {
    "relu": stax.Relu, "erf": stax.Erf, "gelu": stax.Gelu, "sin": stax.Sin, "cos": stax.Cos, "abs": stax.Abs,
    "leaky_relu": lambda: stax.LeakyRelu(0.125), "squared_relu": lambda: stax.RectifiedMonomial(2),
}  # fmt: skip


@cache
def kernel(name: str) -> Callable[..., Any]:
    """The jitted map (K, q1, q2) -> covariances after the layer."""
    _, _, dense = stax.Dense(8)
    template = dense(np.ones((2, 4)), np.eye(2, 4))
    _, _, layer = LAYERS[name]()

    def mapped(k: Any, q1: Any, q2: Any) -> Any:
        return layer(template.replace(nngp=k, cov1=q1, cov2=q2, ntk=None)).nngp

    return jax.jit(mapped)


@cache
def arrays(file: str) -> tuple[Any, ...]:
    """The inputs, on the device."""
    found = np.load(file)
    return tuple(jax.numpy.asarray(found[key]) for key in ("K", "q1", "q2"))


for line in sys.stdin:
    name, file = line.split()
    if name not in LAYERS:
        print("none", flush=True)
        continue
    given = arrays(file)
    start = time.perf_counter()
    kernel(name)(*given).block_until_ready()
    print(time.perf_counter() - start, flush=True)
