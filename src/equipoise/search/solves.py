"""Solves of the hand in play, kept by street and shared by those who would solve the same again.

Whoever asks for many bets on a river solves each, and should not lose the turn that all of them go on
from: a turn takes a second, such a river a hundredth. So every street has room of its own, and its least
recently used solve goes first.

Two seats that search by the same settings often come to the same subgame, for what is begun without a
gadget does not depend on who asks. So a solve has a *name*, by which who asked for it finds it at once,
and its *question*, all that the answer follows from: whoever comes to the same question by another name is
given the same solve.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Hashable, Iterator
from hashlib import blake2b
from itertools import chain

import numpy as np
from numpy.typing import ArrayLike

from equipoise.search.gadgets import Gadget
from equipoise.search.solved import Solved
from equipoise.search.subgame import Subgame

#: Rivers that are kept for each solve of another street: all of them are smaller than one turn.
_RIVERS = 4
#: Names that are remembered for each solve that may be kept: they are smaller still.
_NAMES = 4


class Solves:
    """So many solves of each street, at most, and of rivers more."""

    def __init__(self, kept: int) -> None:
        self.kept = kept
        self._solved: dict[int, OrderedDict[Hashable, Solved]] = {}
        self._questions: dict[int, OrderedDict[Hashable, Hashable]] = {}

    def named(self, street: int, name: Hashable) -> Solved | None:
        """The solve of a street that somebody asked for by this name, if it is still here."""
        questions = self._questions.get(street, OrderedDict())
        return self.answering(street, name, questions[name]) if name in questions else None

    def answering(self, street: int, name: Hashable, question: Hashable) -> Solved | None:
        """The solve of a question, if it is here; it then has this name, too."""
        found = self._solved.get(street, OrderedDict()).get(question)
        if found is not None:
            self.keep(street, name, question, found)
        return found

    def keep(self, street: int, name: Hashable, question: Hashable, found: Solved) -> None:
        """Keep a solve, as the one that was used last."""
        solved = self._solved.setdefault(street, OrderedDict())
        questions = self._questions.setdefault(street, OrderedDict())
        solved[question], questions[name] = found, question
        solved.move_to_end(question)
        questions.move_to_end(name)
        begun = found.subgame.state
        most = self.kept * (_RIVERS if begun.round == begun.rules.rounds - 1 else 1)
        while len(solved) > most:
            solved.popitem(last=False)
        while len(questions) > _NAMES * most:
            questions.popitem(last=False)

    def __len__(self) -> int:
        return sum(map(len, self._solved.values()))

    def __iter__(self) -> Iterator[Solved]:
        return chain.from_iterable(solved.values() for solved in self._solved.values())

    def clear(self) -> None:
        """Let go of all."""
        self._solved.clear()
        self._questions.clear()


def numbers_of(*arrays: ArrayLike | None) -> bytes:
    """What tells arrays from others, bit for bit."""
    found = blake2b(digest_size=16)
    for array in arrays:
        if array is not None:
            found.update(np.asarray(array, dtype=np.float64).tobytes())
    return found.digest()


def question_of(subgame: Subgame, gadget: Gadget, *more: Hashable) -> Hashable:
    """What a solve by given settings follows from: betting, cards, both ranges, gadget, and `more`."""
    numbers = numbers_of(*subgame.ranges, gadget.alternatives)
    return subgame.state.history, subgame.board, gadget.kind, numbers, *more
