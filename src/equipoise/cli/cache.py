"""`equipoise cache`: what was made and kept, and how to be rid of it."""

from __future__ import annotations

from datetime import datetime
from typing import TYPE_CHECKING, Annotated

import typer

from equipoise.cli.output import Json, emit

if TYPE_CHECKING:
    from rich.console import RenderableType

    from equipoise.cache import Kept

#: Files that are listed unless all are asked for.
_MOST_LISTED = 20


def cache_command(
    clear: Annotated[
        bool, typer.Option("--clear", help="Remove what can be made again; trained runs stay.")
    ] = False,
    every: Annotated[bool, typer.Option("--all", help="List all files, however many.")] = False,
    json: Json = False,
) -> None:
    """Show what is in the cache folder, how large it is and when it was used last, or empty it.

    Tables and artefacts there are made again when they are needed, which takes seconds to minutes.
    The folder is ~/.cache/equipoise, or what the environment variable EQUIPOISE_CACHE says.

    \b
    Example: equipoise cache
    Example: equipoise cache --clear
    """
    from equipoise import cache

    gone = cache.clear() if clear else []
    left = cache.contents()
    data = {
        "folder": str(cache.cache_folder()),
        "files": [_told(kept) for kept in left],
        "size_bytes": sum(kept.size_bytes for kept in left),
        "removed": [_told(kept) for kept in gone],
        "removed_bytes": sum(kept.size_bytes for kept in gone),
    }
    emit(data, json, lambda: _shown(str(data["folder"]), left, gone if clear else None, every))


def _told(kept: Kept) -> dict[str, object]:
    used = datetime.fromtimestamp(kept.used).astimezone()
    return {
        "name": kept.name,
        "kind": kept.kind,
        "size_bytes": kept.size_bytes,
        "used": used.isoformat(timespec="seconds"),
    }


def _size(size_bytes: int) -> str:
    """Bytes as a person reads them.

    >>> _size(0), _size(999), _size(28_524_896), _size(1_300_000_000)
    ('0 kB', '1 kB', '28.5 MB', '1.30 GB')
    """
    if size_bytes >= 10**9:
        return f"{size_bytes / 10**9:.2f} GB"
    if size_bytes >= 10**6:
        return f"{size_bytes / 10**6:.1f} MB"
    return f"{-(-size_bytes // 1000)} kB"


def _shown(folder: str, left: list[Kept], gone: list[Kept] | None, every: bool) -> RenderableType:
    from rich.console import Group
    from rich.table import Table
    from rich.text import Text

    parts: list[RenderableType] = []
    if gone is not None:
        size = _size(sum(kept.size_bytes for kept in gone))
        parts.append(Text(f"{len(gone):,} files removed, {size}"))
        if any(kept.kind == "trained" for kept in left):
            parts.append(Text("what was trained stays: delete those folders yourself"))
    if not left:
        parts.append(Text(f"{folder}: empty"))
        return Group(*parts)
    total = _size(sum(kept.size_bytes for kept in left))
    table = Table(title=Text(f"{folder}: {len(left):,} files, {total}"))
    for column in ("name", "kind", "size", "last used"):
        table.add_column(column, justify="right" if column == "size" else "left", overflow="fold")
    listed = left if every else left[:_MOST_LISTED]
    for kept in listed:
        used = datetime.fromtimestamp(kept.used)
        # Its kind says where it is and how it ends.
        name = kept.name if kept.kind in ("trained", "left-over") else kept.path.stem
        table.add_row(Text(name), kept.kind, _size(kept.size_bytes), f"{used:%Y-%m-%d %H:%M}")
    if len(listed) < len(left):
        rest = left[len(listed) :]
        size = _size(sum(kept.size_bytes for kept in rest))
        table.caption = f"{len(rest):,} more, {size}: add --all"
    parts.append(table)
    return Group(*parts)
