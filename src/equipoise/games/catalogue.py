"""The games by name: what `equipoise game` lists and what the rest of the package builds.

Every game is a plain function (:func:`kuhn`, :func:`leduc`, ...); the catalogue knows their names,
one line about each, and their parameters, which it reads off the functions. Parameters may be given
as text, as a command line does.

Another package adds games through the entry-point group `equipoise.games`: each entry point leads to
a function that returns a :class:`Game`, whose parameters have annotations and defaults.
"""

from __future__ import annotations

import inspect
import re
import typing
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from equipoise.errors import GameError
from equipoise.games.betting import Rake
from equipoise.games.game import Game
from equipoise.games.library.clairvoyance import clairvoyance
from equipoise.games.library.jamfold import jamfold
from equipoise.games.library.kuhn import kuhn, kuhn_half_street, kuhn_nolimit
from equipoise.games.library.leduc import leduc, leduc_nolimit
from equipoise.games.library.rhode_island import rhode_island
from equipoise.games.library.smalldeck import holdem_small
from equipoise.games.menu import BetMenu
from equipoise.plugins import foreign, load_foreign
from equipoise.settings import brief, did_you_mean

__all__ = [
    "Listing",
    "Parameter",
    "clairvoyance",
    "game",
    "holdem_small",
    "jamfold",
    "kuhn",
    "kuhn_half_street",
    "kuhn_nolimit",
    "leduc",
    "leduc_nolimit",
    "listing",
    "names",
    "rhode_island",
]

#: Entry-point group through which other packages add games.
GROUP = "equipoise.games"

#: No parameter is written with more characters.
_LONGEST = 1000
#: Chips and counts beyond this are no game.
_LARGEST = 10**9
_PLAIN_NUMBER = re.compile(r"[+-]?[0-9.]{1,40}(?:[eE][+-]?[0-9]{1,2})?(?:/[0-9]{1,40})?")


@dataclass(frozen=True)
class Parameter:
    """One thing that can be chosen about a game."""

    name: str
    #: Its type, as annotated.
    kind: Any
    #: What it is unless given.
    default: Any

    def read(self, value: Any) -> Any:
        """A value from text; what is not text is taken as it is.

        >>> Parameter("stack", int, 12).read("twelve")
        Traceback (most recent call last):
            ...
        equipoise.errors.GameError: stack = 'twelve': write a whole number, such as 12
        """
        kinds = typing.get_args(self.kind) or (self.kind,)
        if isinstance(value, float) and int in kinds:
            value = f"{value:g}"
        if not isinstance(value, str):
            return self._sensible(value)
        if len(value) > _LONGEST:
            raise GameError(f"{self.name} = {brief(value)!r}: write something shorter")
        word = value.strip()
        if type(None) in kinds and word.lower() in ("", "none"):
            return None
        for kind, reader in _READERS.items():
            if kind in kinds:
                read, example = reader
                try:
                    return self._sensible(read(word))
                except GameError:
                    raise
                except (ValueError, KeyError, TypeError, ArithmeticError):
                    raise GameError(f"{self.name} = {brief(value)!r}: write {example}") from None
        return word

    def _sensible(self, value: Any) -> Any:
        """A value, unless it is a number that no game can be played with."""
        parts: tuple[Any, ...] = value if isinstance(value, tuple) else (value,)
        for part in parts:
            if isinstance(part, int | Fraction) and (
                not -_LARGEST <= part <= _LARGEST or part.denominator > _LARGEST
            ):
                raise GameError(
                    f"{self.name}: write a number of a few digits, at most {_LARGEST:,}"
                )
        if isinstance(value, Rake) and not (0 <= value.rate <= 1 and value.cap >= 0):
            raise GameError(
                f"{self.name}: the share is from 0 to 1, so 5 % is 0.05, and no cap below 0"
            )
        return value


def _flag(word: str) -> bool:
    return {"yes": True, "true": True, "1": True, "no": False, "false": False, "0": False}[
        word.lower()
    ]


def _fraction(word: str) -> Fraction:
    # An exponent without end is a number without end.
    if not _PLAIN_NUMBER.fullmatch(word):
        raise ValueError(word)
    return Fraction(word)


def _numbers(word: str) -> tuple[int, ...]:
    return tuple(int(part) for part in word.split(","))


def _rake(word: str) -> Rake:
    return Rake(*(float(part) for part in word.split(",")))


#: Reader of each kind of parameter and what to write, the first that fits a parameter being used;
#: bet menus and other text go to the game as they are.
_READERS: dict[Any, tuple[Callable[[str], Any], str]] = {
    BetMenu: (str, "bet sizes, such as 50%,a"),
    bool: (_flag, "yes or no"),
    Fraction: (_fraction, "a number, such as 7.5 or 1/3"),
    int: (int, "a whole number, such as 12"),
    Rake: (_rake, "the share and the most in chips, such as 0.05,3"),
    tuple[int, ...]: (_numbers, "whole numbers separated by commas, such as 0,1,1"),
}


@dataclass(frozen=True)
class Listing:
    """A game in the catalogue."""

    name: str
    build: Callable[..., Game]
    #: One line about it.
    description: str
    parameters: Mapping[str, Parameter]


def _list(name: str, build: Callable[..., Game], description: str) -> Listing:
    kinds = typing.get_type_hints(build)
    parameters = {
        key: Parameter(key, kinds[key], parameter.default)
        for key, parameter in inspect.signature(build).parameters.items()
    }
    return Listing(name, build, description, parameters)


_CATALOGUE = {
    entry.name: entry
    for entry in (
        _list("kuhn", kuhn, "Kuhn poker: three cards, ante 1, one bet of 1"),
        _list("kuhn-half-street", kuhn_half_street, "three cards, only the first player may bet"),
        _list("kuhn-nolimit", kuhn_nolimit, "Kuhn's cards with any stack and bet sizes"),
        _list("leduc", leduc, "limit Leduc hold'em: six cards, two rounds"),
        _list("leduc-nolimit", leduc_nolimit, "Leduc's cards with any stack and bet sizes"),
        _list("clairvoyance", clairvoyance, "nuts or air bets, a bluff catcher calls or folds"),
        _list("jamfold", jamfold, "heads-up jam or fold with exact card removal, stack in blinds"),
        _list("holdem-small", holdem_small, "hold'em with a small deck: any streets and stacks"),
        _list("rhode-island", rhode_island, "Rhode Island hold'em: 52 cards, three limit rounds"),
    )
}


def names() -> tuple[str, ...]:
    """Names of all games, simplest first; those of other packages come last.

    >>> names()[0]
    'kuhn'
    """
    return tuple(dict.fromkeys((*_CATALOGUE, *foreign(GROUP))))


def listing(name: str) -> Listing:
    """What the catalogue says of a game.

    >>> {key: parameter.default for key, parameter in listing("leduc").parameters.items()}
    {'max_raises': 2, 'suits': False}
    >>> listing("kuhm")
    Traceback (most recent call last):
        ...
    equipoise.errors.GameError: no game 'kuhm': did you mean 'kuhn'?
    """
    if name in _CATALOGUE:
        return _CATALOGUE[name]
    point = foreign(GROUP).get(name)
    if point is None:
        raise GameError(f"no game {brief(name)!r}: {did_you_mean(name, names())}")
    build = load_foreign(point, "game")
    try:
        return _list(name, build, (inspect.getdoc(build) or "").partition("\n")[0])
    except (TypeError, ValueError, NameError, KeyError) as error:
        raise GameError(
            f"the game {name!r} of another package cannot be listed: give its function and each of "
            f"its parameters an annotation ({type(error).__name__}: {error})"
        ) from error


def game(name: str, **parameters: Any) -> Game:
    """Build a game; parameters may be text.

    >>> game("leduc-nolimit", stack="6", menu="100%,a").name
    'leduc-nolimit(stack=6, menu=100%,a)'
    """
    entry = listing(name)
    for key in parameters:
        if key not in entry.parameters:
            known = tuple(entry.parameters)
            raise GameError(f"{name} has no parameter {brief(key)!r}: {did_you_mean(key, known)}")
    return entry.build(
        **{key: entry.parameters[key].read(value) for key, value in parameters.items()}
    )
