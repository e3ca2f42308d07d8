"""`equipoise spot`: a spot from a hand that was played, or a common one, ready to be solved."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from equipoise.cli.output import Json, Overwrite, emit
from equipoise.errors import EquipoiseError

if TYPE_CHECKING:
    from equipoise.games.spot import Spot


def spot_command(
    from_hand: Annotated[
        Path | None, typer.Option(help="Hand history: ACPC, PHH, or the text of a poker site.")
    ] = None,
    preset: Annotated[
        str | None,
        typer.Option(help="A pot as it comes up, such as single-raised or three-bet."),
    ] = None,
    board: Annotated[str, typer.Option(help="With --preset: another board.")] = "",
    number: Annotated[
        int | None, typer.Option(help="Number of the hand in the file; else the first.")
    ] = None,
    street: Annotated[str, typer.Option(help="Street that the spot begins with.")] = "flop",
    ranges: Annotated[
        str,
        typer.Option(help="Agent whose ranges both players have; `equipoise agents` lists them."),
    ] = "quick",
    out: Annotated[Path | None, typer.Option(help="Write the spot into this TOML file.")] = None,
    overwrite: Overwrite = False,
    json: Json = False,
) -> None:
    """Make a spot from a hand: its board, pot and stacks, and ranges that would have played so.

    Amounts are in big blinds. Ranges are what an agent's strategy gets there with, by the betting of
    the hand; edit them in the file, or on the study page. With --preset the spot is a common one.

    \b
    Example: equipoise spot --from-hand hands.txt --number 17 --street turn --out spot.toml
    Example: equipoise spot --preset single-raised --board Ks8d3c --out spot.toml
    Example: equipoise solve spot.toml --target-pct-pot 0.5
    """
    from equipoise.files import check_target, written

    if (from_hand is None) == (preset is None):
        raise EquipoiseError("which spot? give --from-hand FILE or --preset NAME, one of them")
    if board and preset is None:
        raise EquipoiseError("--board goes with --preset: a hand has its own")
    if out is not None:
        check_target(out, overwrite=overwrite, suffixes=(".toml",), what="--out")
    if preset is not None:
        from equipoise.solve.study.presets import preset as preset_spot

        spot = preset_spot(preset, board)
        data = spot.to_dict()
    else:
        assert from_hand is not None
        spot, data = _of_hand(from_hand, number, street, ranges)
    text = spot.to_toml()
    if out is not None:
        with written(out, "w") as file:
            file.write(text)
    if out is None and not json:
        # As it is: lines that a terminal broke would be no TOML.
        print(text, end="")
        return
    emit(data, json, lambda: f"{spot!r} written to {out}")


def _of_hand(
    file: Path, number: int | None, street: str, ranges: str
) -> tuple[Spot, dict[str, Any]]:
    from equipoise.agents.registry import make_agent
    from equipoise.arena.histories.handspot import spot_of_hand
    from equipoise.arena.histories.history import History

    found, seen = None, list[int]()
    for hand in History.open(file).hands(lambda problem: None):
        if number is None or hand.number == number:
            found = hand
            break
        seen.append(hand.number)
    if found is None:
        if not seen:
            raise EquipoiseError(f"{file} has no hand that can be read: see `equipoise history`")
        raise EquipoiseError(
            f"{file} has no hand of number {number}: numbers are {min(seen)} to {max(seen)}"
        )
    spot = spot_of_hand(found, street.lower(), make_agent(ranges))
    return spot, {**spot.to_dict(), "hand": found.number, "ranges_of": ranges}
