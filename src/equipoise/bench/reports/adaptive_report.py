"""The tables and the figures of `equipoise reproduce adaptive`."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from equipoise.arena.statistics import rate_text
from equipoise.cards.streets import STREETS

if TYPE_CHECKING:
    from rich.console import RenderableType
    from rich.table import Table

_COLUMNS = ("all", *STREETS, "own_groups", "field")
#: What the parts of the failure are called.
_WAYS = {
    "seed_literal": "document's φ, literal payoff",
    "seed_right": "document's φ, right payoff",
    "full_right": "full φ, right payoff",
}


def report(data: dict[str, Any]) -> RenderableType:
    """Nats a decision of every model, held out, what else came of a log, and matches."""
    from rich.console import Group

    tables = [] if "models" not in data else _predictions(data)
    if "matches" in data:
        tables += _matches(data["matches"])
    return Group(*tables)


def _predictions(data: dict[str, Any]) -> list[Table]:
    from rich.table import Table

    first, last = data["held_out_hands"]
    table = Table(
        title=f"ln P of {data['held_out_decisions']:,} decisions of hands {first:,}–{last:,}, "
        "nats a decision"
    )
    table.add_column("model")
    for name in _COLUMNS:
        told = ", ".join(data["groups"][1:]) if name == "own_groups" else name
        table.add_column(told, justify="right")
    for row in data["models"]:
        cells = ("" if row[name] is None else f"{row[name]:.4f}" for name in _COLUMNS)
        table.add_row(row["model"], *cells)
    sizes = Table("raises", "nats", title=f"sizes of {data['raises']:,} raises held out")
    for key, value in data.items():
        if key.startswith("raise_"):
            sizes.add_row(key.replace("_", " "), f"{value:.4f}")
    failure = Table("φ and payoff", "median raise to", "to 3,000 and more", "folds to 3,000", "to all-in",
                    title="the first raise, of hands that win more than half")  # fmt: skip
    for name, called in _WAYS.items():
        one = data["failure"][name]
        failure.add_row(called, f"{one['median_raise_to']:,.0f}", f"{one['reckless_share']:.0%}",
                        f"{one['fold_at_3000']:.3f}", f"{one['fold_at_20000']:.3f}")  # fmt: skip
    return [table, sizes, failure]


def _rate(told: dict[str, float]) -> str:
    return rate_text(told["mbb_per_hand"], told["ci95_mbb"])


def _matches(matches: dict[str, Any]) -> list[Table]:
    from rich.table import Table

    table = Table("opponent", "adaptive", "flagship without search", "difference",
                  title=f"{matches['hands']:,} duplicate hands each, mbb a hand")  # fmt: skip
    for row in matches["rows"]:
        parts = (row["adaptive"], row["flagship-none"], row["difference"])
        table.add_row(row["opponent"], *map(_rate, parts))
    table.add_row("flagship without search", _rate(matches["against_flagship"]), "", "")
    turns = Table("stretch up to hand", title="turncoats, mbb a hand")
    for turn in matches["turns"]:
        turns.add_column(f"{turn['first']}, from {turn['turns_at']:,} on {turn['then']}")
    for stretch in zip(*(turn["curve"] for turn in matches["turns"]), strict=True):
        turns.add_row(f"{stretch[0]['hands_seen']:,}", *map(_rate, stretch))
    return [table, turns]


def picture(data: dict[str, Any], path: Path) -> None:
    """What a log shows, then what matches show."""
    from matplotlib.figure import Figure

    from equipoise.files import written

    parts = [(name, height, draw) for name, height, draw in
             (("models", 9, _draw_log), ("matches", 8, _draw_matches)) if name in data]  # fmt: skip
    figure = Figure(figsize=(14, sum(height for _, height, _ in parts)), layout="constrained")
    rows = figure.subfigures(len(parts), 1, squeeze=False,
                             height_ratios=[height for _, height, _ in parts])  # fmt: skip
    for (_, _, draw), row in zip(parts, rows[:, 0], strict=True):
        draw(row, data)
    with written(path) as file:
        figure.savefig(file, format=path.suffix[1:])


def _draw_log(figure: Any, data: dict[str, Any]) -> None:
    """Figures 1 and 2 for every player, calibration, and the failure."""
    bets = data["first_bets"]
    axes = figure.subplots(3, max(4, len(bets)))
    for column, (name, curves) in enumerate(bets.items()):
        top, low = axes[0, column], axes[1, column]
        for action in ("fold", "call", "raise"):
            top.plot(curves["win"], curves[action], label=action)
        top.set(title=f"{name}: first bet", xlabel="winning probability", ylim=(0, 1))
        top.legend()
        edges = curves["size_edges"]
        low.bar(edges[:-1], curves["size_shares"], width=edges[1] - edges[0], align="edge",
                color="lightgray")  # fmt: skip
        low.set(title=f"{name}: raises to", xlabel="chips (bars)", ylabel="share")
        also = low.twinx().twiny()
        known = [(win, to) for win, to in zip(curves["win"], curves["raise_to"], strict=True) if to]
        also.plot(*zip(*known, strict=True), "k--")
        also.set(ylim=(0, 1000), xlabel="winning probability (line: mean, up to 1,000)")
    told, came, reckless, folds = axes[2, :4]
    for name, rows in data["calibration"].items():
        told.plot([r["told"] for r in rows], [r["came"] for r in rows], "o-", label=name)
    told.plot([0, 1], [0, 1], "k:")
    told.set(title="folds: told and came", xlabel="told", ylabel="came")
    told.legend()
    shown = data["models"]
    came.barh([row["model"] for row in shown], [-row["all"] for row in shown])
    came.invert_yaxis()
    came.tick_params(axis="y", labelsize=6)
    came.set(title="−ln P, nats a decision, held out")
    for way, called in _WAYS.items():
        one = data["failure"][way]
        raised = [(row["win"], row["raise_to"]) for row in one["hands"] if row["raise_to"]]
        reckless.plot(*zip(*raised, strict=True), ".", label=called)
    reckless.axvline(0.5, color="gray", lw=0.5)
    reckless.set(
        title="best first raise of each hand, to", xlabel="winning probability", yscale="log"
    )
    reckless.set_ylim(150, 300_000)
    reckless.legend(fontsize=7, loc="upper right")
    for way in ("seed_literal", "full_right"):
        folds.plot(data["failure"]["amounts"], data["failure"][way]["folds"],
                   label=_WAYS[way].split(",")[0])  # fmt: skip
    folds.set(title="folds that are told, by raise", xlabel="raise to", xscale="log", ylim=(0, 1))
    folds.legend()
    for empty in axes.ravel():
        if not empty.has_data():
            empty.set_axis_off()


def _draw_matches(figure: Any, data: dict[str, Any]) -> None:
    """Win rates of stretches against hands seen, and the turns."""
    matches = data["matches"]
    axes = figure.subplots(3, 3).ravel()
    for axis, row in zip(axes, matches["rows"], strict=False):
        for name, curve in row["curves"].items():
            _draw_curve(axis, curve, name)
        axis.set(title=f"v {row['opponent']}")
    axes[0].legend(fontsize=7)
    for axis, turn in zip(axes[len(matches["rows"]) :], matches["turns"], strict=True):
        _draw_curve(axis, turn["curve"], "adaptive")
        axis.axvline(turn["turns_at"], color="gray", ls=":")
        for half, temper in ((0, turn["first"]), (1, turn["then"])):
            known = next(row for row in matches["rows"] if row["opponent"] == temper)
            span = (turn["turns_at"] * half, turn["turns_at"] * (half + 1))
            axis.plot(span, [known["adaptive"]["mbb_per_hand"] / 1000] * 2, "k--", lw=0.8)
        axis.set(title=f"{turn['first']} turns {turn['then']}, {turn['matches']} matches")
    for axis in axes:
        axis.set(xlabel="hands seen", ylabel="bb a hand")
        axis.axhline(0, color="gray", lw=0.5)


def _draw_curve(axis: Any, curve: list[dict[str, float]], name: str) -> None:
    seen = [row["hands_seen"] for row in curve]
    mean = [row["mbb_per_hand"] / 1000 for row in curve]
    (line,) = axis.plot(seen, mean, label=name)
    low, high = (
        [row["mbb_per_hand"] / 1000 + sign * row["ci95_mbb"] / 1000 for row in curve]
        for sign in (-1, 1)
    )
    axis.fill_between(seen, low, high, color=line.get_color(), alpha=0.15)
