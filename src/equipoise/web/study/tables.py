"""Tables of figures on the study pages: they sort, and are taken away as CSV, JSON and picture."""

from __future__ import annotations

import io
import json
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from nicegui import run, ui

from equipoise.errors import EquipoiseError
from equipoise.web.shell import complain

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from equipoise.columnar import Columnar


def figures_table(
    keys: list[str], rows: list[dict[str, Any]], row_key: str, most: int | None = None
) -> ui.table:
    """A table of figures that sorts."""
    columns = [
        {"name": key, "label": key.replace("_", " "), "field": key, "sortable": True,
         "align": "left" if place == 0 else "right"}
        for place, key in enumerate(keys)
    ]  # fmt: skip
    shown = [
        {key: round(value, 3) if isinstance(value, float) else value for key, value in row.items()}
        for row in rows
    ]
    pages = {"rowsPerPage": most} if most else None
    return ui.table(columns=columns, rows=shown, row_key=row_key, pagination=pages).props(
        "dense flat"
    )


def saved(
    name: str,
    table: Columnar | None,
    plot: Callable[[], Figure] | None = None,
    whole: Callable[[], dict[str, Any]] | None = None,
) -> None:
    """Buttons that download a table as CSV and JSON, and its picture; `whole` says more as JSON."""

    def as_csv() -> bytes:
        assert table is not None
        text: str = table.to_polars().write_csv(float_precision=6)
        return text.encode()

    def as_json() -> bytes:
        if whole is not None:
            return json.dumps(whole()).encode()
        assert table is not None
        text: str = table.to_polars().write_json()
        return text.encode()

    def as_png() -> bytes:
        assert plot is not None
        data = io.BytesIO()
        plot().savefig(data, format="png", dpi=150)
        return data.getvalue()

    kinds = {"CSV": as_csv if table is not None else None, "JSON": as_json}
    kinds["PNG"] = as_png if plot is not None else None
    with ui.element("div").classes("line"):
        for kind, make in kinds.items():
            if make is not None:
                _button(kind, f"{name}.{kind.lower()}", make)


def _button(label: str, file: str, make: Callable[[], bytes]) -> None:
    async def download() -> None:
        # Polars and Matplotlib take a second to load: beside the pages.
        try:
            data = await run.io_bound(make)
        except EquipoiseError as error:
            complain(str(error))
            return
        if data is not None:
            ui.download(data, file)

    ui.button(label, on_click=download).props("outline dense")
