"""Emitted torch code under torch.compile, alone and inside a user's function."""

import pytest
import torch

from derive import theory
from derive.catalogue import names
from derive.records import EocError, Kind

FEW = ("relu",)

# torch's own: tracing a custom function instantiates it
pytestmark = pytest.mark.filterwarnings("ignore:.*should not be instantiated.*:DeprecationWarning")


def check(name):
    result = theory(name).covariance_map
    if result.kind is not Kind.EXACT or result.parameters:
        pytest.skip("not an exact map without parameters")
    kernel = result.compile("torch")
    q1, q2 = torch.tensor([0.5, 1.0, 2.0], dtype=torch.float64), torch.tensor([1.5, 1.0, 0.1], dtype=torch.float64)
    c = torch.tensor([0.3, 1.0, -1.0], dtype=torch.float64)

    def doubled(q1, q2, c):
        return 2 * kernel(q1, q2, c)

    torch._dynamo.reset()
    torch.testing.assert_close(torch.compile(doubled)(q1, q2, c), doubled(q1, q2, c), rtol=1e-14, atol=1e-15)


@pytest.mark.compile
@pytest.mark.parametrize("name", FEW)
def test_compiled_kernel(name):
    check(name)


@pytest.mark.compile
@pytest.mark.parametrize("name", [name for name in names() if name not in FEW])
def test_compiled_kernels_of_the_catalogue(name):
    try:
        check(name)
    except EocError as error:
        pytest.skip(str(error))
