"""What a terminal would show, as text."""

from __future__ import annotations

from io import StringIO

from rich.console import Console, RenderableType


def printed(shown: RenderableType) -> str:
    """A table or a report on a terminal of 200 columns."""
    console = Console(width=200, file=StringIO(), markup=False)
    console.print(shown)
    return console.file.getvalue()
