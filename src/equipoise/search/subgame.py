"""A subgame: what is left of a hand, with the true pot, real cards and both ranges.

    subgame = Subgame(state, board, ranges)        # from any turn or river, also facing a bet
    solved = solve_subgame(subgame)                 # exactly, all hands, to the end of the hand
    solved.policy(state)                            # what every hand plays here
    solved.values(player, state)                    # what every hand is worth there, in chips

`state` is the real betting of the hand, so contributions, stacks and the least raise are the table's,
and chips are counted from the start of the hand: who folds at once has lost what he put in. Ranges are
1,326 weights each, the reach with which each hand came so far. All hands that the board allows are in
the game, those outside a range with a hair of weight: they have a strategy and values as well.

With a `line` the subgame begins earlier in the round than the hand stands: what was really played since
is in the tree at its place, on the menu or not, and `kept` says what the player who re-solves played at
his decisions on the way, which is locked: he cannot have played otherwise.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import ArrayLike, NDArray

from equipoise.cards.card import RANKS, cards_text, check_distinct
from equipoise.cards.combos import COMBO_CARDS, COMBO_COUNT
from equipoise.cards.range import Range
from equipoise.cards.streets import BOARD_SIZES, STREETS
from equipoise.errors import CardError, GameError, RangeError
from equipoise.games.betting import Betting
from equipoise.games.boards import Board
from equipoise.games.game import CardText, Game
from equipoise.games.menu import BetMenu
from equipoise.games.policy import Policy
from equipoise.games.rules import Action, State
from equipoise.games.spot import deal_hands
from equipoise.search.gadgets import HAIR
from equipoise.search.menus import History, LineMenu, menu_for
from equipoise.solve.sweep.gamearrays import Lock

Weights = NDArray[np.float64]

#: Iterations: so many numbers of all rows in work, but not fewer nor more than these.
_WORK = 1.2e9
_FEWEST, _MOST = 100, 300
_TEXT = CardText(RANKS, suits=4)


def iterations_for(game: Game) -> int:
    """Iterations of a subgame, from the size of its tree alone: who asks twice is answered the same.

    Small trees get more of them, for they are cheap; large ones enough to come within about half a
    percent of the pot.
    """
    betting, states = game.betting, np.array([[len(h) for h in b.hands] for b in game.deal.boards])
    rounds = [board.round for board in game.deal.boards]
    numbers = float((states * betting.rows[rounds]).sum())
    return int(min(max(_WORK / max(numbers, 1.0), _FEWEST), _MOST))


@dataclass(frozen=True, init=False, eq=False)
class Subgame:
    """What is left of a hand of hold'em on the turn or the river, or of a flop that is cut at its end.

    >>> from equipoise.cards.card import parse_cards
    >>> from equipoise.games.rules import NOLIMIT_HOLDEM
    >>> state = State.from_betting_text(NOLIMIT_HOLDEM, "r250c/cc/cc/r400")
    >>> subgame = Subgame(state, parse_cards("Td9d6hQc2s"), (Range.full(), Range.full()))
    >>> subgame.pot, subgame.stacks
    (650, (19600, 19750))
    """

    #: Where it begins.
    state: State
    #: The public cards there.
    board: tuple[int, ...]
    #: Reach of every hand of both players there: float64[1326].
    ranges: tuple[Weights, Weights]
    #: Sizes of its tree, the actions of the line included.
    menu: LineMenu
    #: What was played since it began, on the same street.
    line: tuple[Action, ...]
    #: Where the hand stands: after the line.
    now: State
    #: What a player is known to have played at decisions on the line.
    kept: Mapping[History, Policy]

    def __init__(
        self,
        state: State,
        board: Sequence[int],
        ranges: tuple[ArrayLike | Range, ArrayLike | Range],
        menu: BetMenu | str | None = None,
        *,
        line: Sequence[Action] = (),
        kept: Mapping[History, Policy] | None = None,
    ) -> None:
        cards = tuple(int(card) for card in board)
        _check_state(state, cards)
        chosen = menu_for(state) if menu is None else BetMenu.of(menu)
        kept = dict(kept or {})
        more = {history: policy.actions for history, policy in kept.items()}
        whole, now = LineMenu.along(chosen, state, line, more)
        if now.is_over or now.round > state.round:
            raise GameError(
                f"the line of a subgame after '{state.betting_text()}' leaves its street: begin "
                "another where it ends"
            )
        weights = (read_range(ranges[0], cards, 0), read_range(ranges[1], cards, 1))
        fields = {
            "state": state, "board": cards, "ranges": weights, "menu": whole,
            "line": tuple(line), "now": now, "kept": kept,
        }  # fmt: skip
        for name, value in fields.items():
            object.__setattr__(self, name, value)

    def __repr__(self) -> str:
        return (
            f"<Subgame {cards_text(self.board)} after {self.state.betting_text()!r}: pot {self.pot}, "
            f"stacks {self.stacks[0]} and {self.stacks[1]}>"
        )

    @property
    def pot(self) -> int:
        """Chips in the middle where it begins."""
        return self.state.pot

    @property
    def stacks(self) -> tuple[int, int]:
        """Chips that both have left there."""
        first, second = self.state.committed
        return self.state.rules.stacks[0] - first, self.state.rules.stacks[1] - second

    @cached_property
    def betting(self) -> Betting:
        """The tree of its betting."""
        return Betting.build(self.state.rules, self.menu, keep_first=True, start=self.state)

    def game(self, use_symmetry: bool = True) -> Game:
        """The game over all hands that the board allows, run-outs merged where ranges allow it."""
        betting = self.betting
        if betting.rounds > 2:
            raise GameError(
                f"'{self.state.betting_text()}': hands are solved to their end from the turn on: cut an "
                "earlier street by a depth limit"
            )
        free = free_combos(self.board)
        hands = COMBO_CARDS[free].astype(np.int16)
        lifted = [np.maximum(own[free], HAIR * own.max()) for own in self.ranges]
        ranges = ((hands, lifted[0]), (hands, lifted[1]))
        deal = deal_hands(self.board, betting.board_cards, ranges, use_symmetry)
        street = STREETS[self.state.round - self.state.rules.rounds]
        return Game(
            name=f"{street} {cards_text(self.board)} after {self.state.betting_text()}",
            betting=betting,
            deal=deal,
            unit_chips=float(self.state.rules.big_blind),
            state_name=_TEXT.state,
            board_name=_TEXT.board,
        )

    def locks(
        self, game: Game, combos: tuple[NDArray[np.int64], NDArray[np.int64]]
    ) -> dict[tuple[int, int], Lock]:
        """What was played on the line, as locks of the tree; `combos` are the hands of both."""
        found: dict[tuple[int, int], Lock] = {}
        betting = game.betting
        nodes = {betting.states[n].history: n for n in betting.of_kind(0, 0, 1).tolist()}
        for history, policy in self.kept.items():
            node = nodes.get(history)
            if node is None:
                raise GameError(
                    "what was played is kept at a place that the subgame does not have: keep decisions "
                    f"of its line after '{self.state.betting_text()}'"
                )
            player = int(betting.kind[node])
            play = np.zeros((int(betting.count[node]), len(combos[player])))
            for a, child in enumerate(betting.children(node)):
                action = betting.actions[child]
                if action in policy.actions:
                    column = policy.probabilities[:, policy.actions.index(action)]
                    play[a] = column[combos[player]]
            total = play.sum(axis=0)
            known = total > 0
            play = np.where(known, play / np.where(known, total, 1.0), 1.0 / len(play))
            found[0, node] = (known, play)
        return found


# ----------------------------------------------------------------------------------------- reading


def read_range(weights: ArrayLike | Range, board: tuple[int, ...], player: int) -> Weights:
    """Weights of all 1,326 hands, those that the board blocks 0; a range without hands is refused."""
    if isinstance(weights, Range):
        weights = weights.weights
    found = np.array(weights, dtype=np.float64)
    if found.shape != (COMBO_COUNT,):
        raise RangeError(
            f"the range of player {player} has {found.size} weights: give one for each of "
            f"{COMBO_COUNT} hands"
        )
    if not np.isfinite(found).all() or (found < 0).any():
        raise RangeError(f"the range of player {player}: weights are finite, and 0 or more")
    blocked = np.ones(COMBO_COUNT, dtype=bool)
    blocked[free_combos(board)] = False
    found[blocked] = 0.0
    if not found.any():
        raise RangeError(
            f"the range of player {player} has no hand that the board {cards_text(board)} allows: "
            "give one a weight above 0"
        )
    return found


def free_combos(board: Sequence[int]) -> NDArray[np.int64]:
    """Hands that hold no card of the board, in the order of their numbers."""
    return np.flatnonzero(~np.isin(COMBO_CARDS, list(board)).any(axis=1))


def hand_combos(board: Board) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Number of the combination that each state of both players is on a board."""
    found = []
    for hands in board.hands:
        held = np.sort(hands.astype(np.int64), axis=1)
        found.append(held[:, 1] * (held[:, 1] - 1) // 2 + held[:, 0])
    return found[0], found[1]


def _check_state(state: State, board: tuple[int, ...]) -> None:
    rules = state.rules
    if rules.hole_cards != 2 or rules.ranks != 13 or rules.suits != 4:
        raise GameError(f"{rules.name}: subgames are of hold'em with the full deck")
    if state.is_over:
        raise GameError(
            f"'{state.betting_text()}': the hand is over: a subgame begins where somebody acts"
        )
    left = rules.rounds - state.round
    try:
        cards_text(board)
        check_distinct(board)
    except CardError as error:
        raise CardError(f"board: {error}") from None
    needed = BOARD_SIZES[-left]
    if len(board) != needed:
        raise CardError(f"board: {len(board)} cards after '{state.betting_text()}': give {needed}")
    if left > 3:
        raise GameError(
            f"'{state.betting_text()}': subgames begin on the flop or later: before it large pots are "
            "solved at their real size"
        )
