"""The report of a batch: what is played on every board, and the mean over all.

Two tables: `spots` has a row for every spot, `lines` one for every spot, line and action. A line is
the first decision (`root`) or the one after each of its actions.

Means over spots use their weights w. At a line that is taken with frequency r on a board, what
counts is w · r, for that is how often the decision comes up; an action taken with frequency f there
has its value weighted by w · r · f. So the mean over boards is the mean over hands played, and the
mean values of the actions of a line, weighted by the mean frequencies, are the mean value of the
line.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from io import BytesIO
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from equipoise.cards import chart
from equipoise.cards.card import cards_text
from equipoise.cards.chart import action_colours
from equipoise.columnar import Columnar, columns_of
from equipoise.errors import EquipoiseError, FileError
from equipoise.files import check_target, written
from equipoise.solve.batch.reportfolder import Row, read_report, rows_text
from equipoise.solve.batch.results import ROOT, JobOutcome

if TYPE_CHECKING:
    from matplotlib.figure import Figure
    from rich.table import Table

#: Figures of a spot that its row holds and that means are taken of.
_FIGURES = ("exploitability_pct_pot", "ev_oop_chips", "ev_ip_chips", "equity_oop")
#: Figures of a line likewise.
_LINE_FIGURES = ("ev_oop_chips", "ev_ip_chips", "equity_oop")
#: Names of the files.
_FILES = (
    *(f"{name}.{kind}" for name in ("spots", "lines", "means") for kind in ("csv", "parquet")),
    "means.json",
    "frequencies.png",
)
#: Up to this many boards are drawn as bars with their names.
_MOST_BARS = 40
#: More actions than this are drawn by kind: all bets are one, all raises are one.
_MOST_ACTIONS = 7


class BatchReport(Columnar):
    """Tables, means and a picture of the spots that were solved."""

    def __init__(self, outcomes: Iterable[JobOutcome]) -> None:
        solved = [outcome for outcome in outcomes if outcome.result is not None]
        if not solved:
            raise EquipoiseError("no spot was solved, so there is nothing to report")
        #: One row a spot.
        self.spots: list[Row] = []
        #: One row a spot, line and action.
        self.lines: list[Row] = []
        for outcome in solved:
            assert outcome.result is not None
            self._add(outcome, outcome.result)

    def _add(self, outcome: JobOutcome, result: Row) -> None:
        job = outcome.job
        head = {
            "name": job.name,
            "board": cards_text(job.spot.board),
            "weight": float(job.weight),
        }
        told = ("iterations", "seconds", "reached", *_FIGURES, "nodes", "memory_mb")
        counted = {"unit": job.spot.unit, "chips_per_unit": job.spot.chips_per_unit}
        figures = {key: result[key] for key in told}
        self.spots.append({**head, "pot": result["pot"], **counted, **figures})
        for line in result["lines"]:
            at = {key: line[key] for key in ("line", "player", "pot", "reach")}
            worth = {key: line[key] for key in _LINE_FIGURES}
            for action in line["actions"]:
                self.lines.append(
                    {
                        **head,
                        **at,
                        "action": action["action"],
                        "frequency": action["frequency"],
                        "action_ev_chips": action["ev_chips"],
                        **worth,
                    }
                )

    def columns(self) -> dict[str, list[Any]]:
        """One row a spot, line and action, or one a spot where none has a decision."""
        return columns_of(self.lines or self.spots)

    def caption(self) -> str:
        """How many spots there are."""
        return f"{len(self.spots):,} spots"

    # ------------------------------------------------------------------------------ means

    def means(self) -> dict[str, Any]:
        """Weighted means over the spots, and over the spots that have a line for every line."""
        weights = [row["weight"] for row in self.spots]
        told: dict[str, Any] = {"spots": len(self.spots), "weight": sum(weights)}
        for key in _FIGURES:
            told[key] = _mean((row[key] for row in self.spots), weights)
        told["lines"] = [self._line_means(line, sum(weights)) for line in self.line_names()]
        return told

    def line_names(self) -> list[str]:
        """Every line, the first decision first, bets by size."""
        names = dict.fromkeys(row["line"] for row in self.lines)
        return sorted(names, key=lambda name: (name != ROOT, _order(name)))

    def action_names(self, line: str) -> list[str]:
        """Every action that some spot has at a line: fold, check, call, then by size."""
        names = dict.fromkeys(row["action"] for row in self.lines if row["line"] == line)
        return sorted(names, key=_order)

    def _line_means(self, line: str, total: float) -> dict[str, Any]:
        rows = [row for row in self.lines if row["line"] == line]
        first = list({row["name"]: row for row in rows}.values())
        often = [row["weight"] * (row["reach"] or 0.0) for row in first]
        told: dict[str, Any] = {
            "line": line,
            "player": rows[0]["player"],
            "reach": sum(often) / total,
        }
        for key in _LINE_FIGURES:
            told[key] = _mean((row[key] for row in first), often)
        known = sum(
            weight for row, weight in zip(first, often, strict=True) if row["frequency"] is not None
        )
        told["actions"] = []
        for name in self.action_names(line):
            having = [row for row in rows if row["action"] == name]
            taken = [
                row["weight"] * (row["reach"] or 0.0) * (row["frequency"] or 0.0) for row in having
            ]
            told["actions"].append(
                {
                    "action": name,
                    "frequency": sum(taken) / known if known > 0 else None,
                    "ev_chips": _mean((row["action_ev_chips"] for row in having), taken),
                }
            )
        return told

    def mean_rows(self) -> list[Row]:
        """The means of :meth:`means` as rows, one a line and action."""
        return [
            {
                **{key: line[key] for key in ("line", "player", "reach")},
                "action": action["action"],
                "frequency": action["frequency"],
                "action_ev_chips": action["ev_chips"],
                **{key: line[key] for key in _LINE_FIGURES},
            }
            for line in self.means()["lines"]
            for action in line["actions"]
        ]

    # ------------------------------------------------------------------------------ files

    @classmethod
    def load(cls, folder: str | Path) -> BatchReport:
        """The report that a batch left in its folder, or in the folder `report` in it."""
        folder = Path(folder)
        found = [at for at in (folder / "report", folder) if (at / "spots.csv").is_file()]
        if not found:
            raise FileError(
                f"{folder}: no report of a batch in it: name the --out of `equipoise batch`"
            )
        report = cls.__new__(cls)
        report.spots, report.lines = read_report(found[0])
        return report

    @staticmethod
    def check_folder(folder: str | Path, overwrite: bool = False) -> None:
        """Refuse, before anything is solved, a folder that no report can be written to.

        Unless `overwrite`, one that holds files of a report's names is refused too.
        """
        folder = Path(folder)
        if folder.is_dir():
            for name in _FILES:
                check_target(folder / name, overwrite=overwrite)
        elif folder.exists():
            raise FileError(f"'{folder}' is not a folder: choose another --out")

    def save(self, folder: str | Path) -> dict[str, str]:
        """Write the tables as CSV and Parquet, the means as JSON and the picture; tells where."""
        import polars

        folder = Path(folder)
        try:
            folder.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise FileError(f"cannot make the folder {folder}: {error.strerror}") from None
        files: dict[str, str] = {}

        def put(name: str, told: str, content: bytes) -> None:
            with written(folder / name) as file:
                file.write(content)
            files[told] = str(folder / name)

        tables = {"spots": self.spots, "lines": self.lines, "means": self.mean_rows()}
        for name, rows in tables.items():
            if not rows:
                continue
            put(f"{name}.csv", f"{name}_csv", rows_text(rows).encode())
            # Through memory: of a full disk Polars tells as of a damaged file.
            table = BytesIO()
            polars.DataFrame(rows, infer_schema_length=None).write_parquet(table)
            put(f"{name}.parquet", f"{name}_parquet", table.getvalue())
        put("means.json", "means_json", (json.dumps(self.means(), indent=1) + "\n").encode())
        if self.lines:
            chart.save(self.figure(), folder / "frequencies.png")
            files["picture"] = str(folder / "frequencies.png")
        return files

    def table(self) -> Table:
        """The means for a terminal."""
        from rich.table import Table

        means = self.means()
        table = Table(title=f"{means['spots']:,} spots, weight {means['weight']:,.6g}")
        table.add_column("line and action", no_wrap=True)
        for column in ("frequency", "EV chips", "EV oop", "EV ip", "equity oop"):
            table.add_column(column, justify="right", no_wrap=True)
        for line in means["lines"]:
            table.add_row(
                f"{line['line']}: {line['player']}",
                _shown(line["reach"], ".1%"),
                "",
                _shown(line["ev_oop_chips"], ".2f"),
                _shown(line["ev_ip_chips"], ".2f"),
                _shown(line["equity_oop"], ".1%"),
                style="bold",
            )
            for action in line["actions"]:
                table.add_row(
                    f"  {action['action']}",
                    _shown(action["frequency"], ".1%"),
                    _shown(action["ev_chips"], ".2f"),
                )
            table.add_section()
        table.caption = (
            f"EV oop {_shown(means['ev_oop_chips'], '.3f')} chips, "
            f"ip {_shown(means['ev_ip_chips'], '.3f')}; "
            f"equity oop {_shown(means['equity_oop'], '.2%')}; "
            f"exploitability {_shown(means['exploitability_pct_pot'], '.3f')} % of pot"
        )
        return table

    # ------------------------------------------------------------------------------ picture

    def figure(
        self, names: Sequence[str] | None = None, lines: Sequence[str] | None = None
    ) -> Figure:
        """How often each action is taken on every board, at the first two decisions or at `lines`.

        Few boards are bars with names, those where the first player checks most on top. Many are
        bands as wide as their weight, each decision sorted by its own checks. Spots that are named
        stand in that order.
        """
        from matplotlib.figure import Figure

        if lines is None:
            lines = [name for name in (ROOT, "check") if name in self.line_names()]
            lines = lines or self.line_names()[:1]
        order = self._sorted_names(lines[0]) if names is None else list(names)
        few = len(order) <= _MOST_BARS
        if few:
            size = (5.5 * len(lines) + 1.5, 1.6 + 0.24 * len(order))
            drawing = Figure(figsize=size, dpi=150, facecolor="white", layout="constrained")
            panels = drawing.subplots(1, len(lines), sharey=True, squeeze=False)[0]
        else:
            size = (11, 3.6 * len(lines))
            drawing = Figure(figsize=size, dpi=150, facecolor="white", layout="constrained")
            panels = drawing.subplots(len(lines), 1, sharex=True, squeeze=False)[:, 0]
        for axes, line in zip(panels, lines, strict=True):
            same = few or names is not None
            self._draw(axes, line, order if same else self._sorted_names(line), few)
        if not few:
            how = "those with most checks first, in each panel" if names is None else "in order"
            panels[-1].set_xlabel(f"{len(order):,} boards by weight, {how}")
        return drawing

    def _sorted_names(self, line: str) -> list[str]:
        """Names of spots, those that check or call most first."""
        passive = {row["name"]: 0.0 for row in self.spots}
        for row in self.lines:
            if row["line"] == line and row["action"] in ("check", "call"):
                passive[row["name"]] = row["frequency"] or 0.0
        return sorted(passive, key=lambda name: -passive[name])

    def _draw(self, axes: Any, line: str, order: Sequence[str], few: bool) -> None:
        actions, shares = self._shares(line, order)
        weight_of = {row["name"]: row["weight"] for row in self.spots}
        weights = np.array([weight_of[name] for name in order])
        rows = {row["name"]: row for row in self.lines if row["line"] == line}
        often = np.array(
            [weight_of[n] * (rows[n]["reach"] or 0.0) if n in rows else 0.0 for n in order]
        )
        whole = dict(zip(actions, shares @ often / max(often.sum(), 1e-300), strict=True))
        below = np.zeros(len(order))
        for action, share, colour in zip(actions, shares, action_colours(actions), strict=True):
            label = f"{action}  {whole[action]:.1%}"
            if few:
                axes.barh(range(len(order)), share, 0.86, left=below, color=colour, label=label)
            else:
                edges = np.concatenate([[0], np.cumsum(weights) / weights.sum()])
                low, high = (np.append(part, part[-1]) for part in (below, below + share))
                axes.fill_between(
                    edges, low, high, step="post", color=colour, label=label, linewidth=0
                )
            below = below + share
        player = next(iter(rows.values()))["player"]
        axes.set_title(f"{player}, {'first to act' if line == ROOT else f'after {line}'}")
        # Below the ticks of the bars, whatever their number.
        drop = -0.35 / (0.24 * len(order) + 0.4) if few else 1.0
        axes.legend(
            loc="upper center", bbox_to_anchor=(0.5, drop), ncols=4, frameon=not few, fontsize=8
        )
        if few:
            axes.set(xlim=(0, 1), ylim=(len(order) - 0.5, -0.5), yticks=range(len(order)))
            axes.set_yticklabels(order, fontsize=8, family="monospace")
            axes.xaxis.set_major_formatter(lambda value, _: f"{value:.0%}")
        else:
            axes.set(xlim=(0, 1), ylim=(0, 1))
            axes.xaxis.set_major_formatter(lambda value, _: f"{value:.0%}")
            axes.yaxis.set_major_formatter(lambda value, _: f"{value:.0%}")
        for side in ("top", "right"):
            axes.spines[side].set_visible(False)

    def _shares(self, line: str, order: Sequence[str]) -> tuple[list[str], NDArray[np.float64]]:
        """Frequencies at a line: [action, spot]; 0 where the line is never taken."""
        actions = self.action_names(line)
        by_kind = len(actions) > _MOST_ACTIONS
        if by_kind:
            actions = sorted(dict.fromkeys(_kind(name) for name in actions), key=_order)
        column = {name: number for number, name in enumerate(order)}
        shares = np.zeros((len(actions), len(order)))
        for row in self.lines:
            if row["line"] == line and row["name"] in column:
                name = _kind(row["action"]) if by_kind else row["action"]
                shares[actions.index(name), column[row["name"]]] += row["frequency"] or 0.0
        return actions, shares


def _mean(values: Iterable[float | None], weights: Sequence[float]) -> float | None:
    """Weighted mean of what is known; None if that weighs nothing."""
    pairs = [(v, w) for v, w in zip(values, weights, strict=True) if v is not None and w > 0]
    total = sum(weight for _, weight in pairs)
    return sum(value * weight for value, weight in pairs) / total if total > 0 else None


def _kind(action: str) -> str:
    return action.split(" ")[0]


def _order(action: str) -> tuple[int, float]:
    """Fold, check, call, then bets and raises by size, all-in last."""
    kind, _, amount = action.partition(" ")
    kinds = ("fold", "check", "call", "bet", "raise", "allin")
    return (kinds.index(kind) if kind in kinds else len(kinds), float(amount or 0))


def _shown(value: float | None, form: str) -> str:
    return "–" if value is None else format(value, f"z{form}")
