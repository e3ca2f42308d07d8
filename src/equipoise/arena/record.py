"""A hand that was played: the record that every format of hand histories is read into.

Players are numbered by position, as in the rules: 0 is the big blind, 1 the button. Amounts are
whole chips; a history in dollars and cents has chips of a cent. Payoffs are always computed from the
betting and the cards, never copied, so that what a file states can be checked against them.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import NamedTuple

from equipoise.cards.card import RANKS, SUITS, card_text, cards_text, check_distinct
from equipoise.cards.streets import BOARD_CARDS, STREETS
from equipoise.errors import CardError
from equipoise.games.dealing import DealtCards
from equipoise.games.hand import PAYOFF_DECIMALS, Hand
from equipoise.games.rules import Kind, Rules, State

Hole = tuple[int, ...] | None

#: Text of every card.
CARD_TEXTS = tuple(rank + suit for rank in RANKS for suit in SUITS)


class Fault(NamedTuple):
    """A failure of an agent."""

    #: Number of the hand.
    hand: int
    #: The agent: 0 is A, 1 is B.
    seat: int
    #: What went wrong, in one line.
    reason: str


@dataclass(frozen=True)
class HandRecord:
    """One hand, finished."""

    #: Its number in the match, or at the site where it was played.
    number: int
    #: The betting, with the rules, blinds and stacks it followed.
    state: State
    #: Hole cards of each position; None where they were never shown.
    holes: tuple[Hole, Hole]
    #: Board cards that were dealt.
    board: tuple[int, ...]
    #: Names, by position.
    players: tuple[str, str]
    #: What the file says each position won; None where it says nothing that counts.
    stated: tuple[float, float] | None = None
    #: Positions that gave up their cards at the showdown without showing them.
    mucked: tuple[int, ...] = ()
    #: Chips in one unit of the history's money: 100 where amounts are dollars and chips are cents.
    chips_per_unit: int = 1
    #: All-ins before the last card are paid by equity, not by the cards that came.
    allin_equity: bool = False
    #: Line of the file on which the hand starts.
    line: int = 0
    #: What else the file says: venue, date, table.
    notes: dict[str, object] = field(default_factory=dict, compare=False)

    @property
    def rules(self) -> Rules:
        """The rules, blinds and stacks that the hand followed."""
        return self.state.rules

    @cached_property
    def payoffs(self) -> tuple[float, float] | None:
        """Net chips of each position; None if the hand is unfinished or the winner was never seen.

        Who shows against an opponent who mucks has won.
        """
        state = self.state
        if not state.is_over:
            return None
        if state.folded is not None:
            return state.payoffs()
        first, second = self.holes
        if len(self.mucked) == 1 and self.holes[1 - self.mucked[0]] is not None:
            return state.payoffs(1 - self.mucked[0])
        if first is None or second is None or len(self.board) < sum(self.rules.board_cards):
            return None
        deal = DealtCards.of(self.rules, (first, second), self.board)
        return Hand(state, deal, self.number, self.allin_equity).payoffs()

    def faults(self) -> list[str]:
        """Everything in the record that contradicts itself, one sentence each; [] is a sound hand.

        The betting was checked when it was read: what is left are folds that were free, the cards
        and the payoffs.
        """
        found = []
        if self.state.folded_free:
            found.append(f"{self.players[self.state.folded or 0]} folds where checking is free")
        distinct = True
        try:
            check_distinct([*(self.holes[0] or ()), *(self.holes[1] or ()), *self.board])
        except CardError as error:
            distinct = False
            found.append(str(error))
        if not self.state.is_over:
            found.append(f"betting {self.state.betting_text()!r} does not end the hand")
            return found
        dealt = board_cards(self.state)
        if len(self.board) != dealt:
            found.append(f"{len(self.board)} board cards where the betting has {dealt}")
        elif distinct and None not in (self.stated, self.payoffs) and self.stated != self.payoffs:
            stated, real = (
                "|".join(chips_text(chips) for chips in pair or ())
                for pair in (self.stated, self.payoffs)
            )
            found.append(f"payoffs {stated} where the cards and the betting give {real}")
        return found

    def text(self) -> str:
        """The hand as a person reads it.

        >>> from equipoise.games.rules import NOLIMIT_HOLDEM
        >>> state = State.from_betting_text(NOLIMIT_HOLDEM, "r300f")
        >>> print(HandRecord(7, state, ((51, 50), None), (), ("Ann", "Bob")).text())
        hand 7: no-limit hold'em 50-100, stack 20000
          big blind Ann AsAh 20000, button Bob ???? 20000
          preflop (150): Bob raises to 300, Ann folds
          Bob wins 100
        """
        names = self.players
        stacks = [
            "" if self.rules.limit else f" {self._money(stack)}" for stack in self.rules.stacks
        ]
        shown = [cards_text(hole) if hole else "????" for hole in self.holes]
        lines = [
            f"hand {self.number}: {self.rules.name}",
            f"  big blind {names[0]} {shown[0]}{stacks[0]}, "
            f"button {names[1]} {shown[1]}{stacks[1]}",
        ]
        state, dealt = State.start(self.rules), 0
        for number in range(self.rules.rounds):
            dealt += self.rules.board_cards[number]
            if number >= len(self.state.history) and not self.state.rounds_to_deal:
                break
            board = " ".join(card_text(card) for card in self.board[:dealt])
            head = f"  {_street(self.rules, number)} {board}".rstrip()
            words = []
            pot = state.pot
            for action in self.state.history[number] if number < len(self.state.history) else ():
                assert state.to_act is not None
                words.append(f"{names[state.to_act]} {self._verb(state, action)}")
                state = state.replay(action)
            lines.append(f"{head} ({self._money(pot)}){': ' * bool(words)}{', '.join(words)}")
        lines.append(f"  {self._outcome()}")
        return "\n".join(lines)

    def _money(self, chips: float) -> str:
        if self.chips_per_unit == 1:
            return chips_text(chips)
        return f"{chips / self.chips_per_unit:.2f}"

    def _verb(self, state: State, action: tuple[Kind, int]) -> str:
        kind, amount = action
        if kind == Kind.FOLD:
            return "folds"
        if kind == Kind.CALL:
            owed = state.to_call
            return f"calls {self._money(owed)}" if owed else "checks"
        assert state.to_act is not None
        all_in = " all-in" * (amount >= self.rules.stacks[state.to_act])
        if state.round == 0:
            verb = "raises to"
            street = amount
        else:
            verb = "raises to" if state.raises else "bets"
            street = amount - state.round_start
        return f"{verb} {self._money(street)}{all_in}"

    def _outcome(self) -> str:
        if not self.state.is_over:
            return "the hand was not finished"
        if self.payoffs is None:
            return "no cards were shown"
        won = max(self.payoffs)
        if not won:
            return "the pot is split"
        shows = "" if self.state.folded is not None else " at the showdown"
        return f"{self.players[self.payoffs.index(won)]} wins {self._money(won)}{shows}"


def chips_text(chips: float) -> str:
    """Chips as logs write them.

    >>> chips_text(50), chips_text(-12.5), chips_text(3.0)
    ('50', '-12.5', '3')
    """
    if isinstance(chips, int):
        return str(chips)
    text = f"{chips:.{PAYOFF_DECIMALS}f}".rstrip("0").rstrip(".")
    return "0" if text == "-0" else text


def write_cards(
    rules: Rules, holes: Sequence[tuple[int, ...] | None], board: tuple[int, ...]
) -> str:
    """The cards field: hidden hands blank, the board split by rounds.

    >>> from equipoise.games.rules import NOLIMIT_HOLDEM
    >>> write_cards(NOLIMIT_HOLDEM, ((), (30, 41)), (25, 51, 27))
    '|9hQd/8dAs8s'
    """
    parts = ["|".join("".join([CARD_TEXTS[card] for card in hole or ()]) for hole in holes)]
    first = 0
    for count in rules.board_cards:
        if count and first < len(board):
            parts.append("".join([CARD_TEXTS[card] for card in board[first : first + count]]))
            first += count
    return "/".join(parts)


def state_line(
    hand: int,
    state: State,
    holes: Sequence[tuple[int, ...] | None],
    board: tuple[int, ...],
    payoffs: Sequence[float],
    names: Sequence[str],
) -> str:
    """The line of a finished hand in a log; payoffs and names by position."""
    cards = write_cards(state.rules, holes, board)
    won = "|".join(chips_text(chips) for chips in payoffs)
    return f"STATE:{hand}:{state.betting_text()}:{cards}:{won}:{'|'.join(names)}"


def board_cards(state: State) -> int:
    """Board cards on the table in `state`, those dealt after an early all-in included.

    >>> from equipoise.games.rules import NOLIMIT_HOLDEM
    >>> board_cards(State.from_betting_text(NOLIMIT_HOLDEM, "cc/r200f"))
    3
    """
    return sum(state.rules.board_cards[: state.round + state.rounds_to_deal + 1])


def _street(rules: Rules, number: int) -> str:
    if rules.board_cards == BOARD_CARDS:
        return STREETS[number]
    return f"round {number + 1}"
