"""The bet menu of a spot: read, and refused where it says what means nothing there."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from equipoise.cards.streets import STREETS
from equipoise.errors import EquipoiseError, GameError
from equipoise.games.menu import BetMenu, StreetMenu
from equipoise.games.notation.betsize import parse_sizes
from equipoise.settings import brief

#: Chips that fit: sums and products of chips stay whole numbers in every array.
MOST_CHIPS = 10**9
#: Bets and raises of a round in the menu of a spot that names none.
MOST_RAISES = 2
#: Stack up to which a menu may ask for every legal amount.
_MOST_AMOUNTS = 5_000


def read_menu(menu: object, rounds: int) -> BetMenu:
    """The menu of a spot of so many streets; words without effect are refused."""
    try:
        if isinstance(menu, str):
            menu = BetMenu.parse(menu)
        elif isinstance(menu, Mapping):
            settings, menu = menu, BetMenu.from_dict(menu, rounds)
            _check_says_something(settings, rounds)
    except EquipoiseError as error:
        raise GameError(f"menu: {error}") from None
    if not isinstance(menu, BetMenu):
        raise GameError(
            f'menu = {brief(repr(menu))}: write a table of sizes, such as bets = "50%,a"'
        )
    if len(menu.streets) > rounds:
        raise GameError(
            f"menu: it has {len(menu.streets)} streets and the board leaves {rounds}: drop the first"
        )
    return _without_idle_donks(menu, rounds)


def _check_says_something(settings: Mapping[str, Any], rounds: int) -> None:
    """Refuse a menu without a word on bets, and donk bets where none can be made."""
    first, named = STREETS[-rounds], set[str]()
    tables: list[tuple[tuple[str, ...], Mapping[str, Any]]] = [((), settings)]
    for path, table in tables:
        tables += [((*path, key), own) for key, own in table.items() if isinstance(own, Mapping)]
        named |= {key for key in ("bets", "donks") if key in table}
        if "donks" not in table:
            continue
        told = f"'{'.'.join((*path, 'donks'))}' has no effect"
        if rounds == 1 or first in path:
            raise GameError(f"{told}, for no bet was called before the {first}: write bets")
        if set(path) & {"ip", "sb"}:
            raise GameError(f"{told}, for only oop acts first in a round: drop it")
    if not named:
        raise GameError('it names no bets: add bets = "50%,a", or bets = "" if nobody is to bet')


def _without_idle_donks(menu: BetMenu, rounds: int) -> BetMenu:
    """The same menu without donk bets of the first street and of the player in position."""
    if rounds > 1 and len(menu.streets) == 1 and menu.streets[0][0] == menu.streets[0][1]:
        return menu
    streets = []
    for number in range(rounds):
        oop, ip = (replace(own, donks=None) for own in menu.street(number))
        streets.append((menu.street(number)[0] if number else oop, ip))
    return replace(menu, streets=tuple(streets))


def default_menu(rounds: int) -> BetMenu:
    """What a newcomer bets: two sizes and a raise on the first street, one size and a raise later.

    Two sizes for both on every street would take 1.7 times the memory. The small one is missed where it is
    worth something: in position on the turn, out of position on the river; there it is left.

    >>> menu = default_menu(3)
    >>> [[own.to_dict()["bets"] for own in menu.street(number)] for number in range(3)]
    [['33%,75%', '33%,75%'], ['75%', '33%,75%'], ['33%,75%', '75%']]
    """
    both = StreetMenu.parse("33%,75%", raises="60%", max_raises=MOST_RAISES)
    large = replace(both, bets=parse_sizes("75%"))
    turn, river = (large, both), (both, large)
    streets = ((both, both), *(turn, river)[3 - rounds :])
    return BetMenu(streets, add_allin_threshold=1.0, force_allin_threshold=0.2)


def check_amounts(menu: BetMenu, stack: int, parts: int) -> None:
    """Refuse sizes that mean nothing here."""
    for street in menu.streets:
        for own in street:
            for size in (*own.bets, *(own.donks or ())):
                if size.unit == "x":
                    raise GameError(
                        f"menu: '{size}': there is no bet to multiply: write a first bet as 50%, "
                        "50c, e or a"
                    )
            for size in (
                *own.bets,
                *(own.donks or ()),
                *(s for level in own.raises for s in level),
            ):
                if size.unit == "c" and parts > 1:
                    raise GameError(
                        f"menu: '{size}': chips do not go with big blinds or decimals: write a share "
                        "of the pot, such as 50%"
                    )
                if size.unit == "*" and stack > _MOST_AMOUNTS:
                    raise GameError(f"menu: '*' of {stack:,} chips: name the sizes to consider")
                if max(size.number, size.cap or 0) > MOST_CHIPS:
                    raise GameError(f"menu: '{size}': too large to mean anything: write a")
