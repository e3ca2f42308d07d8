"""The games by name: what `equipoise game` lists and what the rest of the package builds.

Every game is a plain function (:func:`kuhn`, :func:`leduc`, ...); the catalogue knows their names,
one line about each, and their parameters, which it reads off the functions. Parameters may be given
as text, as a command line does.
"""

from __future__ import annotations

import difflib
import inspect
import re
import typing
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from equipoise.errors import GameError
from equipoise.games.betting import Rake
from equipoise.games.clairvoyance import clairvoyance
from equipoise.games.game import Game
from equipoise.games.jamfold import jamfold
from equipoise.games.kuhn import kuhn, kuhn_half_street, kuhn_nolimit
from equipoise.games.leduc import leduc, leduc_nolimit
from equipoise.games.menu import BetMenu
from equipoise.games.rhode_island import rhode_island
from equipoise.games.smalldeck import holdem_small

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


#: Powers of ten beyond this are no number of chips or pots.
_LARGEST_EXPONENT = 30


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
            return value
        word = value.strip()
        if type(None) in kinds and word.lower() in ("", "none"):
            return None
        for kind, reader in _READERS.items():
            if kind in kinds:
                read, example = reader
                try:
                    return read(word)
                except (ValueError, KeyError, TypeError, ZeroDivisionError):
                    raise GameError(f"{self.name} = {value!r}: write {example}") from None
        return word


def _flag(word: str) -> bool:
    return {"yes": True, "true": True, "1": True, "no": False, "false": False, "0": False}[
        word.lower()
    ]


def _fraction(word: str) -> Fraction:
    """A number, unless it takes long to write out: 1e999999999 would take minutes."""
    exponent = re.search(r"[eE]([+-]?[\d_]+)$", word)
    if exponent and abs(int(exponent[1])) > _LARGEST_EXPONENT:
        raise ValueError
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
    """Names of all games, simplest first.

    >>> names()[0]
    'kuhn'
    """
    return tuple(_CATALOGUE)


def listing(name: str) -> Listing:
    """What the catalogue says of a game.

    >>> {key: parameter.default for key, parameter in listing("leduc").parameters.items()}
    {'max_raises': 2, 'suits': False}
    >>> listing("kuhm")
    Traceback (most recent call last):
        ...
    equipoise.errors.GameError: no game 'kuhm': did you mean 'kuhn'?
    """
    if name not in _CATALOGUE:
        raise GameError(f"no game {name!r}: {_nearest(name, names())}")
    return _CATALOGUE[name]


def game(name: str, **parameters: Any) -> Game:
    """Build a game; parameters may be text.

    >>> game("leduc-nolimit", stack="6", menu="100%,a").name
    'leduc-nolimit(stack=6, menu=100%,a)'
    """
    entry = listing(name)
    for key in parameters:
        if key not in entry.parameters:
            known = tuple(entry.parameters)
            raise GameError(f"{name} has no parameter {key!r}: {_nearest(key, known)}")
    return entry.build(
        **{key: entry.parameters[key].read(value) for key, value in parameters.items()}
    )


def _nearest(word: str, known: tuple[str, ...]) -> str:
    near = difflib.get_close_matches(word, known, n=1)
    return f"did you mean {near[0]!r}?" if near else f"use one of {', '.join(known)}"
