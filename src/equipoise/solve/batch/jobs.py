"""Many spots as one list: a folder of them, or one spot on many boards.

A job is a spot with a name and a weight, the share it has in the means of a report. Jobs come from

    a folder      every .toml file in it, each of weight 1
    boards        a text file with a board a line and, if it is not 1, its weight after it;
                  `Td9d6h 24`, `Td 9d 6h: 24` and `Td9d6h` are all fine, # starts a comment
    flops         all 1,755, each weighing the flops equal to it up to suits, or a few that stand
                  for all (:mod:`equipoise.solve.batch.flopsubset`)

Boards and flops replace the board of a template spot. A board that leaves a player no hand, or a
file that is no spot, is passed over by name.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from equipoise.cards.card import cards_text, parse_cards
from equipoise.cards.combos import COMBO_CARDS
from equipoise.cards.range import Range
from equipoise.cards.streets import STREETS
from equipoise.errors import CardError, EquipoiseError, GameError, RangeError
from equipoise.files import written
from equipoise.games.runouts import Weighted, suit_symmetries
from equipoise.games.spot import Spot
from equipoise.settings import read_text
from equipoise.solve.batch.flopsubset import choose_flops

#: A list of all 2.6 million rivers still fits.
_MOST_BYTES = 50_000_000

#: File of the spot whose board is replaced, in the folder of a batch.
TEMPLATE = "template.toml"

_WEIGHT = re.compile(r"[0-9]+(\.[0-9]*)?([eE][+-]?[0-9]+)?|\.[0-9]+")


@dataclass(frozen=True)
class SpotJob:
    """A spot to solve."""

    #: What it is called in the report; no two jobs share a name.
    name: str
    spot: Spot
    #: Share in the means over all spots.
    weight: float = 1.0


@dataclass(frozen=True)
class Passed:
    """A spot that is not solved, and why."""

    name: str
    reason: str


@dataclass(frozen=True)
class Batch:
    """Spots to solve, and those passed over.

    >>> template = Spot("Td9d6hQc2s", "AA,AKs", "QQ,KK", pot=100, stack=200, menu="a")
    >>> batch = Batch.of_boards([("Td9d6hQc2s", 2.0), ("AdAhAcKs2s", 1.0)], template)
    >>> [(job.name, job.weight) for job in batch.jobs]
    [('Td9d6hQc2s', 2.0)]
    >>> batch.passed[0].name, batch.passed[0].reason
    ('AdAhAcKs2s', 'ranges.oop: every hand holds a card of the board AdAhAcKs2s: add others')
    """

    jobs: tuple[SpotJob, ...]
    passed: tuple[Passed, ...] = ()
    #: Errors of a subset of flops: how far its mean features are from those of all.
    subset_errors: dict[str, float] | None = None

    def __post_init__(self) -> None:
        if not self.jobs:
            why = f" ({self.passed[0].name}: {self.passed[0].reason})" if self.passed else ""
            raise EquipoiseError(f"there is no spot to solve{why}")
        names = [job.name for job in self.jobs]
        if len(set(names)) < len(names):
            twice = next(name for name in names if names.count(name) > 1)
            raise EquipoiseError(f"two jobs are called '{twice}': rename one")

    @classmethod
    def from_folder(cls, folder: str | Path) -> Batch:
        """Every .toml file of a folder, in the order of their names."""
        folder = Path(folder)
        if not folder.is_dir():
            raise EquipoiseError(f"{folder}: no such folder")
        paths = sorted(folder.glob("*.toml"))
        if not paths:
            raise EquipoiseError(f"{folder}: no .toml file in it: put spots there")
        jobs, passed = [], []
        for path in paths:
            try:
                jobs.append(SpotJob(path.stem, Spot.load(path)))
            except EquipoiseError as error:
                passed.append(Passed(path.stem, str(error)))
        return cls(tuple(jobs), tuple(passed))

    @classmethod
    def from_boards(cls, path: str | Path, template: Spot) -> Batch:
        """The boards of a text file."""
        text = read_text(path, most_bytes=_MOST_BYTES)
        try:
            return cls.of_boards(read_boards(text), template)
        except EquipoiseError as error:
            raise type(error)(f"{path}: {error}") from None

    @classmethod
    def from_flops(cls, template: Spot, count: int | None = None) -> Batch:
        """All 1,755 flops, or `count` that stand for all.

        >>> template = Spot("Td9d6h", "QQ+", "JJ+", pot=100, stack=200, menu="a")
        >>> sum(job.weight for job in Batch.from_flops(template, 3).jobs)
        22100.0
        """
        if template.rounds != 3:
            raise GameError(
                f"flops need a template that starts on the flop, not the {template.street}"
            )
        ranges = [_weighted(template.oop_range), _weighted(template.ip_range)]
        if len(suit_symmetries(4, 52, (), ranges)) < 24:
            raise RangeError(
                "the ranges tell suits apart, so no flop stands for another: list the boards you "
                "want in a file, or write ranges by class, such as AKs"
            )
        subset = choose_flops(count)
        boards = [
            (cards_text(flop), float(weight))
            for flop, weight in zip(subset.flops, subset.weights, strict=True)
        ]
        return replace(cls.of_boards(boards, template), subset_errors=subset.errors)

    @classmethod
    def of_boards(cls, boards: Iterable[tuple[str, float]], template: Spot) -> Batch:
        """A template spot on each of some boards, given with their weights."""
        jobs: list[SpotJob] = []
        passed: list[Passed] = []
        seen: set[frozenset[int]] = set()
        for text, weight in boards:
            cards = parse_cards(text)
            name = cards_text(cards)
            if len(cards) != len(template.board):
                raise CardError(
                    f"'{name}': {len(cards)} cards, but the template starts on the "
                    f"{template.street}, with {len(template.board)}: give as many"
                )
            if frozenset(cards) in seen:
                raise CardError(f"'{name}': it is listed twice: give it once, with a weight")
            if not (math.isfinite(weight) and weight > 0):
                raise EquipoiseError(f"'{name}': weight {weight}: give a number above 0")
            seen.add(frozenset(cards))
            try:
                jobs.append(SpotJob(name, on_board(template, cards), float(weight)))
            except RangeError as error:
                passed.append(Passed(name, str(error)))
        return cls(tuple(jobs), tuple(passed))


def keep_template(folder: str | Path, template: Spot) -> None:
    """Write the spot whose board was replaced beside the answers, for who looks at one of them."""
    with written(Path(folder) / TEMPLATE, "w") as file:
        file.write(template.to_toml())


def kept_template(folder: str | Path) -> Spot | None:
    """That spot again; None where the jobs of a batch had no template."""
    path = Path(folder) / TEMPLATE
    return Spot.load(path) if path.is_file() else None


def on_board(template: Spot, board: tuple[int, ...]) -> Spot:
    """The spot with another board."""
    return Spot(
        board,
        template.oop_range,
        template.ip_range,
        pot=template.pot,
        stack=template.stack,
        menu=template.menu,
        rake=template.rake,
        min_bet=template.min_bet,
        name=cards_text(board),
        line=template.line,
        unit=template.unit,
        parts=template.parts,
    )


def read_boards(text: str) -> list[tuple[str, float]]:
    """Boards and weights, one a line.

    >>> read_boards("Td9d6h 24  # wet" + chr(10) + chr(10) + "As Kd 2c: 0.5")
    [('Td9d6h', 24.0), ('AsKd2c', 0.5)]
    >>> read_boards("Td9d6x")
    Traceback (most recent call last):
        ...
    equipoise.errors.CardError: line 1: '6x': no suit 'x' (suits are c, d, h, s)
    """
    boards = []
    for number, line in enumerate(text.splitlines(), start=1):
        words = line.partition("#")[0].strip()
        if not words:
            continue
        cards, colon, weight = words.partition(":")
        if not colon and _WEIGHT.fullmatch(words.split()[-1]):
            cards, _, weight = words.rpartition(words.split()[-1])
            weight, colon = words.split()[-1], " "
        weight = weight.strip()
        if colon and not _WEIGHT.fullmatch(weight):
            raise EquipoiseError(
                f"line {number}: weight {weight!r}: write a number, as in Td9d6h 24"
            )
        try:
            board = parse_cards(cards)
        except CardError as error:
            raise CardError(f"line {number}: {error}") from None
        if not 3 <= len(board) <= 5:
            raise CardError(
                f"line {number}: {len(board)} cards: a board has 3, 4 or 5 "
                f"({', '.join(STREETS[1:])})"
            )
        boards.append((cards_text(board), float(weight) if colon else 1.0))
    if not boards:
        raise EquipoiseError("no board in it: write one a line, such as Td9d6h 24")
    return boards


def _weighted(hands: Range) -> Weighted:
    chosen = np.flatnonzero(hands.weights)
    return COMBO_CARDS[chosen].astype(np.int16), hands.weights[chosen].astype(np.float64)
