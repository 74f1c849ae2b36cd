"""Sweeps: the grid, the tidy file, interruption and resumption, processes and a Dask cluster."""

from __future__ import annotations

from concurrent.futures import Executor, Future, ThreadPoolExecutor

import pytest
from click.testing import CliRunner

from derive.records import EocError
from derive.sweep import Point, run, sweep_of, theory_rows
from derive.sweep_file import read_rows, resumed, write_rows
from verify.sweeps import evaluate

GRID = {
    "activations": ["x + 0*a", "relu"],
    "sigma_w": {"from": 1, "to": "1.5", "n": 3},
    "sigma_b": [0.1],
    "parameters": {"a": [1, 2]},
    "depth": [4],
    "seed": 5,
}


def fake(point: Point):
    return [{"point": point.index, "activation": point.activation, "quantity": "index", "value": float(point.index)}]


def test_points_are_the_product_and_parameters_go_where_they_belong():
    points = list(sweep_of(GRID).points())
    assert len(points) == 2 * 3 + 3
    assert [p.index for p in points] == list(range(9))
    assert {p.sigma_w for p in points} == {"1", "5/4", "3/2"}
    assert {p.parameters for p in points if p.activation == "relu"} == {()}


@pytest.mark.parametrize(
    "change",
    [{"activations": []}, {"sigma": [1]}, {"sigma_w": "x"}, {"measures": ["guess"]}, {"depth": [0]}, {"seed": -1},
     {"monte_carlo": {"breadth": 3}}, {"sigma_w": {"from": 1}}],
)  # fmt: skip
def test_bad_grids_are_refused(change):
    with pytest.raises(EocError):
        sweep_of({**GRID, **change})


def test_theory_rows_are_certified_and_refusals_are_rows():
    point = next(iter(sweep_of({"activations": ["relu"], "sigma_w": [1], "sigma_b": [0.5], "depth": [3]}).points()))
    rows = {row["quantity"]: row for row in theory_rows(point)}
    assert rows["q"]["value"] == pytest.approx(0.5, rel=1e-12)
    assert rows["q"]["error"] < 1e-15
    assert rows["q at depth"]["value"] == pytest.approx(0.25 + 0.5 * (0.25 + 0.5))
    bad = Point(0, "nonsense(x)", (), "1", "0", "1", "0.5", 3, "theory", 0)
    assert theory_rows(bad)[0]["kind"] == "UNKNOWN"


def test_random_networks_agree_with_theory_and_repeat():
    table = {"activations": ["relu"], "sigma_w": [1.2], "sigma_b": [0.3], "depth": [4], "measures": ["monte-carlo"]}
    point = next(iter(sweep_of({**table, "monte_carlo": {"width": 2048, "networks": 64}}).points()))
    found = {row["quantity"]: row for row in evaluate(point)}
    truth = {row["quantity"]: row["value"] for row in theory_rows(point)}
    for name, row in found.items():
        assert abs(row["value"] - truth[name]) < 6 * row["error"]
        assert row["kind"] == "ESTIMATE"
    assert evaluate(point) == evaluate(point)


def test_the_file_is_tidy_and_carries_its_question(tmp_path):
    sweep, path = sweep_of(GRID), tmp_path / "a.parquet"
    points = list(sweep.points())
    kept: list[dict] = []
    with ThreadPoolExecutor(2) as pool:
        assert run(points, fake, pool, kept.extend)
    write_rows(path, sweep, kept, {"executor": "threads"})
    about, rows = read_rows(path)
    assert [row["point"] for row in rows] == list(range(9))
    assert about["question"]["sigma_b"] == [0.1]
    assert about["seed"] == 5
    assert len(resumed(path, sweep)) == 9
    with pytest.raises(EocError, match="another sweep"):
        resumed(path, sweep_of({**GRID, "seed": 6}))


class Interrupting(Executor):
    """Answers the first points at once, then behaves as if Ctrl-C had been pressed."""

    def __init__(self, after: int) -> None:
        self.left = after

    def submit(self, fn, /, *args, **kwargs):
        if not self.left:
            raise KeyboardInterrupt
        self.left -= 1
        future: Future = Future()
        future.set_result(fn(*args, **kwargs))
        return future


def test_an_interruption_keeps_what_is_done():
    points = list(sweep_of(GRID).points())
    kept: list[dict] = []
    assert not run(points, fake, Interrupting(4), kept.extend, ahead=2)
    assert {row["point"] for row in kept} == {0, 1, 2, 3}
    rest = [p for p in points if p.index not in {row["point"] for row in kept}]
    assert run(rest, fake, Interrupting(99), kept.extend, ahead=2)
    assert sorted(row["point"] for row in kept) == list(range(9))


def test_a_worker_that_fails_leaves_what_is_done():
    def failing(point):
        if point.index == 3:
            raise OSError("the worker is gone")
        return fake(point)

    points, kept = list(sweep_of(GRID).points()), []
    with ThreadPoolExecutor(1) as executor, pytest.raises(OSError, match="gone"):
        run(points, failing, executor, kept.extend, ahead=2)
    assert {0, 1, 2} <= {row["point"] for row in kept}


def command(*arguments):
    from verify.commands.sweep import COMMAND

    return CliRunner().invoke(COMMAND, [str(a) for a in arguments], catch_exceptions=True)


@pytest.fixture
def grid_file(tmp_path):
    path = tmp_path / "grid.toml"
    path.write_text('activations = ["relu"]\nsigma_w = [1.0, 1.2]\nsigma_b = [0.1]\ndepth = [3]\n')
    return path


def test_processes_answer_and_resume(grid_file, tmp_path):
    out = tmp_path / "out.parquet"
    done = command(grid_file, "--out", out, "--executor", "processes:1")
    assert done.exit_code == 0, done.exception
    first = read_rows(out)[1]
    assert {row["point"] for row in first} == {0, 1}
    assert isinstance(command(grid_file, "--out", out).exception, EocError)
    assert command(grid_file, "--out", out, "--executor", "processes:1", "--resume").exit_code == 0
    assert read_rows(out)[1] == first


@pytest.mark.parametrize("bad", ["threads:2", "processes:0", "dask://", "processes"])
def test_bad_executors_are_refused(grid_file, tmp_path, bad):
    assert isinstance(command(grid_file, "--out", tmp_path / "x.parquet", "--executor", bad).exception, EocError)


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore")
def test_a_dask_cluster_on_loopback(grid_file, tmp_path):
    from distributed import LocalCluster

    out = tmp_path / "dask.parquet"
    options = {"n_workers": 2, "threads_per_worker": 1, "host": "127.0.0.1", "dashboard_address": None}
    with LocalCluster(**options) as cluster:
        address = cluster.scheduler_address.removeprefix("tcp://")
        done = command(grid_file, "--out", out, "--executor", f"dask://{address}")
        assert done.exit_code == 0, done.exception
    assert {row["point"] for row in read_rows(out)[1]} == {0, 1}
