"""Monte-Carlo points of a sweep: random networks of finite width, sampled without their weights."""

from __future__ import annotations

from derive.records import EocError
from derive.sweep import Point, Row, base_row, float_of, theory_rows


def evaluate(point: Point) -> list[Row]:
    """The rows of one point, by its measure. It is pickled by name and runs in a worker."""
    return theory_rows(point) if point.measure == "theory" else sampled_rows(point)


def sampled_rows(point: Point) -> list[Row]:
    """Mean variance and correlation at the asked depth over random networks, with standard errors (kind ESTIMATE).

    Point k of a sweep with a seed draws the same networks on every machine of one device class.
    """
    row = base_row(point)
    try:
        means = sampled(point)
    except EocError as error:
        return [{**row, "quantity": "refused", "kind": "UNKNOWN", "label": error.what}]
    rows = [{**row, "quantity": name, "value": mean, "error": error, "kind": "ESTIMATE"} for name, mean, error in means]
    width, networks = dict(point.sampling)["width"], dict(point.sampling)["networks"]
    return [{**one, "label": f"{networks} networks of width {width}"} for one in rows]


def sampled(point: Point) -> list[tuple[str, float, float]]:
    """(quantity, mean, standard error) at the last layer."""
    import torch

    from verify.conditional import kernels
    from verify.stream import stream
    from verify.subject import subject

    torch.set_num_threads(1)
    sampling = dict(point.sampling)
    if sampling["networks"] < 2:
        raise EocError("a standard error needs two networks", instead="monte_carlo = {networks = 64}")
    phi = subject(point.activation, 0, dict(point.parameters)).phi
    q, c = float_of(point.q), float_of(point.c)
    gram = torch.tensor([[q, c * q], [c * q, q]], dtype=torch.float64)
    found = kernels(
        phi, gram, width=sampling["width"], depth=point.depth, networks=sampling["networks"],
        sigma_w=float_of(point.sigma_w), sigma_b=float_of(point.sigma_b), generator=stream(point.seed, point.index, 0),
    )[:, -1]  # fmt: skip
    variance = found[:, 0, 0]
    correlation = found[:, 0, 1] / (found[:, 0, 0] * found[:, 1, 1]).sqrt()
    rows = []
    for name, values in (("q at depth", variance), ("c at depth", correlation)):
        rows.append((name, float(values.mean()), float(values.std() / len(values) ** 0.5)))
    return rows


__all__ = ["evaluate", "sampled"]
