"""The trunk: a strategy for the whole hand, coarse in its cards or sizes, that a search goes on from.

Of it a search needs what every hand plays in a public situation. From that come

    ranges        with which both players arrive: prior times what each hand plays, action by action
    alternatives  what the opponent's hands are worth if both play on by the trunk (*self-play*), or if he
                  responds best to it (*best response*): real hands, real cards, the trunk's own sizes

Values are computed by writing the trunk's policy into the rows of an exact game, all hands, and one
sweep over it: VALUE for self-play, BEST for the best response. Best-response values make a re-solve
*safe*: it cannot end worse than the trunk. Self-play values promise nothing, and play best from a coarse
trunk, for they do not let the opponent cash in at once on what the trunk does wrong everywhere.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import lru_cache
from typing import Literal, Protocol, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from equipoise.abstraction.bets.line import AbstractLine
from equipoise.abstraction.bets.translation import Mapping
from equipoise.cards.card import DECK_SIZE
from equipoise.cards.matchup import compatible_weight
from equipoise.cards.streets import BOARD_SIZES
from equipoise.errors import GameError
from equipoise.games.belief import Belief
from equipoise.games.game import Game
from equipoise.games.menu import BetMenu
from equipoise.games.policy import Policy, PublicState
from equipoise.games.rules import CALL, Action, Rules, State
from equipoise.search.rowfilling import fill_by_column, fill_by_hand
from equipoise.search.subgame import Subgame, Weights, hand_combos
from equipoise.solve.sweep import rowrules
from equipoise.solve.sweep.tableau import Rows, Tableau
from equipoise.solve.training.blueprint import Blueprint

#: Where alternatives come from.
Alternatives = Literal["self-play", "best-response"]


class PolicySource(Protocol):
    """What every hand plays in a public situation; None where that is not known."""

    def __call__(self, public: PublicState, /) -> Policy | None:
        """The policy of the player to act."""


@runtime_checkable
class Columned(Protocol):
    """A trunk whose hands stand in columns: tables of them are written faster than policies."""

    def table(self, state: State, hand: int = 0) -> tuple[tuple[Action, ...], NDArray[np.float64]]:
        """Actions, and what each column plays in the hand of that number: float64[action, column]."""

    def columns(self, board: tuple[int, ...]) -> NDArray[np.int64]:
        """Column of every combination on a board."""


class BlueprintTrunk:
    """A blueprint as a trunk: as it was trained, before thresholds and guards.

    Bets that its tree does not have are translated by `mapping`, and refused if there is none; own bets
    are carried to the table by their size in pots. Which of two sizes a bet is taken for is drawn from
    `seed`, the number of the hand and the betting: nothing of it is private, and the trunk is the same
    for whoever asks. `rules` are the table's, where its stacks are not the blueprint's.
    """

    def __init__(
        self,
        blueprint: Blueprint,
        mapping: Mapping | None = None,
        seed: int = 0,
        rules: Rules | None = None,
    ) -> None:
        self.blueprint, self.seed = blueprint, seed
        self._line = None
        if mapping is not None:
            self._line = AbstractLine(blueprint.betting, mapping, rules=rules)
        #: Whether the table has other stacks than the blueprint, whose all-ins are then of another size.
        self.foreign = self._line is not None and self._line.foreign
        self._nodes = {} if self.foreign else blueprint.nodes
        self.columns = lru_cache(maxsize=512)(self._columns)
        self.table = lru_cache(maxsize=4096)(self._table)

    def __call__(self, public: PublicState, /) -> Policy:
        """What every hand plays."""
        actions, table = self.table(public.state, public.hand)
        chances = table[:, np.maximum(self.columns(public.board), 0)].T
        return Policy(actions, chances.astype(np.float32))

    def _columns(self, board: tuple[int, ...]) -> NDArray[np.int64]:
        return self.blueprint.columns(board)[-1]

    def _table(self, state: State, hand: int = 0) -> tuple[tuple[Action, ...], NDArray[np.float64]]:
        blueprint = self.blueprint
        node = self._nodes.get(state.history)
        if node is not None:
            return blueprint.actions(node), blueprint.rows(node)
        if self._line is None:
            raise GameError(
                f"{blueprint.name} has no betting {state.betting_text()!r}: give the trunk a mapping, "
                "which translates bets"
            )
        place = self._line.stand(state, self.seed, hand).place
        if not self._line.tree.turn(place, state):
            # The abstract hand is over before the real one: what is left is checked and called.
            return (CALL,), np.ones((1, int(blueprint.layout.columns.max())))
        merged: dict[Action, NDArray[np.float64]] = {}
        for row, child in zip(
            blueprint.rows(place), blueprint.betting.children(place), strict=True
        ):
            action = self._line.carried(place, child, state)
            merged[action] = merged[action] + row if action in merged else row
        actions = tuple(sorted(merged))
        return actions, np.stack([merged[action] for action in actions])


@dataclass(frozen=True)
class PolicyMenu(BetMenu):
    """The actions that a trunk knows, wherever it is asked."""

    source: PolicySource = field(default=lambda public: None)
    board: tuple[int, ...] = ()
    hand: int = 0

    def __hash__(self) -> int:
        return hash((id(self.source), self.board, self.hand))

    @classmethod
    def known_to(cls, source: PolicySource, board: tuple[int, ...], hand: int = 0) -> PolicyMenu:
        """The menu of a trunk after a board: what it knows does not depend on the cards to come."""
        return cls(BetMenu.parse("").streets, source=source, board=board, hand=hand)

    def actions(self, state: State) -> tuple[Action, ...]:
        """What the trunk may play."""
        if state.is_over:
            return ()
        if isinstance(self.source, Columned):
            return self.source.table(state, self.hand)[0]
        needed = BOARD_SIZES[state.round - state.rules.rounds]
        left = [card for card in range(DECK_SIZE) if card not in self.board]
        board = (*self.board, *left[: needed - len(self.board)])
        return asked(self.source, PublicState(state, board, self.hand)).actions

    def looks_at(self, state: State) -> object:
        """The whole betting: a trunk may remember anything."""
        return state.history


def asked(source: PolicySource, public: PublicState) -> Policy:
    """The trunk's policy; one that does not know its own is refused."""
    policy = source(public)
    if policy is None:
        raise GameError(
            "a search needs a trunk whose policy is known: choose an agent that plays a strategy"
        )
    return policy


def trunk_ranges(
    source: PolicySource, state: State, board: tuple[int, ...], hand: int = 0
) -> tuple[Weights, Weights]:
    """Ranges of both players at a place, if both came there by the trunk.

    Of an action that the trunk never takes nothing follows: the range stays what it was.
    """
    rules = state.rules
    beliefs = [Belief.start(rules), Belief.start(rules)]
    now = State.start(rules)
    for number, part in enumerate(state.history):
        cards = board[: sum(rules.board_cards[: number + 1])]
        beliefs = [belief.see(cards) for belief in beliefs]
        for action in part:
            player = now.to_act
            assert player is not None
            policy = asked(source, PublicState(now, cards, hand))
            beliefs[player] = beliefs[player].act(policy, action, never="ignore")
            now = now.apply(action)
    return beliefs[0].weights, beliefs[1].weights


class TrunkValues:
    """What the trunk is worth, hand by hand, from a place of the turn or river on.

    The tree is the trunk's own from there; hands, cards and chips are real.
    """

    def __init__(
        self,
        source: PolicySource,
        state: State,
        board: tuple[int, ...],
        ranges: tuple[Weights, Weights],
        hand: int = 0,
    ) -> None:
        menu = PolicyMenu.known_to(source, board, hand)
        self.subgame = Subgame(state, board, ranges, menu)
        self.game: Game = self.subgame.game(use_symmetry=False)
        self.tableau = Tableau(self.game)
        self.combos = hand_combos(self.game.deal.boards[0])
        self.rows: Rows = self.tableau.rows()
        fill_rows(self.tableau, self.rows, source, hand)
        for player in (0, 1):
            self.tableau.reach(player)[:] = self.subgame.ranges[player][self.combos[player]]

    def values(self, player: int, kind: Alternatives = "self-play") -> Weights:
        """What each hand of a player is worth to him, in chips from the start of the hand."""
        rule = rowrules.VALUE if kind == "self-play" else rowrules.BEST
        swept = self.tableau.sweep(player, rule, facing=self.rows)
        mass = compatible_weight(self.subgame.ranges[1 - player])[self.combos[player]]
        held = mass > 0
        found = np.zeros(len(self.subgame.ranges[player]))
        found[self.combos[player]] = np.where(held, swept / np.where(held, mass, 1.0), 0.0)
        return found


def fill_rows(tableau: Tableau, rows: Rows, source: PolicySource, hand: int = 0) -> None:
    """Write a trunk's policy into the rows of an exact game whose actions are the trunk's."""
    game, index = tableau.game, tableau.index
    betting = game.betting
    nodes = [betting.of_kind(number, 0, 1).tolist() for number in range(betting.rounds)]
    for b, board in enumerate(game.deal.boards):
        combos, columns = hand_combos(board), None
        if isinstance(source, Columned):
            columns = np.maximum(source.columns(board.cards), 0)
        for node in nodes[board.round]:
            player, state = int(betting.kind[node]), betting.states[node]
            width = int(index.width[b, player])
            start = int(index.base[b, player]) + int(betting.row[node]) * width
            if columns is not None and isinstance(source, Columned):
                table = source.table(state, hand)[1]
                fill_by_column(rows, start, width, combos[player], columns, table)
            else:
                policy = asked(source, PublicState(state, board.cards, hand))
                actions = tuple(betting.actions[child] for child in betting.children(node))
                if policy.actions != actions:
                    raise GameError(
                        f"the trunk offers other actions on {game.board_name(board)} than on other "
                        f"cards after '{state.betting_text()}': it cannot be searched"
                    )
                fill_by_hand(rows, start, width, combos[player], policy.probabilities)
