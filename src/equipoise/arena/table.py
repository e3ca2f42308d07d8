"""A match as the ACPC dealer conducts it, without the sockets: who is told what, and what counts.

Seats are the two players for the whole match; positions are theirs in one hand, and swap after every
hand: seat s has position (s + hand) mod 2. After every change both seats are told the state as they
may see it: their own cards, the board, and at a showdown everything.
"""

from __future__ import annotations

from equipoise.arena.acpc import read_answer, write_cards
from equipoise.arena.deck import DealerDeck, Dealt
from equipoise.arena.matchlog import chips_text
from equipoise.arena.record import best_hand, board_cards
from equipoise.games.rules import Action, Rules, State


class Table:
    """One match in play: the current hand, and the score so far.

    >>> from equipoise.games.rules import NOLIMIT_HOLDEM
    >>> table = Table(NOLIMIT_HOLDEM, seed=0)
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
        #: Number of the hand in play.
        self.hand = -1
        self.next_hand()

    def next_hand(self) -> None:
        """Deal the next hand."""
        self.hand += 1
        self.dealt: Dealt = self._deck.deal()
        self.state = self._start
        self._betting = self._start_text
        self._all_cards = write_cards(self.rules, self.dealt.holes, self.dealt.board)
        self._after_change()

    @property
    def seat_to_act(self) -> int | None:
        """The seat whose turn it is; None when the hand is over."""
        position = self.state.to_act
        return None if position is None else (position + self.hand) % 2

    def line(self, seat: int) -> str:
        """The line that tells a seat where it stands."""
        position = (seat + self.hand) % 2
        return f"MATCHSTATE:{position}:{self.hand}:{self._betting}:{self._cards[position]}"

    def answer(self, line: str) -> bool:
        """Play the answer of the seat to act; False if the line answers nothing that was asked.

        An action that the rules forbid, or that is none, is played as the dealer mends it.
        """
        seat = self.seat_to_act
        asked = "" if seat is None else self.line(seat)
        if not asked or not line.startswith(asked):
            return False
        said = line[len(asked) :]
        if said[:1] not in ("", ":"):
            return False
        self.play(read_answer(self.state, said[1:])[0])
        return True

    def play(self, action: Action) -> None:
        """The player to act does `action`; the score follows when that ends the hand."""
        before, state = self.state, self.state.apply(action)
        self.state = state
        text = "fcr"[action[0]] if self.rules.limit else str(action)
        rounds = state.round - before.round + state.rounds_to_deal
        self._betting += text + "/" * rounds
        if rounds or state.to_act is None:
            self._after_change()

    @property
    def board(self) -> tuple[int, ...]:
        """The board cards on the table."""
        return self.dealt.board[: board_cards(self.state)]

    def log_line(self) -> str:
        """The finished hand as the log has it."""
        names = self.names if self.hand % 2 == 0 else self.names[::-1]
        cards = self._all_cards[: self._seen]
        won = "|".join([chips_text(chips) for chips in self.payoffs])
        return f"STATE:{self.hand}:{self._betting}:{cards}:{won}:{'|'.join(names)}"

    def _after_change(self) -> None:
        """New cards are on the table, or the hand is over and is paid out."""
        state, text = self.state, self._all_cards
        held = 2 * self.rules.hole_cards
        private = 2 * held + 1
        self._seen = private + self._public[state.round + state.rounds_to_deal]
        if state.is_showdown:
            self._cards = text[: self._seen], text[: self._seen]
        else:
            public = text[private : self._seen]
            self._cards = text[: held + 1] + public, text[held:private] + public
        if state.to_act is None:
            winner = None
            if state.folded is None:
                winner = best_hand(*self.dealt.holes, self.dealt.board)
            self.payoffs = state.payoffs(winner)
            for position in (0, 1):
                self.score[(position + self.hand) % 2] += self.payoffs[position]
