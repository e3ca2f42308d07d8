"""`equipoise eval`, `equity`, `preflop` and `range`: cards, without a game."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from equipoise.cli.output import Json, Overwrite, Seed, emit, listening, progress_bar
from equipoise.errors import EquipoiseError

if TYPE_CHECKING:
    from rich.console import Group
    from rich.table import Table

    from equipoise.cards.equity import EquityResult
    from equipoise.cards.range import Range


def eval_command(
    cards: Annotated[list[str], typer.Argument(help="Five to seven cards, spaces free.")],
    json: Json = False,
) -> None:
    """Name and rank a hand of five, six or seven cards.

    Example: equipoise eval AsAhAdKsKh
    """
    from equipoise.cards.card import cards_text, parse_cards
    from equipoise.cards.evaluator import evaluate
    from equipoise.cards.handnames import category, hand_name

    hand = parse_cards(" ".join(cards))
    value = evaluate(hand)
    data = {
        "cards": cards_text(hand),
        "name": hand_name(hand),
        "category": category(value),
        "value": value,
        "classes": 7462,
    }
    emit(data, json, lambda: f"{data['cards']}  {data['name']}  (class {value:,} of 7,462)")


def equity_command(
    first: Annotated[str, typer.Argument(help="Hand or range: AsAh, KK, 'QQ+,AKs', 'top 15%'.")],
    second: Annotated[str, typer.Argument(help="The other hand or range, or random.")] = "random",
    board: Annotated[str, typer.Option(help="Up to five board cards: Td9d6h.")] = "",
    dead: Annotated[str, typer.Option(help="Cards known to be in neither hand nor board.")] = "",
    samples: Annotated[
        int | None, typer.Option(help="Deal this many boards at random instead of all of them.")
    ] = None,
    seed: Seed = 0,
    json: Json = False,
) -> None:
    """All-in equity of a hand or range against another, exact unless --samples is given.

    Example: equipoise equity AsAh KK,AQs+ --board Td9d6h
    """
    from equipoise.cards.equity import equity

    with progress_bar("boards", quiet=json) as progress:
        result = equity(
            [first, second], board, dead, samples=samples, seed=seed, progress=listening(progress)
        )
    data = {
        "hands": [first, second],
        "board": board,
        "dead": dead,
        "equity": list(result.equity),
        "win": list(result.win),
        "tie": result.tie,
        "wins": list(result.wins),
        "ties": result.ties,
        "total": result.total,
        "boards": result.boards,
        "standard_error": result.standard_error,
        "method": result.method,
        "seed": seed,
    }
    emit(data, json, lambda: _equity_table(first, second, board, result))


def _equity_table(first: str, second: str, board: str, result: EquityResult) -> Table:
    from rich.table import Table

    table = Table(title=f"all-in equity on {board}" if board else "all-in equity, no board")
    for column in ("hand", "equity", "win", "tie"):
        table.add_column(column, justify="left" if column == "hand" else "right")
    for name, share, win in zip((first, second), result.equity, result.win, strict=True):
        table.add_row(name, f"{share:.4%}", f"{win:.4%}", f"{result.tie:.4%}")
    if result.standard_error:
        table.caption = (
            f"{result.boards:,} boards dealt at random, standard error {result.standard_error:.4%}"
        )
    else:
        table.caption = f"exact: {result.boards:,} boards for each pair of hands"
    return table


def preflop_command(
    rebuild: Annotated[
        bool, typer.Option("--rebuild", help="Enumerate every board again and compare.")
    ] = False,
    output: Annotated[
        Path | None, typer.Option(help="With --rebuild: write the table to this .npy file.")
    ] = None,
    overwrite: Overwrite = False,
    json: Json = False,
) -> None:
    """The exact 169×169 all-in table: best hands against a random one, or build it anew.

    \b
    Example: equipoise preflop
    Example: equipoise preflop --rebuild --output preflop.npy
    """
    from equipoise.cards import preflop
    from equipoise.cards.combos import class_text
    from equipoise.files import check_target

    if output is not None:
        if not rebuild:
            raise EquipoiseError(f"--output {output}: add --rebuild, the table is there already")
        check_target(output, overwrite=overwrite, suffixes=(".npy",), what="--output")
    shipped = preflop.table()
    data: dict[str, Any] = {"rebuilt": rebuild}
    if rebuild:
        with progress_bar("canonical boards", quiet=json) as progress:
            fresh = preflop.rebuild(progress=listening(progress))
        data["identical"] = bool((fresh.wins == shipped.wins).all())
        if output is not None:
            fresh.save(output)
    share = preflop.against_random()
    ranked = [(class_text(int(c)), float(share[c])) for c in share.argsort()[::-1]]
    data["against_random"] = dict(ranked)

    def text() -> str:
        best = ", ".join(f"{name} {equity:.2%}" for name, equity in ranked[:13])
        told = f"best against a random hand: {best}"
        if rebuild:
            same = "identical to" if data["identical"] else "DIFFERENT from"
            told += f"\nthe rebuilt table is {same} the one shipped"
        return told

    emit(data, json, text)


def range_command(
    text: Annotated[
        str, typer.Argument(help="Range text, 'QQ+, A2s+, KTo-K8o, A5s:0.5', or a name.")
    ],
    plot: Annotated[
        Path | None, typer.Option("--plot", help="Also draw the chart into this png, svg or pdf.")
    ] = None,
    overwrite: Overwrite = False,
    json: Json = False,
) -> None:
    """Read a range: its hands as a 13×13 chart, its size and its canonical text.

    \b
    QQ  AKs  AKo  AK  AhKd    a pair, suited, offsuit, both, one hand
    QQ+  A2s+  T8+            this and better ones
    KTo-K8o  22-55  JTs-76s   a span
    A5s:0.5  QQ+:75%          with a weight; the last item on a hand wins
    random  top 15%  none     every hand, the best by equity, no hand
    sb-open-2.5x@200          how a blueprint plays before the flop, by name and stack

    Example: equipoise range 'QQ+, AKs, A5s-A2s:0.5' --plot range.png
    """
    from equipoise.cards.chart import PICTURES
    from equipoise.cards.combos import class_text
    from equipoise.cards.range import Range
    from equipoise.files import check_target

    if plot is not None:
        check_target(plot, overwrite=overwrite, suffixes=PICTURES, what="--plot")
    hands = Range.parse(text)
    if plot is not None:
        hands.plot(plot)
    data = {
        "range": str(hands),
        "combos": hands.combos,
        "fraction": hands.fraction,
        "classes": {
            class_text(place): float(weight)
            for place, weight in enumerate(hands.to_matrix().flat)
            if weight > 0.0
        },
    }
    emit(data, json, lambda: _drawn(hands))


def _drawn(hands: Range) -> Group:
    from rich.console import Group
    from rich.text import Text

    from equipoise.cards import chart

    # Spaces let long text wrap between items, so that it can be copied and read back.
    canonical = Text(str(hands).replace(",", ", "))
    return Group(chart.render(hands.to_matrix(), title=hands.summary()), canonical)
