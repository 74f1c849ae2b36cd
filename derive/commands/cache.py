"""`eoc cache`: the on-disk cache."""

from __future__ import annotations

import click


@click.group("cache", epilog="Example: eoc cache clear")
def COMMAND() -> None:
    """The on-disk cache of derived documents (EOC_CACHE_DIR moves it)."""


@COMMAND.command("clear", epilog="Example: eoc cache clear")
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
@click.option("-q", "quiet", is_flag=True, help="Print nothing.")
def clear(as_json: bool, quiet: bool) -> None:
    """Remove every entry of the cache."""
    from derive import cache

    count = cache.clear()
    if as_json:
        import json

        click.echo(json.dumps({"schema": "eoc.cache-clear/1", "folder": str(cache.folder()), "removed": count}))
    elif not quiet:
        click.echo(f"removed {count} entr{'y' if count == 1 else 'ies'} from {cache.folder()}")
