"""C99 code, compiled with the mathematics library and nothing else, and called."""

import ctypes
import math
import shutil
import subprocess

import pytest

from derive import Activation, EocError, expect, theory

pytestmark = pytest.mark.skipif(shutil.which("gcc") is None, reason="needs gcc")


def built(source, folder):
    """The shared library of a module; warnings are errors."""
    (folder / "m.c").write_text(source)
    flags = ["-std=c99", "-Wall", "-Wextra", "-Werror", "-O2", "-fPIC", "-shared"]
    subprocess.run(["gcc", *flags, "-o", str(folder / "m.so"), str(folder / "m.c"), "-lm"], check=True, timeout=60)
    return ctypes.CDLL(str(folder / "m.so"))


def call(library, name, *arguments):
    function = getattr(library, name)
    function.restype = ctypes.c_double
    function.argtypes = [ctypes.c_double] * len(arguments)
    return function(*arguments)


@pytest.mark.parametrize("text", ["relu", "gelu", "erf(x)", "sin(x)", "x*(x > 1) - sinc(x)", "x*tanh(softplus(x))"])
def test_c_activation(text, tmp_path):
    phi = Activation(text)
    library, values = built(phi.code("c"), tmp_path), phi.compile("numpy")
    for x in (-700.0, -3.0, -0.5, 0.0, 0.25, 2.0, 700.0):
        assert call(library, "phi", x) == pytest.approx(float(values(x)), rel=4e-16, abs=1e-300)


@pytest.mark.parametrize("text", ["relu", "gelu", "erf(x)", "sin(x)", "abs(x)"])
def test_c_maps_of_exact_results(text, tmp_path):
    t = theory(text)
    library = built(t.covariance_map.code("c"), tmp_path)
    values = t.covariance_map.compile("numpy")
    for q1, q2, c in ((1.0, 1.0, 1.0), (1.0, 1.0, -1.0), (0.3, 2.0, -0.4), (1e-12, 1e-12, 0.9), (1e6, 1e6, 0.5)):
        scale = math.sqrt(values(q1, q1, 1.0) * values(q2, q2, 1.0))
        assert abs(call(library, "covariance_map", q1, q2, c) - values(q1, q2, c)) <= 2e-15 * scale
    chi = built(t.chi.code("c"), _folder(tmp_path, "chi"))
    assert call(chi, "gradient_gain", 0.7, 1.5) == pytest.approx(float(t.chi.number(q="0.7", sigma_w="1.5")), rel=1e-15)


def _folder(parent, name):
    (parent / name).mkdir()
    return parent / name


def test_c_parameters_follow_the_arguments_in_alphabetical_order(tmp_path):
    second = expect(Activation("max(x, 0) + double*min(x, 0)") ** 2)
    library = built(second.code("c"), tmp_path)
    assert call(library, "second_moment" if "second_moment(" in second.code("c") else "expectation", 2.0, 0.5) == 1.25


def test_c_refuses_what_its_library_lacks():
    with pytest.raises(EocError, match="SPECIAL"):
        theory("elu").covariance_map.code("c")
    with pytest.raises(EocError, match="INTEGRAL"):
        theory("tanh(x)").variance_map.code("c")
    with pytest.raises(EocError, match="erfcx"):
        Activation("erfcx(x)").code("c")


def test_c_text_is_stable_and_ascii_free_of_comment_ends():
    text = theory("gelu").covariance_map.code("c")
    assert text == theory("gelu").covariance_map.code("c")
    assert text.isascii()
