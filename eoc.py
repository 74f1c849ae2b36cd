"""The command line's front door: lists the commands by file name and imports only the one asked for."""

from __future__ import annotations

import importlib
import os
import pkgutil
import sys
import traceback
from pathlib import Path
from typing import Any

import click

from derive import __version__
from derive.records import EocError, SelfTestFailed

PACKAGES = ("derive", "verify")
"""Packages with a `commands` folder; each file NAME.py there defines `COMMAND`, the command `eoc NAME`."""

EXTRAS = {
    "matplotlib": "report",
    "jinja2": "report",
    "latex2mathml": "report",
    "torch": "verify",
    "scipy": "verify",
    "jax": "jax",
    "dask": "dask",
    "distributed": "dask",
    "pyarrow": "sweep",
}
"""Which extra brings an optional package."""


def command_modules() -> dict[str, str]:
    """Command names and the modules that define them; nothing is imported."""
    here = Path(__file__).resolve().parent
    return {
        module.name: f"{package}.commands.{module.name}"
        for package in PACKAGES
        for module in pkgutil.iter_modules([str(here / package / "commands")])
        if not module.name.startswith("_")
    }


class FrontDoor(click.Group):
    """A group that finds its commands by file name and turns errors into exit codes."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return sorted(command_modules())

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        module = command_modules().get(cmd_name)
        return importlib.import_module(module).COMMAND if module else None

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        if args and args[0] not in command_modules() and not args[0].startswith("-"):
            from difflib import get_close_matches

            close = get_close_matches(args[0], command_modules(), n=1)
            hint = (
                f"did you mean `eoc {close[0]}`?" if close else f"a formula goes with a command: eoc derive {args[0]!r}"
            )
            raise EocError(
                f"there is no command {args[0]!r}", why=f"commands: {', '.join(self.list_commands(ctx))}", instead=hint
            )
        return super().resolve_command(ctx, args)

    def main(self, *args: Any, **kwargs: Any) -> Any:
        kwargs["standalone_mode"] = False
        sys.exit(_guarded(lambda: super(FrontDoor, self).main(*args, **kwargs)))


def _guarded(run) -> int:
    """The exit code of `run`; what went wrong is written to stderr."""
    try:
        return int(run() or 0)
    except SelfTestFailed as error:
        return _internal(error)
    except EocError as error:
        return _complain(f"error: {error}", 2)
    except click.UsageError as error:
        error.show()
        return 2
    except click.ClickException as error:
        return _complain(f"error: {error.format_message()}", 2)
    except (click.Abort, KeyboardInterrupt):
        return _complain("interrupted", 130)
    except ModuleNotFoundError as error:
        package = (error.name or "").partition(".")[0]
        if package not in EXTRAS:
            return _internal(error)
        extra = EXTRAS[package]
        instead = f'pip install "eoc[{extra}]", or pip install ".[{extra}]" in a clone'
        return _complain(f"error: this needs the package {package}\ninstead: {instead}", 2)
    except OSError as error:
        if error.filename is None:
            return _internal(error)
        return _complain(f"error: {error.filename}: {error.strerror}", 2)
    except Exception as error:
        return _internal(error)


def _internal(error: BaseException) -> int:
    if os.environ.get("EOC_DEBUG"):
        traceback.print_exc()
    text = " ".join(str(error).split()) or "no message"
    return _complain(f"internal error: {type(error).__name__}: {text} (EOC_DEBUG=1 shows the traceback)", 3)


def _complain(message: str, code: int) -> int:
    click.echo(message, err=True)
    return code


@click.group(
    cls=FrontDoor,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 110},
    epilog="Example: eoc derive gelu",
)
@click.version_option(__version__, prog_name="eoc")
def cli() -> None:
    """Derive the wide-network theory of an activation, export it, and verify it.

    Exit codes: 0 nothing refuted, 1 a claim refuted or left without a check, 2 bad input, missing extra or
    unreadable file, 3 internal error, 130 interrupted.
    """


def main(arguments: list[str] | None = None) -> None:
    """Run `eoc` with the given arguments (default: those of the process) and exit."""
    cli.main(args=arguments, prog_name="eoc")


if __name__ == "__main__":
    main()
