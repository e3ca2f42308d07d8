"""Results that are tables: as NumPy records, as a Polars frame, in a notebook, as a file.

A class that says its columns is a table in all of these:

>>> class Squares(Columnar):
...     def columns(self):
...         return {"number": [1, 2, 3], "square": [1, 4, 9]}
>>> Squares().to_numpy()["square"]
array([1, 4, 9])
>>> Squares().to_polars().shape
(3, 2)
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Mapping, Sequence
from html import escape
from io import BytesIO
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from equipoise.files import written

if TYPE_CHECKING:
    from polars import DataFrame

#: Rows that a notebook shows.
_MOST_SHOWN = 20


class Columnar(ABC):
    """A result with rows and named columns."""

    __slots__ = ()

    @abstractmethod
    def columns(self) -> Mapping[str, Sequence[Any] | NDArray[Any]]:
        """Name -> one value a row; all columns are equally long."""

    def to_numpy(self) -> NDArray[np.void]:
        """One record a row, with the columns as its fields; what is not known is NaN or None."""
        found = {name: _array(values) for name, values in self.columns().items()}
        rows = len(next(iter(found.values()), ()))
        records = np.empty(rows, dtype=[(name, array.dtype) for name, array in found.items()])
        for name, array in found.items():
            records[name] = array
        return records

    def to_polars(self) -> DataFrame:
        """The table as a Polars frame; what is not known is null."""
        import polars

        found = polars.DataFrame(
            {name: polars.Series(values, strict=False) for name, values in self.columns().items()}
        )
        return found.with_columns(polars.selectors.float().fill_nan(None))

    def caption(self) -> str:
        """What stands above the table in a notebook."""
        return type(self).__name__

    def _repr_html_(self) -> str:
        return html_table(self.caption(), self.columns())


def _array(values: Sequence[Any] | NDArray[Any]) -> NDArray[Any]:
    """A column; numbers of which some are not known are real numbers."""
    if isinstance(values, np.ndarray):
        return values
    if any(value is None for value in values):
        numbers = all(isinstance(value, int | float) for value in values if value is not None)
        if numbers:
            return np.array([np.nan if value is None else value for value in values], dtype=float)
        return np.array(values, dtype=object)
    return np.array(values)


def columns_of(rows: Iterable[Mapping[str, Any]]) -> dict[str, list[Any]]:
    """Columns of rows that all have the same keys.

    >>> columns_of([{"a": 1, "b": 2}, {"a": 3, "b": 4}])
    {'a': [1, 3], 'b': [2, 4]}
    """
    found: dict[str, list[Any]] = {}
    for row in rows:
        for name, value in row.items():
            found.setdefault(name, []).append(value)
    return found


def html_table(title: str, columns: Mapping[str, Sequence[Any] | NDArray[Any]]) -> str:
    """A small table for a notebook: the first rows, and how many more there are.

    >>> html_table("<1>", {"a": [1.5]})
    '<table><caption>&lt;1&gt;</caption><tr><th>a</th></tr><tr><td>1.5</td></tr></table>'
    """
    rows = max((len(values) for values in columns.values()), default=0)
    head = "".join(f"<th>{escape(str(name))}</th>" for name in columns)
    lines = [
        "".join(f"<td>{escape(_cell(values[i]))}</td>" for values in columns.values())
        for i in range(min(rows, _MOST_SHOWN))
    ]
    if rows > _MOST_SHOWN:
        more = f"… {rows - _MOST_SHOWN:,} more rows"
        lines.append(f'<td colspan="{len(columns)}">{more}</td>')
    body = "".join(f"<tr>{line}</tr>" for line in (head, *lines))
    return f"<table><caption>{escape(title)}</caption>{body}</table>"


def _cell(value: Any) -> str:
    if value is None:
        return ""
    return f"{value:.6g}" if isinstance(value, float) else str(value)


def write_frame(frame: DataFrame, path: str | Path, decimals: int | None = None) -> None:
    """Write a table whole or not at all, as CSV or Parquet by the ending of the name."""
    # Through memory: of a full disk Polars tells as of a damaged file.
    table = BytesIO()
    if Path(path).suffix.lower() == ".csv":
        frame.write_csv(table, float_precision=decimals)
    else:
        frame.write_parquet(table)
    with written(path) as file:
        file.write(table.getbuffer())
