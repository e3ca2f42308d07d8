"""What a session is worth: its figures, and the luck taken out of its hands in spare moments.

The server knows its own policy, so AIVAT (:mod:`equipoise.arena.measures.aivat`) applies with the client
as the player whose policy is not known. A hand takes some milliseconds, so hands are scored when nobody
waits for an answer, or when somebody asks for the figures of his session.
"""

from __future__ import annotations

import threading
from time import monotonic
from typing import Any

from equipoise.arena.measures.aivat import Aivat
from equipoise.arena.record import HandRecord, state_line
from equipoise.arena.remote.house import House
from equipoise.arena.remote.notation import RULES, read_cards
from equipoise.arena.statistics import Estimate, estimate, pair_means
from equipoise.errors import EquipoiseError
from equipoise.games.hand import Hand
from equipoise.games.rules import State
from equipoise.web.benchmark.store import HandRow, SessionRow, Store

#: Hands that are scored and written together.
_PART = 16


def record(session: SessionRow, row: HandRow) -> HandRecord:
    """A hand of a session; in hand n the client sits at position n mod 2."""
    deal = read_cards(row.cards)
    state = State.from_betting_text(RULES, row.betting)
    names = (session.name, session.agent)
    seated = names if row.number % 2 == 0 else (names[1], names[0])
    board = Hand(state, deal, row.number).board
    return HandRecord(row.number, state, deal.holes, board, seated)


def log_text(session: SessionRow, rows: list[HandRow]) -> str:
    """A session as the ACPC writes matches."""
    lines = [f"# name/game/hands {session.name}-{session.agent} {RULES.name} {len(rows)}"]
    for row in rows:
        hand = record(session, row)
        assert hand.payoffs is not None
        lines.append(
            state_line(row.number, hand.state, hand.holes, hand.board, hand.payoffs, hand.players)
        )
    return "\n".join(lines) + "\n"


class Scorer:
    """Takes the luck out of hands, one thread at a time."""

    def __init__(self, store: Store, house: House) -> None:
        self.store = store
        self._lock = threading.Lock()
        self._agent = house.agent() if house.has_policy else None
        self._aivat: tuple[int, Aivat] | None = None

    @property
    def has_policy(self) -> bool:
        """Whether the luck of the cards can be taken out at all."""
        return self._agent is not None

    def work(self, session: int | None, seconds: float) -> bool:
        """Score hands, of a session or of all, for so long; whether there may be more."""
        until = monotonic() + seconds
        with self._lock:
            while monotonic() < until:
                todo = self.store.unscored(session, _PART)
                if not todo:
                    return False
                self.store.set_scores([self._score(number, row) for number, row in todo])
        return True

    def _score(self, number: int, row: HandRow) -> tuple[float, float | None, int, int]:
        session = self.store.session_of(number)
        assert session is not None
        hand = record(session, row)
        deal = read_cards(row.cards)
        equity = Hand(hand.state, deal, row.number, allin_equity=True).payoffs()[row.number % 2]
        return equity, self._luckless(session, hand), number, row.number

    def _luckless(self, session: SessionRow, hand: HandRecord) -> float | None:
        if self._agent is None or session.agent_faults:
            return None
        if self._aivat is None or self._aivat[0] != session.id:
            self._aivat = session.id, Aivat(RULES, (None, self._agent), session.seed)
        try:
            return self._aivat[1].value(hand)
        except EquipoiseError:
            # The agent of the file is not the one that played: there is no such figure then.
            return None


def figures(session: SessionRow, rows: list[HandRow]) -> dict[str, Any]:
    """A session's figures, the client's: rates are in mbb/hand with half of their 95 % interval."""
    found: dict[str, Any] = {
        "name": session.name,
        "agent": session.agent,
        "series": session.series,
        "hands": len(rows),
        "pairs": len(rows) // 2 if session.series is not None else 0,
        "total_chips": session.total,
    }
    for key, column in (("", "payoff"), ("allin_", "equity"), ("aivat_", "aivat")):
        known = [chips for row in rows if (chips := getattr(row, column)) is not None]
        whole = len(known) == len(rows)
        now = _rate(known, session.series is not None) if whole else estimate([])
        found |= {
            f"{key}mbb_per_hand": _number(now.mean),
            f"{key}ci95_mbb": _number(now.half_width),
        }
        if key:
            found[f"{key}hands"] = len(known)
    return found | {
        "errors": session.errors,
        "seconds_per_decision": _mean(session.seconds, session.decisions),
        "agent_seconds_per_decision": _mean(session.agent_seconds, session.agent_decisions),
        "agent_faults": session.agent_faults,
    }


def _rate(chips: list[float], pairs: bool) -> Estimate:
    rates = [1000 / RULES.big_blind * won for won in chips]
    return estimate(pair_means(rates[: len(rates) // 2 * 2]) if pairs else rates)


def _number(value: float) -> float | None:
    """A number as JSON has them."""
    return value if value == value else None


def _mean(total: float, count: int) -> float | None:
    return total / count if count else None
