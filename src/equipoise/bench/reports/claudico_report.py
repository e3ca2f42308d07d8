"""The results of :mod:`equipoise.bench.reproduce.claudico` as tables and as a picture."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from equipoise.cards import chart

if TYPE_CHECKING:
    from rich.console import RenderableType

Data = dict[str, Any]


def _table(title: str, columns: tuple[str, ...], rows: Sequence[tuple[str, ...]]) -> RenderableType:
    from rich.table import Table

    table = Table(title=title, title_justify="left")
    for number, column in enumerate(columns):
        table.add_column(column, justify="left" if number == 0 else "right")
    for row in rows:
        table.add_row(*row)
    return table


def report(data: Data) -> RenderableType:
    """Everything that was measured."""
    from rich.console import Group

    parts = [
        *(_curves(data), _exact(data), _bluffs(data), _regions(data), _river_regions(data)),
        *(_counts(data), _merges(data), _five_cards(data)),
    ]
    match = data["match"]
    told = [
        f"{name.replace('_', '-')}: standard error above "
        f"{match[name]['standard_error_above_bb_per_100']:.4f} and up to "
        f"{match[name]['standard_error_up_to_bb_per_100']:.4f} bb/100"
        for name in ("two_sided", "one_sided")
    ]
    parts.append(
        f"The match: {match['bb_per_100']:.4f} bb/100, significant at 90 % and not at 95 % if\n  "
        + "\n  ".join(told)
        + "\n"
    )
    parts += _played(data)
    return Group(*parts)


def _curves(data: Data) -> RenderableType:
    rows = []
    for spot, found in data["buckets"].items():
        for count in sorted({row["buckets"] for row in found}):
            by = {r["bucketing"]: r for r in found if r["buckets"] == count}
            cells = (f"{row['exploitability_pct_pot']:.3f}" for row in by.values())
            rows.append((f"{spot}, {count} buckets", *cells))
    names = tuple(dict.fromkeys(row["bucketing"] for row in data["buckets"]["A"]))
    return _table(
        "rivers by buckets: exploitability with real hands, % of the pot", ("spot", *names), rows
    )


def _exact(data: Data) -> RenderableType:
    rows = [
        (
            name,
            f"{found['ev_oop_chips']:.6f}",
            f"{found['wanted_ev_oop_chips']:.6f}",
            f"{found['seconds']:.2f}",
            ", ".join(f"{hand} {often:.3f}" for hand, often in found.get("overbets", {}).items()),
        )
        for name, found in data["exact"].items()
    ]
    return _table(
        "all hands, by linear program",
        ("spot", "EV out of position", "known", "seconds", "overbets"),
        rows,
    )


def _bluffs(data: Data) -> RenderableType:
    rows = [
        (f"{row['bucketing']} {row['buckets']}", *(f"{jam:.3f}" for jam in row["jams"].values()))
        for row in data["bluffs"]
    ]
    hands = tuple(data["bluffs"][0]["jams"])
    return _table("spot C: who bluffs all-in (exact: 1 and 0)", ("buckets", *hands), rows)


def _regions(data: Data) -> RenderableType:
    rows = [
        (
            row["case"],
            row["ordering"],
            f"{row['value']:.9f}",
            f"{row['wanted_value']:.9f}",
            f"{row['epsilon']:.1e}",
        )
        for row in data["regions"]
    ]
    return _table(
        "qualitative models on [0, 1]", ("hands", "ordering", "value", "known", "ε"), rows
    )


def _river_regions(data: Data) -> RenderableType:
    rows = []
    for river in data["river_regions"]:
        exact = river["exact"]
        for found in river["by_regions"]:
            name = f"{river['river']}, {found['pieces']} pieces"
            if "failed" in found:
                rows.append((name, "none fits", "", "", ""))
                continue
            rows.append(
                (
                    name,
                    found["ordering"],
                    f"{found['share_of_pot']:.4f}",
                    f"{found['exploitability_pct_pot']:.3f}",
                    f"{found['cpu_seconds']:.3f}",
                )
            )
        rows.append(
            (
                f"{river['river']}, exact",
                "",
                f"{exact['share_of_pot']:.4f}",
                f"{exact['exploitability_pct_pot']:.3f}",
                f"{exact['cpu_seconds']:.3f}",
            )
        )
    columns = ("river", "ordering", "share of pot", "exploitability, % of pot", "CPU s")
    return _table("qualitative models on real rivers with one bet", columns, rows)


def _merges(data: Data) -> RenderableType:
    rows = [
        (
            f"{row['ranks']} ranks x {row['suits']} suits",
            f"{row['by_suits']['value_chips']:.6f}",
            f"{row['by_suits']['exploitability_chips']:.3f}",
            f"{row['by_results']['value_chips']:.6f}",
            f"{row['by_results']['exploitability_chips']:.3f}",
            f"{row['known_chips']:.3f}",
        )
        for row in data["merges"]
    ]
    columns = (
        "deck",
        "by suits: value",
        "costs",
        "by results: value",
        "costs",
        "another equilibrium",
    )
    return _table("Rhode Island on small decks, one bet a round, chips", columns, rows)


def _five_cards(data: Data) -> RenderableType:
    rows = [
        (row["merge"], f"{row['bound_chips']:.3f}", f"{row['exploitability_chips']:.3f}")
        for row in data["five_cards"]
    ]
    title = "five cards, neighbours merged: the bound and the cost, chips"
    return _table(title, ("merge", "bound", "costs"), rows)


def _counts(data: Data) -> RenderableType:
    rows = [
        (
            row["merge"],
            *(f"{row[key]:,}" for key in ("private", "flop", "turn", "sequences")),
            "lossless" if row["lossless"] else "not lossless",
        )
        for row in data["rhode_island"]
    ]
    columns = ("merge", "private", "flop", "turn", "sequences", "")
    return _table("Rhode Island hold'em, counted (printed: 1,237,238)", columns, rows)


def _played(data: Data) -> list[RenderableType]:
    if "missing" in data:
        return [f"left out: {why}" for why in data["missing"].values()]
    parts: list[RenderableType] = [
        f"A look-up of a bucket takes {data['lookup_cpu_ns']:.0f} ns of processor time\n"
    ]
    for hand in data["hands"]:
        rows = []
        for name, plays in hand["plays"].items():
            pots = " or ".join(f"{one['pot']:,} ({one['chance']:.0%})" for one in plays["believed"])
            rows.append((name, f"{plays.get('f', 0.0):.3f}", f"{plays.get('c', 0.0):.3f}", pots))
        title = f"{hand['hand']}: {hand['to_call']:,} to call into {hand['pot']:,}, price {hand['price']:.1%}"
        parts.append(_table(title, ("setting", "folds", "calls", "takes the pot for"), rows))
    parts += _limps(data["limps"])
    return [*parts, *_matches(data["matches"])]


def _limps(limps: Data) -> list[RenderableType]:
    shares = limps["ours"]
    told = (
        f"On the button it limps {shares['limp']:.1%}, raises {shares['raise']:.1%}, folds "
        f"{shares['fold']:.1%} (document: near 10 % limped)\n"
    )
    rows = [
        (
            f"{manner} against {found['opponent']}",
            f"{one['share']:.1%}",
            f"{one['hands']:,}",
            f"{one['mbb_per_hand'] / 10:+.1f} ± {one['ci95_mbb'] / 10:.1f}",
        )
        for found in limps["earned"]
        for manner, one in found["earned"].items()
    ]
    columns = ("first action on the button", "share", "hands", "bb/100")
    return [told, _table("what they earn (a fold: -50)", columns, rows)]


def _matches(found: Data) -> list[RenderableType]:
    def figures(row: Data, prefix: str = "") -> tuple[str, str]:
        if f"{prefix}bb_per_100" not in row:
            return "", ""
        mean, half = row[f"{prefix}bb_per_100"], row[f"{prefix}ci95_bb_per_100"]
        return f"{mean:+.1f} ± {half:.1f}", f"{row[f'{prefix}significant_at']:.1%}"

    rows = [
        (f"{row['a']} v {row['b']}", f"{row['hands']:,}", *figures(row), *figures(row, "aivat_"))
        for row in found["meetings"]
    ]
    columns = ("match", "hands", "bb/100", "significant at", "without luck", "significant at")
    parts: list[RenderableType] = [_table("duplicate matches", columns, rows)]
    added = [
        (f"{row['endgame']} against {row['against']}", f"{row['hands']:,}", *figures(row))
        for row in found["endgames_add"]
    ]
    title = "what endgames add on the same deals"
    parts.append(_table(title, ("endgames", "hands", "bb/100", "significant at"), added))
    rivers = [
        (
            f"{row['endgame']} over {row['over']}, against {row['against']}",
            f"{row['hands']:,}",
            f"{row['rivers']:,}",
            *figures(row),
            f"{row['pct_of_river_pot']:+.2f}",
        )
        for row in found["rivers"]
    ]
    columns = ("endgames", "hands", "rivers", "bb/100", "significant at", "% of the river's pot")
    parts.append(_table("what endgames add, exactly at the rivers met", columns, rivers))
    return parts + [f"left out: {why}" for why in found["missing"].values()]


def picture(data: Data, path: Path) -> None:
    """Exploitability against the number of buckets, a panel for each spot."""
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    figure, panels = plt.subplots(1, 2, figsize=(11, 4.5), layout="constrained", sharey=True)
    for panel, (spot, found) in zip(panels, data["buckets"].items(), strict=True):
        for bucketing in dict.fromkeys(row["bucketing"] for row in found):
            own = [row for row in found if row["bucketing"] == bucketing]
            panel.plot(
                [row["buckets"] for row in own],
                [row["exploitability_pct_pot"] for row in own],
                marker="o",
                label=bucketing,
            )
        panel.set(xscale="log", yscale="log", xlabel="buckets a side", title=f"spot {spot}")
        counts = sorted({row["buckets"] for row in found})
        panel.set_xticks(counts, [str(count) for count in counts])
        panel.set_xticks([], minor=True)
        panel.grid(alpha=0.3)
    panels[0].set_ylabel("exploitability with real hands, % of the pot")
    panels[0].legend()
    chart.save(figure, path, dpi=110)
    plt.close(figure)
