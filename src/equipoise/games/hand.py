"""One hand in play: what was dealt, whose turn it is, what each player sees, and how it ends.

Whoever conducts a hand (a match, a dealer, practice, a table at which a person sits) deals the cards
and goes through the same steps:

    hand = Hand(State.start(rules), deal, number)
    while hand.state.to_act is not None:
        hand.play(agents[hand.state.to_act].act(hand.view()))
    hand.payoffs(), hand.result(0), hand.result(1)

A player who only follows somebody else's table knows part of the cards, and has the same hand.

By choice an all-in before the last card is paid by exact equity: what the pot is worth on average
over all run-outs, instead of what the dealt one says. The mean over deals is the same, the variance
is less.
"""

from __future__ import annotations

from functools import lru_cache
from operator import index
from typing import NamedTuple

from equipoise.cards.combos import hand_number
from equipoise.errors import EquipoiseError, GameError, IllegalActionError
from equipoise.games.dealing import UNKNOWN, DealtCards
from equipoise.games.rules import CALL, FOLD, Action, Kind, State
from equipoise.settings import brief

#: Decimals kept of a payoff that is no whole number: what logs write.
PAYOFF_DECIMALS = 6
#: Seeds there are.
_SEEDS = 1 << 63


class View(NamedTuple):
    """What a player sees when it is his turn."""

    #: The betting so far, and the rules it follows.
    state: State
    #: Where he sits: 0 or 1, as in the rules; it is `state.to_act`.
    position: int
    #: His own cards.
    hole: tuple[int, ...]
    #: The public cards dealt so far.
    board: tuple[int, ...]
    #: Number of the hand in the match, from 0.
    hand: int


class HandResult(NamedTuple):
    """The end of a hand, as one player sees it."""

    state: State
    position: int
    hole: tuple[int, ...]
    #: Public cards dealt by the end.
    board: tuple[int, ...]
    hand: int
    #: Chips won, less than 0 if lost.
    payoff: float
    #: The opponent's cards: shown at a showdown, or always where a trainer reveals them.
    opponent: tuple[int, ...] | None
    #: The public cards that would have come, where a trainer reveals them.
    full_board: tuple[int, ...] | None


class Hand:
    """A hand that is being played.

    >>> from equipoise.games.dealing import SeededDeals
    >>> from equipoise.games.rules import NOLIMIT_HOLDEM, raise_to
    >>> hand = Hand(State.start(NOLIMIT_HOLDEM), SeededDeals(NOLIMIT_HOLDEM, seed=7).deal(0), 0)
    >>> hand.view().position, str(hand.state.legal())
    (1, 'fold, call or raise to 200-20000')
    >>> hand.play(raise_to(300))
    >>> hand.play(FOLD)
    >>> hand.result(1).payoff, hand.result(1).opponent
    (100, None)
    """

    __slots__ = ("allin_equity", "deal", "number", "state")

    def __init__(
        self, state: State, deal: DealtCards, number: int, allin_equity: bool = False
    ) -> None:
        #: The betting so far: whose turn it is, and what is legal.
        self.state = state
        self.deal = deal
        #: Number of the hand in the match.
        self.number = number
        #: An all-in before the last card is paid by its equity.
        self.allin_equity = allin_equity

    @property
    def board(self) -> tuple[int, ...]:
        """The public cards on the table, all of them once the cards decide."""
        state = self.state
        return self.deal.boards[state.round + state.rounds_to_deal]

    def view(self) -> View:
        """What the player to act sees."""
        state, deal = self.state, self.deal
        position = state.to_act
        if position is None:
            raise IllegalActionError("the hand is over: there is nothing to decide")
        return View(state, position, deal.holes[position], deal.boards[state.round], self.number)

    def play(self, action: Action) -> None:
        """The player to act does `action`; :class:`IllegalActionError` if the rules forbid it."""
        if (
            action.__class__ is not Action
            or action.kind.__class__ is not Kind
            or action.amount.__class__ is not int
        ):
            action = understood(action)
        self.state = self.state.apply(action)

    def give_up(self) -> None:
        """The player to act folds to a bet, and checks where there is none."""
        self.state = self.state.apply(FOLD if self.state.legal().fold else CALL)

    def payoffs(self) -> tuple[float, float]:
        """Chips that each position wins in a hand that is over."""
        state, deal = self.state, self.deal
        if state.folded is not None:
            return state.payoffs()
        if self.allin_equity and state.rounds_to_deal:
            share = all_in_share(*deal.holes, deal.boards[state.round])
            gain = round(state.payoffs(0)[0] * (2 * share - 1), PAYOFF_DECIMALS)
            return gain, -gain
        winner = deal.winner
        if winner == UNKNOWN:
            raise GameError("not all cards of the showdown are known: say who holds what")
        return state.payoffs(winner)

    def result(self, position: int, *, reveal: bool = False) -> HandResult:
        """The end of the hand as a player sees it, with all cards where they are revealed."""
        state, deal = self.state, self.deal
        shown = reveal or state.folded is None
        return HandResult(
            state,
            position,
            deal.holes[position],
            self.board,
            self.number,
            self.payoffs()[position],
            deal.holes[1 - position] if shown else None,
            deal.boards[-1] if reveal else None,
        )


def understood(action: object) -> Action:
    """An action made of other types that mean the same, such as NumPy's whole numbers."""
    try:
        if isinstance(action, tuple):
            kind, amount = action
            return Action(Kind(index(kind)), index(amount))
        raise TypeError
    except (TypeError, ValueError):
        raise IllegalActionError(f"returned {action!r}, which is no action") from None


def check_seed(seed: int) -> None:
    """Refuse a seed from which no match is dealt."""
    if not 0 <= seed < _SEEDS:
        raise EquipoiseError(f"seed = {brief(seed)}: give a whole number from 0 to {_SEEDS - 1}")


def hand_seed(seed: int, hand: int, seat: int) -> int:
    """Seed of an agent's random choices in a hand: no two of a match are the same.

    >>> hand_seed(1, 0, 0) != hand_seed(0, 1, 0) != hand_seed(0, 0, 1)
    True
    """
    return (seed << 33 | hand) << 1 | seat


def all_in_share(first: tuple[int, ...], second: tuple[int, ...], board: tuple[int, ...]) -> float:
    """What share of the pot `first` wins on average over all run-outs of a board.

    >>> from equipoise.cards.card import parse_cards
    >>> round(all_in_share(parse_cards("AsAh"), parse_cards("KcKd"), ()), 6)
    0.812555
    """
    if not board:
        from equipoise.cards.headsup import margins

        return (1 + float(margins()[hand_number(first), hand_number(second)])) / 2
    names: dict[int, int] = {}

    def renamed(cards: tuple[int, ...]) -> tuple[int, ...]:
        return tuple(card & ~3 | names.setdefault(card & 3, len(names)) for card in sorted(cards))

    # Cards sorted, suits in the order they appear: equal matchups are then mostly written alike.
    return _exact_share(renamed(first), renamed(second), renamed(board))


@lru_cache(maxsize=1 << 16)
def _exact_share(first: tuple[int, ...], second: tuple[int, ...], board: tuple[int, ...]) -> float:
    from equipoise.cards.equity import equity

    return equity([first, second], board, threads=1).equity[0]
