"""Bet menus: which of the legal bets and raises a tree, an agent or a search considers.

A menu has sizes for every street, player and raise number. Sizes are text, separated by commas:

    50%        half the pot, the pot being what it is after a call
    2.5x       raise to 2.5 times the bet that is faced (raises, and the opening before the flop)
    100c       100 chips: bet 100, or raise to 100, on this street
    e          geometric: the share of the pot that, bet on this and every later street, is all-in
               on the last one
    2e         geometric over 2 streets
    e150%      geometric, but at most 150% of the pot
    a          all-in
    *          every legal amount

A number may be a fraction where decimals never end, as in `100/3%`.

`bets` are for the first bet or raise of a round, so before the flop they are the opening raises;
`raises` for the ones after it, a list by raise number whose last entry repeats; `donks` replace
`bets` for the player who acts first in a round having called the last bet of the round before. No
sizes is no betting, not even all-in; check, call and, facing a bet, fold are always there.

A size that names x chips, by exact arithmetic with halves rounded up, becomes an action so:

1. x is clamped to [smallest legal raise, all-in], all-in being the shorter of the two stacks.
2. All-in is added if it is at most `add_allin_threshold` pots more than a call.
3. x becomes all-in if, after x and a call, no more than `force_allin_threshold` pots are left.
4. From the largest size down, a size of Y pots is dropped if the last one kept, of X pots, has
   (1 + X) / (1 + Y) at most 1 + `merging_threshold`.

A threshold of 0 switches its step off. Sizes that come to the same chips are one action. In limit
games a menu with any size at all offers the one raise there is.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property
from typing import Any

from equipoise.cards.streets import STREETS
from equipoise.errors import GameError, TooLargeError
from equipoise.games.legal import LegalActions
from equipoise.games.notation.betsize import BetSize, Sizes, parse_sizes, sizes_text
from equipoise.games.rules import CALL, FOLD, Action, Kind, State
from equipoise.settings import brief, check_keys

#: Names of the players in a menu; the blinds are the same players by another name.
PLAYERS = {"oop": 0, "ip": 1, "bb": 0, "sb": 1}
#: Raises of a round that have sizes of their own; the last entry repeats anyway.
_MOST_RAISES = 100
#: Amounts that `*` may stand for.
_MOST_AMOUNTS = 100_000


@dataclass(frozen=True, slots=True)
class StreetMenu:
    """The sizes of one player on one street."""

    #: For the first bet or raise of the round.
    bets: Sizes = ()
    #: For the raises after it, by raise number; the last entry repeats.
    raises: tuple[Sizes, ...] = ()
    #: For the first bet of a player who called the last bet of the round before; None is `bets`.
    donks: Sizes | None = None
    #: Bets and raises of both players after which this player raises no more; None is no cap.
    max_raises: int | None = None

    def __post_init__(self) -> None:
        if self.max_raises is not None and self.max_raises < 0:
            raise GameError(f"max_raises = {self.max_raises}: a cap is 0 or more")
        kept = list(self.raises)
        while kept and (kept[-1] == kept[-2] if len(kept) > 1 else not kept[-1]):
            kept.pop()
        object.__setattr__(self, "raises", tuple(kept))

    @classmethod
    def parse(
        cls,
        bets: str = "",
        raises: str | Iterable[str] = "",
        donks: str | None = None,
        max_raises: int | None = None,
    ) -> StreetMenu:
        """Read the sizes of one player on one street from text.

        >>> len(StreetMenu.parse("50%,a", raises=["3x", "2.2x,a"]).raises)
        2
        """
        levels = [raises] if isinstance(raises, str) else list(raises)
        if len(levels) > _MOST_RAISES:
            raise GameError(f"sizes for over {_MOST_RAISES} raises: the last entry repeats")
        return cls(
            bets=parse_sizes(bets),
            raises=tuple(parse_sizes(level) for level in levels),
            donks=None if donks is None else parse_sizes(donks),
            max_raises=max_raises,
        )

    def sizes(self, state: State) -> Sizes:
        """The sizes that apply in `state`, where this player acts."""
        made = state.raises
        if self.max_raises is not None and made >= self.max_raises:
            return ()
        if made:
            levels = self.raises
            return levels[min(made, len(levels)) - 1] if levels else ()
        if self.donks is not None and state.caller == state.to_act and not state.history[-1]:
            return self.donks
        return self.bets

    def without_each_size(self) -> Iterator[tuple[str, StreetMenu]]:
        """Every menu that lacks one size of one list, with words for it: `33% bet`, `3x raise`.

        >>> [name for name, _ in StreetMenu.parse("50%,a", raises=["3x", "a"]).without_each_size()]
        ['50% bet', 'a bet', '3x raise', 'a re-raise']
        """
        for size in dict.fromkeys(self.bets):
            yield f"{size} bet", replace(self, bets=_without(self.bets, size))
        for size in dict.fromkeys(self.donks or ()):
            yield f"{size} donk bet", replace(self, donks=_without(self.donks or (), size))
        for number, level in enumerate(self.raises):
            for size in dict.fromkeys(level):
                levels = (*self.raises[:number], _without(level, size), *self.raises[number + 1 :])
                yield f"{size} {'re-' * number}raise", replace(self, raises=levels)

    def to_dict(self) -> dict[str, Any]:
        """The settings as TOML would hold them."""
        levels = [sizes_text(level) for level in self.raises]
        settings: dict[str, Any] = {"bets": sizes_text(self.bets)}
        settings["raises"] = levels if len(levels) > 1 else "".join(levels)
        if self.donks is not None:
            settings["donks"] = sizes_text(self.donks)
        if self.max_raises is not None:
            settings["max_raises"] = self.max_raises
        return settings


@dataclass(frozen=True)
class BetMenu:
    """The sizes of both players on every street.

    >>> from equipoise.games.spot import postflop
    >>> from equipoise.games.rules import State
    >>> menu = BetMenu.parse("50%,100%,a", raises="60%,a")
    >>> [str(action) for action in menu.actions(State.start(postflop(pot=100, stack=200)))]
    ['c', 'r50', 'r100', 'r200']
    """

    #: `streets[round][player]`; the last street repeats for the rounds after it.
    streets: tuple[tuple[StreetMenu, StreetMenu], ...]
    #: Add all-in where it is at most this many pots more than a call.
    add_allin_threshold: float = 0.0
    #: Turn a size into all-in where at most this many pots would be left after a call.
    force_allin_threshold: float = 0.0
    #: Drop sizes whose pots, after a call, differ by at most this share.
    merging_threshold: float = 0.0

    def __post_init__(self) -> None:
        if not self.streets:
            raise GameError("a bet menu needs at least one street")
        for name in _THRESHOLDS:
            if not 0 <= getattr(self, name) < float("inf"):
                raise GameError(f"{name} = {getattr(self, name)}: a threshold is 0 or more")
        for menu in (menu for street in self.streets[1:] for menu in street):
            for size in (*menu.bets, *(menu.donks or ())):
                if size.unit == "x":
                    raise GameError(_no_bet_to_multiply(size))
        streets = self.streets
        while len(streets) > 1 and streets[-1] == streets[-2]:
            streets = streets[:-1]
        object.__setattr__(self, "streets", streets)

    @classmethod
    def parse(
        cls,
        bets: str = "",
        raises: str | Sequence[str] | None = None,
        donks: str | None = None,
        *,
        max_raises: int | None = None,
        add_allin_threshold: float = 0.0,
        force_allin_threshold: float = 0.0,
        merging_threshold: float = 0.0,
    ) -> BetMenu:
        """The same sizes for both players on all streets; raises are the bets unless given."""
        menu = StreetMenu.parse(bets, bets if raises is None else raises, donks, max_raises)
        return cls(
            ((menu, menu),),
            add_allin_threshold=add_allin_threshold,
            force_allin_threshold=force_allin_threshold,
            merging_threshold=merging_threshold,
        )

    @classmethod
    def full(cls) -> BetMenu:
        """Every legal action: for limit games and small no-limit games."""
        return cls.parse("*")

    @classmethod
    def of(cls, menu: BetMenu | str | None) -> BetMenu:
        """A menu as it is, sizes for all streets from text, or every legal action if there is none.

        >>> BetMenu.of("50%,a") == BetMenu.parse("50%,a"), BetMenu.of(None) == BetMenu.full()
        (True, True)
        """
        if menu is None:
            return cls.full()
        return cls.parse(menu) if isinstance(menu, str) else menu

    @classmethod
    def limit(cls) -> BetMenu:
        """The one raise of a limit game: another name of :meth:`full`."""
        return cls.full()

    @classmethod
    def from_dict(cls, settings: Mapping[str, Any], rounds: int = 4) -> BetMenu:
        """Read a menu from nested settings, as a TOML file holds them.

        Sizes at the top hold for all streets, those of a street (`preflop`, `flop`, `turn`,
        `river`) for both players, those of a player in it (`oop` or `bb`, `ip` or `sb`) for him.
        `rounds` is the number of rounds of the game, the river being the last one. A setting that
        changes nothing is refused: that of a street that is not played, or one that every street
        and player replaces.

        >>> menu = BetMenu.from_dict({"bets": "66%", "river": {"ip": {"bets": "a"}}})
        >>> BetMenu.from_dict(menu.to_dict()) == menu
        True
        >>> BetMenu.from_dict({"rivr": {"bets": "66%"}})
        Traceback (most recent call last):
            ...
        equipoise.errors.GameError: unknown setting 'rivr': did you mean 'river'?
        """
        if not 1 <= rounds <= len(STREETS):
            raise GameError(f"rounds = {rounds}: streets have names in games of 1 to 4 rounds")
        check_keys(settings, (*_SIZE_KEYS, *STREETS, *_THRESHOLDS), "", GameError)
        for name in STREETS[:-rounds]:
            if name in settings:
                first = STREETS[-rounds]
                raise GameError(
                    f"'{name}' has no effect, for play starts on the {first}: name that, or drop it"
                )
        streets: list[tuple[StreetMenu, StreetMenu]] = []
        given, used = set[str](), set[str]()
        for name in STREETS[-rounds:]:
            players = []
            for player in (0, 1):
                found: dict[str, tuple[str, Any]] = {}
                for path, table in _tables(settings, name, player):
                    found |= {key: (path + key, table[key]) for key in _SIZE_KEYS if key in table}
                    given |= {path + key for key in _SIZE_KEYS if key in table}
                used |= {path for path, _ in found.values()}
                own = {key: value for key, (_, value) in found.items()}
                players.append(_street_menu(own, name))
            streets.append((players[0], players[1]))
        for path in sorted(given - used):
            raise GameError(f"'{path}' has no effect, for others replace it everywhere: drop it")
        thresholds: dict[str, float] = {}
        for key in _THRESHOLDS:
            value = settings.get(key, 0.0)
            if isinstance(value, bool) or not isinstance(value, int | float):
                raise GameError(
                    f"{key} = {brief(repr(value))}: a threshold is a number, such as 1.5"
                )
            thresholds[key] = float(value)
        return cls(tuple(streets), **thresholds)

    def to_dict(self, rounds: int = 4) -> dict[str, Any]:
        """The settings that :meth:`from_dict` reads."""
        if not len(self.streets) <= rounds <= len(STREETS):
            raise GameError(f"rounds = {rounds}: this menu has {len(self.streets)} streets of 4")
        settings: dict[str, Any] = {
            key: getattr(self, key) for key in _THRESHOLDS if getattr(self, key)
        }
        both = self.streets[0]
        if len(self.streets) == 1 and both[0] == both[1]:
            return both[0].to_dict() | settings
        for number, name in enumerate(STREETS[-rounds:]):
            oop, ip = self.street(number)
            settings[name] = (
                oop.to_dict() if oop == ip else {"oop": oop.to_dict(), "ip": ip.to_dict()}
            )
        return settings

    def __str__(self) -> str:
        """Sizes as one line; the settings where the streets or players differ.

        >>> str(BetMenu.parse("50%,a")), str(BetMenu.parse("50%", raises="3x"))
        ('50%,a', "bets='50%', raises='3x'")
        """
        settings = self.to_dict(max(len(self.streets), 1))
        if settings == {"bets": settings.get("bets"), "raises": settings.get("bets")}:
            return str(settings["bets"])
        return ", ".join(f"{key}={value!r}" for key, value in settings.items())

    def without_each_size(self, rounds: int = 4) -> Iterator[tuple[str, BetMenu]]:
        """Every menu that lacks one size of one player on one street, with words for that size.

        Streets have the names of :meth:`from_dict` in a game of `rounds` rounds.

        >>> menu = BetMenu.from_dict({"flop": {"oop": {"bets": "33%,a"}}})
        >>> [name for name, _ in menu.without_each_size()]
        ["the flop's 33% bet of player 0", "the flop's a bet of player 0"]
        """
        names = STREETS[-rounds:]
        for number, street in enumerate(self.streets):
            name = names[number] if number < len(names) else f"round {number + 1}"
            where = f"the {name}'s" if len(self.streets) > 1 else "the"
            repeats = 0 < number == len(self.streets) - 1 < rounds - 1
            for player in (0, 1):
                for words, smaller in street[player].without_each_size():
                    both = (smaller, street[1]) if player == 0 else (street[0], smaller)
                    streets = (*self.streets[:number], both, *self.streets[number + 1 :])
                    told = f"{where} {words} of player {player}" + " (and later)" * repeats
                    yield told, replace(self, streets=streets)

    def street(self, number: int) -> tuple[StreetMenu, StreetMenu]:
        """The menus of both players in a round."""
        return self.streets[number if number < len(self.streets) else -1]

    @cached_property
    def _thresholds(self) -> tuple[tuple[int, int], ...]:
        """The thresholds as the decimal fractions they were written as."""
        exact = (Fraction(repr(float(getattr(self, name)))) for name in _THRESHOLDS)
        return tuple((value.numerator, value.denominator) for value in exact)

    def actions(self, state: State) -> tuple[Action, ...]:
        """Fold if there is a bet to call, check or call, then the sizes in ascending order."""
        player = state.to_act
        if player is None:
            return ()
        legal = state.legal()
        passive = (FOLD, CALL) if legal.fold else (CALL,)
        if not legal.raise_min:
            return passive
        sizes = self.street(state.round)[player].sizes(state)
        if not sizes:
            return passive
        if state.rules.limit:
            return (*passive, Action(Kind.RAISE, legal.raise_min))
        return (
            *passive,
            *(Action(Kind.RAISE, amount) for amount in self._amounts(state, legal, sizes)),
        )

    def looks_at(self, state: State) -> object:
        """What of the betting so far its actions depend on, beyond chips, turn and raises made.

        States that are alike in these and in what is answered here have the same tree before them.
        """
        return None

    def _amounts(self, state: State, legal: LegalActions, sizes: Sizes) -> list[int]:
        """Raise-to totals of the hand, ascending; the steps of the module's docstring."""
        called, pot, least, most = _bounds(state, legal)
        wanted: set[int] = set()
        for size in sizes:
            if size.unit == "*":
                if most - least > _MOST_AMOUNTS:
                    raise TooLargeError(
                        f"'*' of {most - least:,} amounts: name the sizes to consider"
                    )
                wanted.update(range(least, most + 1))
            else:
                wanted.add(min(max(_raise_to(size, state, called, pot, most), least), most))

        add, force, merge = self._thresholds
        if add[0] and most - called <= _round(add[0] * pot, add[1]):
            wanted.add(most)
        if force[0]:
            wanted = {
                most
                if most <= amount + _round(force[0] * (pot + 2 * (amount - called)), force[1])
                else amount
                for amount in wanted
            }
        amounts = sorted(wanted)
        if merge[0]:
            kept = amounts[-1:]
            for amount in reversed(amounts[:-1]):
                larger, smaller = pot + kept[-1] - called, pot + amount - called
                if larger * merge[1] > smaller * (merge[0] + merge[1]):
                    kept.append(amount)
            amounts = kept[::-1]
        return amounts


_THRESHOLDS = ("add_allin_threshold", "force_allin_threshold", "merging_threshold")
_SIZE_KEYS = ("bets", "raises", "donks", "max_raises")


def amount_of(size: BetSize, state: State) -> int:
    """The raise-to total that one size comes to in a state, clamped; 0 where no raise is allowed.

    >>> from equipoise.games.rules import NOLIMIT_HOLDEM
    >>> [amount_of(BetSize.parse(size), State.start(NOLIMIT_HOLDEM)) for size in ("50%", "1%", "a")]
    [200, 200, 20000]
    """
    legal = state.legal()
    if not legal.raise_min or state.rules.limit:
        return legal.raise_min
    called, pot, least, most = _bounds(state, legal)
    return min(max(_raise_to(size, state, called, pot, most), least), most)


def _bounds(state: State, legal: LegalActions) -> tuple[int, int, int, int]:
    """The bet to call, the pot after the call, and the least and most that a raise is to."""
    called, least = max(state.committed), legal.raise_min
    # More than the opponent can call is the same as what he can call.
    most = max(least, min(legal.raise_max, min(state.rules.stacks)))
    return called, state.rules.dead + 2 * called, least, most


def _raise_to(size: BetSize, state: State, called: int, pot: int, most: int) -> int:
    """What a size names in the hand's total, before it is clamped."""
    unit, number = size.unit, size.number
    if unit == "a":
        return most
    if unit == "%":
        return called + _round(number.numerator * pot, number.denominator)
    if unit == "e":
        streets = int(number) or state.rules.rounds - state.round
        return called + _geometric(pot, most - called, streets, size.cap)
    start = state.round_start
    if unit == "c":
        return start + int(number)
    if called == start:
        raise GameError(_no_bet_to_multiply(size))
    return start + _round(number.numerator * (called - start), number.denominator)


def _geometric(pot: int, behind: int, streets: int, cap: Fraction | None) -> int:
    if streets == 1 or not pot:
        amount = float(behind if streets == 1 else 0)
    else:
        amount = pot * ((2 * behind / pot + 1) ** (1 / streets) - 1) / 2
    if cap is not None:
        amount = min(amount, float(cap * pot))
    return int(amount + 0.5)


def _round(numerator: int, denominator: int) -> int:
    """The nearest whole number to a fraction, halves up."""
    return (2 * numerator + denominator) // (2 * denominator)


def _without(sizes: Sizes, dropped: BetSize) -> Sizes:
    return tuple(size for size in sizes if size != dropped)


def _no_bet_to_multiply(size: BetSize) -> str:
    return f"'{size}': there is no bet to multiply: write a first bet as 50%, 50c, e or a"


def _table(settings: Mapping[str, Any], key: str, prefix: str) -> Mapping[str, Any]:
    table = settings.get(key, {})
    if not isinstance(table, Mapping):
        raise GameError(
            f"{prefix}{key} = {brief(repr(table))}: write a table, such as {{ bets = '50%' }}"
        )
    return table


def _tables(
    settings: Mapping[str, Any], name: str, player: int
) -> Iterator[tuple[str, Mapping[str, Any]]]:
    """The tables that say what a player bets on a street, the last word last, with their paths."""
    street = _table(settings, name, "")
    check_keys(street, (*_SIZE_KEYS, *PLAYERS), f"{name}.", GameError)
    yield "", settings
    yield f"{name}.", street
    for alias in (alias for alias, number in PLAYERS.items() if number == player):
        own = _table(street, alias, f"{name}.")
        check_keys(own, _SIZE_KEYS, f"{name}.{alias}.", GameError)
        yield f"{name}.{alias}.", own


def _street_menu(settings: Mapping[str, Any], where: str) -> StreetMenu:
    bets, raises = settings.get("bets", ""), settings.get("raises", "")
    donks, cap = settings.get("donks"), settings.get("max_raises")
    for key, text in (("bets", bets), ("donks", donks or "")):
        if not isinstance(text, str):
            raise GameError(
                f"{where}: {key} = {brief(repr(text))}: write sizes as text, such as '50%,a'"
            )
    levels = [raises] if isinstance(raises, str) else raises
    if not isinstance(levels, list | tuple) or not all(isinstance(text, str) for text in levels):
        raise GameError(
            f"{where}: raises = {brief(repr(raises))}: write '3x' or a list, ['3x', '2.2x']"
        )
    if cap is not None and (isinstance(cap, bool) or not isinstance(cap, int)):
        raise GameError(f"{where}: max_raises = {brief(repr(cap))}: write a whole number")
    try:
        return StreetMenu.parse(bets, levels, donks, cap)
    except GameError as error:
        raise GameError(f"{where}: {error}") from None
