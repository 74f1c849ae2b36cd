"""Settings of all tests: repeatable hypothesis, an own cache folder, no silent skips where the tools are installed."""

from __future__ import annotations

import atexit
import os
import shutil
import tempfile

import pytest
from hypothesis import HealthCheck, settings

# Derandomised: the same examples on every machine and every run. `--hypothesis-profile=search` looks for new ones.
settings.register_profile(
    "default", derandomize=True, deadline=None, database=None, suppress_health_check=[HealthCheck.too_slow]
)
settings.register_profile("search", max_examples=1000, deadline=None)
settings.load_profile("default")

# Commands under test, and the processes they start, must not read what an earlier version cached for the user.
os.environ["EOC_CACHE_DIR"] = tempfile.mkdtemp(prefix="eoc-tests-")
atexit.register(shutil.rmtree, os.environ["EOC_CACHE_DIR"], ignore_errors=True)
os.environ["MPLBACKEND"] = "Agg"
os.environ.setdefault("COLUMNS", "120")

NO_SKIP = "EOC_NO_SKIP"
ALLOWED_SKIPS = ("CUDA",)  # what a test machine may lack even when all tools are installed


def unexpected_skips(reports) -> list[str]:
    """Reasons of skips that are not allowed where all tools are installed."""
    reasons = [report.longrepr[2] if isinstance(report.longrepr, tuple) else str(report.longrepr) for report in reports]
    return [reason for reason in reasons if not any(allowed in reason for allowed in ALLOWED_SKIPS)]


@pytest.hookimpl(trylast=True)
def pytest_sessionfinish(session, exitstatus):
    """With EOC_NO_SKIP=1 (continuous integration, tools installed), a skipped test fails the run."""
    reporter = session.config.pluginmanager.get_plugin("terminalreporter")
    if not os.environ.get(NO_SKIP) or reporter is None or hasattr(session.config, "workerinput"):
        return
    reasons = unexpected_skips(reporter.stats.get("skipped", []))
    if reasons and exitstatus == 0:
        session.exitstatus = 1
        session.config.stash[_SKIPS] = reasons


def pytest_terminal_summary(terminalreporter, config):
    """Say which skips failed the run."""
    for reason in config.stash.get(_SKIPS, []):
        terminalreporter.write_line(f"skipped although {NO_SKIP} is set: {reason}", red=True)


_SKIPS = pytest.StashKey[list]()
