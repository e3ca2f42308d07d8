"""Spots to begin with: pots as they come up heads-up, with ranges a player would recognise.

The small blind is the button and acts last after the flop. Ranges are rounded to what can be read; those
that the blueprints which ship play are :mod:`equipoise.cards.namedranges`.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from equipoise.cards.card import cards_text
from equipoise.errors import GameError
from equipoise.games.notation.betsize import parse_sizes
from equipoise.games.spot import Spot
from equipoise.settings import brief, did_you_mean

_OPENS = "22+,A2s+,A2o+,K2s+,K2o+,Q2s+,Q5o+,J3s+,J7o+,T5s+,T7o+,95s+,97o+,84s+,87o,74s+,76o,63s+,53s+,43s"
_CALLS = (
    "88-22,ATs-A2s,KJs-K2s,QJs-Q2s,JTs-J3s,T9s-T5s,98s-95s,87s-84s,76s-74s,65s-63s,54s-53s,43s,"
    "AJo-A2o,KQo-K5o,QJo-Q7o,JTo-J8o,T9o-T8o,98o-97o,87o,76o"
)
_THREE_BETS = "99+,ATs+,A5s-A2s,KTs+,K9s:0.5,QTs+,JTs,T9s,98s,87s,76s,AJo+,KQo,A5o-A4o:0.5"
_CALLS_THREE_BET = (
    "JJ-22,AQs-A2s,KQs-K5s,QJs-Q8s,JTs-J8s,T9s-T8s,98s-97s,87s-86s,76s-75s,65s,54s,AQo-A8o,KQo-KTo,"
    "QJo,JTo"
)
_FOUR_BETS = "QQ+,AKs,AKo,A5s-A4s,KJs:0.3,AJo:0.3"
_CALLS_FOUR_BET = "QQ-99,AKs:0.5,AQs-AJs,KQs-KJs,QJs,JTs,T9s,98s:0.5,AKo:0.5,AQo"
_LIMPS = (
    "QQ+:0.2,99-22:0.4,A2s+:0.3,K9s-K2s,Q8s-Q2s,J7s-J2s,T7s-T3s,95s-92s,85s-83s,74s,63s,53s,43s,"
    "A7o-A2o:0.4,K9o-K2o,Q9o-Q2o,J8o-J5o,T8o-T6o,98o-96o,87o-86o,76o,65o"
)
_CHECKS = (
    "77-22,A7s-A2s,K9s-K2s,Q9s-Q2s,J9s-J2s,T8s-T2s,97s-92s,86s-82s,75s-72s,64s-62s,53s-52s,42s+,32s,"
    "A8o-A2o,KTo-K2o,QTo-Q2o,JTo-J2o,T2o+,92o+,82o+,72o+,62o+,52o+,42o+,32o"
)


@dataclass(frozen=True)
class Preset:
    """How a pot came about: all of a spot but its board and its sizes."""

    #: What a player calls it.
    title: str
    #: Hands of the big blind, who acts first, and of the button.
    oop: str
    ip: str
    #: In big blinds.
    pot: float
    stack: float
    #: Board unless another is wanted.
    board: str = "Ks8d3c"
    #: Bets on the turn of a flop whose ranges are too wide for the sizes of every spot.
    turn: str = ""


#: Pots by name.
PRESETS: dict[str, Preset] = {
    "single-raised": Preset("raise to 2.5, call; 100 bb", _CALLS, _OPENS, 5, 97.5),
    "single-raised-40": Preset("raise to 2, call; 40 bb", _CALLS, _OPENS, 4, 38),
    "single-raised-200": Preset("raise to 2.5, call; 200 bb", _CALLS, _OPENS, 5, 197.5),
    "three-bet": Preset("re-raise to 9, call; 100 bb", _THREE_BETS, _CALLS_THREE_BET, 18, 91),
    "four-bet": Preset("re-raise to 22, call; 100 bb", _CALLS_FOUR_BET, _FOUR_BETS, 44, 78),
    "limped": Preset("limp, check; 100 bb", _CHECKS, _LIMPS, 2, 99, turn="75%"),
}


def preset(name: str, board: str = "") -> Spot:
    """The spot of a preset, on a board of one's own if one is given.

    >>> preset("three-bet", "Ah 9h 4h 2c")
    <Spot three-bet: Ah9h4h2c, pot 18, stack 91, 170 v 324 combos>
    >>> preset("three-bets")
    Traceback (most recent call last):
        ...
    equipoise.errors.GameError: no preset 'three-bets': did you mean 'three-bet'?
    """
    found = PRESETS.get(name)
    if found is None:
        cure = did_you_mean(name, list(PRESETS), "there are")
        raise GameError(f"no preset {brief(repr(name))}: {cure}")
    spot = Spot.from_dict(
        {
            "name": name,
            "unit": "bb",
            "board": board or found.board,
            "pot": found.pot,
            "stack": found.stack,
            "ranges": {"oop": found.oop, "ip": found.ip},
        }
    )
    if not found.turn or spot.rounds < 3:
        return spot
    flop, turn, river = (spot.menu.street(number) for number in range(3))
    one = replace(turn[0], bets=parse_sizes(found.turn))
    return replace(spot, menu=replace(spot.menu, streets=(flop, (one, one), river)))


def preset_of(spot: Spot) -> str:
    """The name of the preset that a spot's ranges and amounts are; "" for one of somebody's own."""
    for name in PRESETS:
        known = preset(name, cards_text(spot.board))
        same = (known.pot, known.stack, known.unit, known.parts) == (
            spot.pot, spot.stack, spot.unit, spot.parts,
        )  # fmt: skip
        if same and (known.oop_range, known.ip_range) == (spot.oop_range, spot.ip_range):
            return name
    return ""
