"""The results of :mod:`equipoise.bench.reproduce.agents_suite` as tables and as a picture."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from equipoise.cards import chart

if TYPE_CHECKING:
    from rich.console import RenderableType
    from rich.table import Table

Data = dict[str, Any]


def report(data: Data) -> RenderableType:
    """All tables, in the order of the document."""
    from rich.console import Group

    return Group(
        *_models(data["models"]),
        _evidence(data["evidence"]),
        _curves(data["curves"]),
        _learners(data["learners"]),
        _q_learner(data["q_learner"]),
        _tournament(data),
        _verdict(data["ranking"]),
    )


def _table(title: str, *columns: str) -> Table:
    from rich.table import Table

    table = Table(title=title, title_justify="left")
    for number, column in enumerate(columns):
        table.add_column(column, justify="left" if number == 0 else "right")
    return table


def _mix(row: list[float]) -> str:
    return " ".join(f"{chance:.2f}".removeprefix("0") for chance in row)


def _models(data: Data) -> list[Table]:
    tables = []
    for style, found in data["styles"].items():
        table = _table(
            f"Model of the {style} player after {data['games']} games of "
            f"{data['hands'] // data['games']} hands: fold, call, raise "
            f"(ours: means of {data['runs']} runs)",
            *("", "truth", "document", "ours", "spread", "open choices only"),
        )
        for bucket, truth in enumerate(found["truth"]):
            parts = [found[key][bucket] for key in ("document", "learnt", "spread", "open_choices")]
            table.add_row(str(bucket + 1), _mix(truth), *map(_mix, parts))
        tables.append(table)
    return tables


def _evidence(rows: list[Data]) -> Table:
    table = _table(
        "Bucket guessed after bet, bet, bet, and its evidence (median)",
        *("trained against", "hands", "bucket", "how often", "evidence", "document"),
    )
    for row in rows:
        table.add_row(
            row["opponent"],
            str(row["hands"]),
            str(row["bucket"]),
            f"{row['how_often']:.0%}",
            f"{row['evidence']:.2f}",
            f"bucket {row['document_bucket']}, {row['document_evidence']:.2f}",
        )
        if row["of_document_model"] is not None:
            given = f"{row['of_document_model']:.2f}"
            table.caption = f"the document's own model of the careful player gives {given}"
    return table


def _curves(data: Data) -> Table:
    told, alone, taught = data["document"], data["alone"], data["with teacher"]
    table = _table(
        f"Training against bucket, means of {data['learners']} learners, alone | with a teacher",
        *("hands", "folds a hand", "hands won", "mbb/hand"),
    )
    for number, hands in enumerate(data["hands"]):
        both = [
            [curve[key][number] for curve in (alone, taught)]
            for key in ("folds_per_hand", "share_won", "mbb_per_hand")
        ]
        table.add_row(
            f"to {hands}",
            *(" | ".join(f"{value:.2f}" for value in pair) for pair in both[:2]),
            " | ".join(f"{value:+z.0f}" for value in both[2]),
        )
    table.caption = (
        f"{alone['states_after_25_games']:.1f} of {data['states']} states were seen in 25 games; "
        f"document: new states: {told['new_states']}; folds: {told['folds']}; wins: {told['wins']}"
    )
    return table


def _learners(data: Data) -> Table:
    table = _table(
        f"Learners measured against bucket, mbb/hand ± standard error of {data['learners']}",
        *("training hands", *data["against_bucket"]),
    )
    for number, hands in enumerate(data["hands"]):
        table.add_row(
            str(hands),
            *(
                f"{found['mbb_per_hand'][number]:+z.0f} ± {found['standard_error'][number]:.0f}"
                for found in data["against_bucket"].values()
            ),
        )
    teacher = data["teacher"]
    level, alone, helped = (teacher[k] for k in ("level_mbb", "hands_alone", "hands_with_teacher"))
    reached = (
        "never reaches that with a teacher"
        if helped is None
        else f"{helped:.0f} with a teacher, {teacher['faster_percent']:.0f} % faster"
    )
    table.caption = (
        f"{level:+z.0f} mbb/hand, the best without a teacher: {alone:.0f} hands alone, {reached} "
        f"(document: {teacher['document_faster_percent']} % faster)"
    )
    return table


def _q_learner(data: Data) -> Table:
    steps = data["steps"]
    table = _table(
        "Q-learner: share of bets it folds, and mbb/hand against bucket",
        *("hands", *(f"step {found['step']}" for found in steps)),
    )
    for number, hands in enumerate(data["hands"]):
        table.add_row(
            f"to {hands}",
            *(
                f"{found['bets_folded'][number]:.2f}  {found['mbb_per_hand'][number]:+z.0f}"
                for found in steps
            ),
        )
    table.caption = f"document: {data['document']}"
    return table


def _tournament(data: Data) -> Table:
    hands = data["tournament"][0]["hands"]
    table = _table(
        f"Tournament: games won by the first, by the second, drawn; and over {hands:,} hands",
        *("meeting", "document", "ours, 20 games", "ours, all games", "mbb/hand"),
    )
    short = {(row["a"], row["b"]): row for row in data["triplets"]}
    for row in data["tournament"]:
        beside = short.get((row["a"], row["b"]))
        table.add_row(
            f"{row['a']} v {row['b']}",
            "" if beside is None else str(tuple(beside["document"])),
            "" if beside is None else str(tuple(beside["triplet"])),
            str(tuple(row["triplet"])),
            f"{row['mbb_per_hand']:+z.0f} ± {row['ci95_mbb']:.0f}",
        )
    return table


def _verdict(data: Data) -> str:
    order = ", ".join(f"{name} {data['mbb_per_hand'][name]:+z.0f}" for name in data["order"])
    beaten = ", ".join(data["beats_regret"]) or "nobody"
    return (
        f"Ranking by mean mbb/hand: {order}\n"
        f"Document:                 {', '.join(data['document_order'])}\n"
        f"95 % interval above 0 against regret: {beaten}"
    )


def picture(data: Data, path: Path) -> None:
    """Draw the learner's three curves, the learners compared, and the Q-learner's folds."""
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    figure, panels = plt.subplots(2, 3, figsize=(13, 7), layout="constrained")
    curves, compared, folding = data["curves"], data["learners"], data["q_learner"]
    for name in ("alone", "with teacher"):
        curve, hands = curves[name], curves["hands"]
        new = curve["new_states_per_game"]
        panels[0, 0].plot(range(1, len(new) + 1), new, label=name)
        panels[0, 1].plot(hands, curve["folds_per_hand"], label=name)
        panels[0, 2].plot(hands, curve["share_won"], label=name)
    panels[0, 0].set(title="new states a game", xlabel="game")
    panels[0, 1].set(title="folds a hand", xlabel="training hands", ylim=(0, 1))
    panels[0, 2].set(title="share of hands won v bucket", xlabel="training hands", ylim=(0, 1))
    for name, found in compared["against_bucket"].items():
        panels[1, 0].errorbar(
            compared["hands"], found["mbb_per_hand"], found["standard_error"], label=name, capsize=2
        )
    panels[1, 0].set_xscale("log")
    panels[1, 0].set(title="learners v bucket, mbb/hand", xlabel="training hands")
    for found in folding["steps"]:
        label = f"step {found['step']}"
        panels[1, 1].plot(folding["hands"], found["bets_folded"], label=label)
        panels[1, 2].plot(folding["hands"], found["mbb_per_hand"], label=label)
    panels[1, 1].set(title="Q-learner: share of bets folded", xlabel="training hands", ylim=(0, 1))
    panels[1, 2].set(title="Q-learner v bucket, mbb/hand", xlabel="training hands")
    for axes in panels.flat:
        axes.legend()
        axes.grid(alpha=0.3)
    chart.save(figure, path, dpi=110)
    plt.close(figure)
