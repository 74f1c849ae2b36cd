"""`eoc init`: a torch model's signals and gradients, predicted and measured, and the weights it should start with."""

from __future__ import annotations

import importlib
import importlib.util
import os
import re
import sys
from pathlib import Path
from typing import Any

import click

from derive.commands._text import TextCommand, common_options
from derive.records import EocError

EPILOG = """Examples:

\b
  eoc init net.py:make --input 3x32x32
  eoc init mypackage.models:resnet --input 3x32x32 --report net.html
  eoc init net.py:make --input 64 --apply weights.pt
  eoc init mypackage.models:gpt --input 128 --tokens 50257
"""


@click.command("init", cls=TextCommand, epilog=EPILOG)
@click.argument("model", metavar="FILE.py:FACTORY|package.module:FACTORY")
@click.option("--input", "size", required=True, metavar="3x32x32", help="Shape of one input, without the batch.")
@click.option(
    "--tokens", type=click.IntRange(min=2), help="Inputs are numbers below this one, as language models take."
)
@click.option("--apply", "weights", metavar="FILE", help="Initialise the model and save its state_dict.")
@click.option("--networks", default=1, show_default=True, type=click.IntRange(min=1), help="Networks to measure.")
@click.option("--seed", default=0, show_default=True, type=click.IntRange(min=0), help="Seed of inputs and weights.")
@click.option("--report", "page", metavar="FILE", help="Write a self-contained HTML report.")
@click.option("--json", "json_file", metavar="FILE|-", help="Write everything as JSON.")
@common_options
def COMMAND(model: str, size: str, quiet: bool, no_cache: bool, **wanted: Any) -> None:
    """Read a torch model, predict its curves at initialization, measure them, and advise sigma_w and sigma_b.

    FACTORY is a function or class that is called without arguments and returns a torch.nn.Module; the inputs are
    standard normal, or random tokens with --tokens. The named file is run as Python, as `python FILE.py` would.
    """
    shape = _shape(size)
    made = _made(model)
    import torch

    from derive.show.files import write, write_bytes
    from derive.show.terminal import console
    from verify.diagnosis import diagnose
    from verify.initialise import initialise_
    from verify.models.show import page, remarks

    batch = _batch(made, shape, wanted["tokens"], torch.Generator().manual_seed(wanted["seed"]))
    found = diagnose(made, batch, networks=wanted["networks"], seed=wanted["seed"])
    written, changes = [], None
    if wanted["weights"]:
        import io

        changes = initialise_(made, batch, wanted["seed"])
        buffer = io.BytesIO()
        torch.save(made.state_dict(), buffer)
        written.append(write_bytes(wanted["weights"], buffer.getvalue()))
    if wanted["page"]:
        written.append(write(wanted["page"], page(found, model)))
    if wanted["json_file"] == "-":
        click.echo(found.to_json())
    elif wanted["json_file"]:
        written.append(write(wanted["json_file"], found.to_json() + "\n"))
    if not quiet and wanted["json_file"] != "-":
        console().print(found.table)
        for line in remarks(found):
            click.echo(line)
        if changes is not None:
            click.echo(str(changes))
    for path in [] if quiet else written:
        click.echo(f"wrote {path}", err=True)


def _shape(text: str) -> tuple[int, ...]:
    if not re.fullmatch(r"\d+(x\d+)*", text) or "0" in text.split("x"):
        raise EocError(f"--input {text} is no shape", instead="--input 3x32x32, or --input 64 for vectors")
    return tuple(int(n) for n in text.split("x"))


def _batch(model: Any, shape: tuple[int, ...], tokens: int | None, generator: Any) -> Any:
    """Eight inputs. Raises EocError for a model that looks numbers up in a table and is given none."""
    import torch

    if tokens is not None:
        return torch.randint(0, tokens, (8, *shape), generator=generator)
    batch = torch.randn(8, *shape, generator=generator)
    table = next((m for m in model.modules() if isinstance(m, torch.nn.Embedding)), None)
    if table is not None:
        try:
            with torch.no_grad():
                model(batch)
        except (RuntimeError, TypeError) as error:
            raise EocError(
                f"the model does not take inputs of shape {'x'.join(map(str, shape))} of real numbers",
                why=str(error).splitlines()[0],
                instead=f"--tokens {table.num_embeddings}, if it takes numbers of tokens",
            ) from error
    return batch


def _made(text: str) -> Any:
    """The model that a factory returns. Raises EocError naming what is missing."""
    place, colon, name = text.rpartition(":")
    if not colon or not name.isidentifier():
        raise EocError(f"{text} names no factory", instead="net.py:make, or mypackage.models:make")
    module = _from_file(Path(place)) if place.endswith(".py") else _imported(place)
    factory = getattr(module, name, None)
    if not callable(factory):
        raise EocError(f"{place} has no function {name}", instead=_offered(module))
    import torch

    made = factory()
    if not isinstance(made, torch.nn.Module):
        raise EocError(f"{name}() returned a {type(made).__name__}, no torch.nn.Module", instead="return the model")
    return made


def _offered(module: Any) -> str:
    names = [n for n, value in vars(module).items() if callable(value) and not n.startswith("_")]
    return f"it has {', '.join(names[:6])}" if names else "def make(): return torch.nn.Sequential(...)"


def _from_file(path: Path) -> Any:
    if not path.is_file():
        raise EocError(f"there is no file {path}", instead="net.py:make")
    spec = importlib.util.spec_from_file_location(path.stem, path)
    if spec is None or spec.loader is None:
        raise EocError(f"{path} is no Python file")
    module = importlib.util.module_from_spec(spec)
    sys.path.insert(0, str(path.resolve().parent))
    try:
        spec.loader.exec_module(module)
    finally:
        sys.path.remove(str(path.resolve().parent))
    return module


def _imported(name: str) -> Any:
    sys.path.insert(0, os.getcwd())
    try:
        return importlib.import_module(name)
    except ModuleNotFoundError as error:
        if error.name and name.startswith(error.name):
            raise EocError(f"there is no module {name}", instead="a file: net.py:make") from None
        raise
    finally:
        sys.path.remove(os.getcwd())
