"""Hands of histories as models of players take them (:mod:`equipoise.agents.adaptive.decisions`)."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import islice
from pathlib import Path

from equipoise.agents.adaptive.decisions import Decisions, PlayedHand, check_game
from equipoise.arena.histories.history import History
from equipoise.errors import EquipoiseError, HistoryError


def played_hands(files: Iterable[str | Path]) -> Iterator[PlayedHand]:
    """The finished hands of some histories, in order; one of another game is refused by its file."""
    for path in files:
        for hand in History.open(path).hands():
            try:
                check_game(hand.rules)
            except EquipoiseError as error:
                raise HistoryError(f"{path}: {error}") from None
            if hand.state.is_over:
                yield PlayedHand(hand.state, hand.holes, hand.board, hand.players)


def read_decisions(files: Iterable[str | Path], hands: int | None = None) -> Decisions:
    """The decisions of the first `hands` hands of some histories, of all by default."""
    named = list(files)
    found = list(islice(played_hands(named), hands))
    if not found:
        told = ", ".join(map(str, named))
        raise HistoryError(f"{told}: no hand to learn from: give logs of no-limit hold'em")
    return Decisions.of(found)
