"""Emitted text on disk: the same path for code and compile, keyed by content, safe under processes at once."""

import os
import subprocess
import sys

from derive import cache, theory
from derive.emit import loading

ASK = "from derive import theory; print(theory('relu').chi.code('numpy'))"


def test_code_and_compile_are_one_path(tmp_path, monkeypatch):
    monkeypatch.setenv("EOC_CACHE_DIR", str(tmp_path))
    result = theory("relu").covariance_map
    text = result.code("numpy")
    kernel = result.compile("numpy")
    assert getattr(loading.load(text), "covariance_map") is kernel  # noqa: B009
    assert len(list(tmp_path.glob("*.json"))) == 1
    result.code("torch")
    theory("relu").second_moment.code("numpy")
    assert len(list(tmp_path.glob("*.json"))) == 3


def test_kept_text_is_read_and_other_content_is_not(tmp_path, monkeypatch):
    monkeypatch.setenv("EOC_CACHE_DIR", str(tmp_path))
    asked = []
    monkeypatch.setattr(cache, "store", lambda question, answer: asked.append(question))
    first, twin = theory("leaky_relu").chi, theory("leaky_relu").chi.subs(a="1/4")
    assert first.code("numpy") != twin.code("numpy")
    assert asked[0]["template"] != asked[1]["template"] and len(asked) == 2


def test_processes_at_once_agree(tmp_path):
    environment = {**os.environ, "EOC_CACHE_DIR": str(tmp_path)}
    running = [
        subprocess.Popen([sys.executable, "-c", ASK], env=environment, stdout=subprocess.PIPE, text=True)
        for _ in range(2)
    ]
    texts = [process.communicate(timeout=120)[0] for process in running]
    assert texts[0] == texts[1] and "def " in texts[0] and all(process.returncode == 0 for process in running)
    assert len(list(tmp_path.iterdir())) == 1  # one entry, no part of a file
