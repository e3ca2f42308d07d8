"""A match as the ACPC dealer conducts it, without the sockets: who is told what, and what counts.

Seats are the two players for the whole match; positions are theirs in one hand, and swap after every
hand: seat s has position (s + hand) mod 2. After every change both seats are told the state as they
may see it: their own cards, the board, and at a showdown everything.
"""

from __future__ import annotations

from equipoise.arena.acpc.deck import DealerDeck
from equipoise.arena.acpc.protocol import read_answer
from equipoise.arena.record import chips_text, write_cards
from equipoise.games.dealing import DealtCards
from equipoise.games.hand import Hand
from equipoise.games.rules import Action, Rules, State

#: Actions whose outcome is kept: most hands begin as others have.
_MOST_SEEN = 4096


class DealerTable:
    """One match in play: the current hand, and the score so far.

    >>> from equipoise.games.rules import NOLIMIT_HOLDEM
    >>> table = DealerTable(NOLIMIT_HOLDEM, seed=0)
    >>> table.line(seat=1), table.seat_to_act
    ('MATCHSTATE:1:0::|9hQd', 1)
    >>> table.answer("MATCHSTATE:1:0::|9hQd:f")
    True
    >>> table.log_line()
    'STATE:0:f:5d5c|9hQd:50|-50:p1|p2'
    """

    def __init__(self, rules: Rules, seed: int, names: tuple[str, str] = ("p1", "p2")) -> None:
        self.rules = rules
        #: Names by seat.
        self.names = names
        #: Chips won so far, by seat.
        self.score: list[float] = [0, 0]
        #: Answers so far, by seat, that were played otherwise than they were meant.
        self.mended = [0, 0]
        self._deck = DealerDeck(seed, rules)
        self._start = State.start(rules)
        self._start_text = self._start.betting_text()
        #: Characters of the public cards in each round.
        self._public = [
            2 * sum(rules.board_cards[: number + 1])
            + sum(count > 0 for count in rules.board_cards[: number + 1])
            for number in range(rules.rounds)
        ]
        #: Chips won by each position in the last hand that was finished.
        self.payoffs: tuple[float, float] = (0, 0)
        self._next: tuple[DealtCards, str] | None = None
        #: What an action led to, and its betting text, by the betting before it and the action.
        self._seen: dict[str, tuple[State, str]] = {}
        self._number = -1
        self.next_hand()

    def next_hand(self) -> None:
        """Deal the next hand."""
        self._number += 1
        deal, self._all_cards = self._next or self._deal()
        self._next = None
        #: The hand in play.
        self.hand = Hand(self._start, deal, self._number)
        self._betting = self._start_text
        self._heads = [f"MATCHSTATE:{(seat + self._number) % 2}:{self._number}:" for seat in (0, 1)]
        self._show()

    def look_ahead(self) -> None:
        """Deal the next hand now, while a player thinks."""
        if self._next is None:
            self._next = self._deal()

    def line(self, seat: int) -> str:
        """The line that tells a seat where it stands."""
        return self._lines[seat]

    def answer(self, line: str) -> bool:
        """Play the answer of the seat to act; False if the line answers nothing that was asked.

        An action that the rules forbid, or that is none, is played as the dealer mends it.
        """
        seat = self.seat_to_act
        if seat is None:
            return False
        asked = self._lines[seat]
        if not line.startswith(asked):
            return False
        said = line[len(asked) :]
        if said[:1] not in ("", ":"):
            return False
        action, meant = read_answer(self.hand.state, said[1:])
        self.mended[seat] += not meant
        self.play(action)
        return True

    def play(self, action: Action) -> None:
        """The player to act does `action`; the score follows when that ends the hand."""
        key = self._betting + str(action)
        seen = self._seen.get(key)
        if seen is None:
            before = self.hand.state
            state = before.apply(action)
            text = "fcr"[action.kind] if self.rules.limit else str(action)
            rounds = state.round - before.round + state.rounds_to_deal
            seen = state, f"{self._betting}{text}{'/' * rounds}"
            if len(self._seen) == _MOST_SEEN:
                self._seen.clear()
            self._seen[key] = seen
        self.hand.state, self._betting = seen
        if self.hand.state.to_act is None or self._betting[-1] == "/":
            self._show()
        else:
            self._tell()

    def log_line(self) -> str:
        """The finished hand as the log has it."""
        names = self.names if self._number % 2 == 0 else self.names[::-1]
        cards = self._all_cards[: self._shown]
        won = "|".join([chips_text(chips) for chips in self.payoffs])
        return f"STATE:{self._number}:{self._betting}:{cards}:{won}:{'|'.join(names)}"

    def _deal(self) -> tuple[DealtCards, str]:
        deal = self._deck.deal()
        return deal, write_cards(self.rules, deal.holes, deal.boards[-1])

    def _show(self) -> None:
        """New cards are on the table, or the hand is over and is paid out."""
        state, text = self.hand.state, self._all_cards
        held = 2 * self.rules.hole_cards
        private = 2 * held + 1
        self._shown = private + self._public[state.round + state.rounds_to_deal]
        if state.is_showdown:
            self._cards = text[: self._shown], text[: self._shown]
        else:
            public = text[private : self._shown]
            self._cards = text[: held + 1] + public, text[held:private] + public
        self._tell()
        if state.to_act is None:
            self._pay()

    def _tell(self) -> None:
        """Write what both seats are told, and see whose turn it is."""
        first, second = self._cards if self._number % 2 == 0 else self._cards[::-1]
        betting = self._betting
        self._lines = (
            f"{self._heads[0]}{betting}:{first}",
            f"{self._heads[1]}{betting}:{second}",
        )
        position = self.hand.state.to_act
        #: The seat whose turn it is; None when the hand is over.
        self.seat_to_act = None if position is None else (position + self._number) % 2

    def _pay(self) -> None:
        self.payoffs = self.hand.payoffs()
        for position in (0, 1):
            self.score[(position + self._number) % 2] += self.payoffs[position]
