"""Hands of histories as models of players take them (:mod:`equipoise.agents.adaptive.decisions`)."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import AbstractContextManager
from importlib.resources import as_file, files
from itertools import islice
from pathlib import Path

from equipoise.agents.adaptive.decisions import Decisions, PlayedHand, check_game
from equipoise.arena.histories.history import History
from equipoise.errors import EquipoiseError, HistoryError


def shipped_log() -> AbstractContextManager[Path]:
    """The few hands that ship, as a file."""
    return as_file(files("equipoise.agents.adaptive") / "fixture.acpc.gz")


def played_hands(logs: Iterable[str | Path]) -> Iterator[PlayedHand]:
    """The finished hands of some histories, in order; one of another game is refused by its file."""
    for path in logs:
        for hand in History.open(path).hands():
            try:
                check_game(hand.rules)
            except EquipoiseError as error:
                raise HistoryError(f"{path}: {error}") from None
            if hand.state.is_over:
                yield PlayedHand(hand.state, hand.holes, hand.board, hand.players)


def read_hands(logs: Iterable[str | Path], hands: int | None = None) -> list[PlayedHand]:
    """The first `hands` hands of some histories, all by default; none at all is refused."""
    named = list(logs)
    found = list(islice(played_hands(named), hands))
    if not found:
        told = ", ".join(map(str, named))
        raise HistoryError(f"{told}: no hand to learn from: give logs of no-limit hold'em")
    return found


def read_decisions(logs: Iterable[str | Path], hands: int | None = None) -> Decisions:
    """The decisions of the first `hands` hands of some histories, of all by default."""
    return Decisions.of(read_hands(logs, hands))
