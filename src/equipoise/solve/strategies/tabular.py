"""Strategies of a game with all its states listed: to read, slice, compare, judge and save.

An information set is named by the private state, the betting so far, and from the first public card on
the board, all as the game writes them:

    strategy["K", "cr"]             a king in Kuhn poker, after a check and a bet
    strategy["K", "rrc/", "Q"]      in Leduc hold'em, when the queen has come and nothing is bet yet

and what is played there is a probability for each action: `{"fold": 0.0, "call": 1.0}`. A whole
strategy goes to such a dictionary and comes from one by :meth:`TabularStrategy.to_dict` and
:meth:`TabularStrategy.from_dict`.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from functools import cached_property
from math import comb, isclose, isfinite
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from equipoise import artefact
from equipoise.cards.card import DECK_SIZE
from equipoise.columnar import Columnar, columns_of
from equipoise.errors import ArtefactError, GameError, SolverError
from equipoise.games.betting import Betting
from equipoise.games.boards import BoardWalk
from equipoise.games.game import Game
from equipoise.games.policy import Policy, PublicState
from equipoise.games.rules import Action
from equipoise.settings import brief, did_you_mean, shown
from equipoise.solve import restoring
from equipoise.solve.strategies.bestresponse import exploitability_of, response_rows, value_of
from equipoise.solve.strategies.strategy import BestResponse
from equipoise.solve.sweep.rowindex import RowIndex, probabilities
from equipoise.solve.sweep.tableau import Tableau

if TYPE_CHECKING:
    from rich.table import Table

#: Names an information set: private state, betting, and the board where there is one.
Key = tuple[str, str] | tuple[str, str, str]
#: What is played: a probability for each action by its name, or in the order of the actions.
Mix = Mapping[str, float] | Sequence[float]

#: What probabilities may miss 1 by: those who write them round.
_ROUNDED = 1e-3


class InformationSet(NamedTuple):
    """What is played at one information set."""

    player: int
    #: Public cards, as text.
    board: str
    #: The betting so far, as the ACPC writes it.
    betting: str
    #: The private state, as text.
    state: str
    actions: tuple[str, ...]
    probabilities: tuple[float, ...]


class TabularStrategy(Columnar):
    """A behaviour strategy for both players of a game.

    `numbers` may be a realisation plan or behaviour probabilities: only the proportions within an
    information set count. Where they are all zero the state was never reached, nothing was learnt,
    and the strategy is uniform. As a table, it has a row for each information set and action.
    """

    def __init__(self, game: Game, numbers: NDArray[Any], index: RowIndex | None = None) -> None:
        self.game = game
        self.index = index or RowIndex(game)
        if numbers.shape != (self.index.size,):
            raise SolverError("these rows belong to another game")
        self.numbers = np.array(numbers)

    @classmethod
    def uniform(cls, game: Game) -> TabularStrategy:
        """Every action alike."""
        index = RowIndex(game)
        return cls(game, np.zeros(index.size), index)

    @property
    def betting(self) -> Betting:
        """The betting tree."""
        return self.game.betting

    # --------------------------------------------------------------------------------- answers

    def rows(self, node: int, board: int | None = None) -> NDArray[np.float64]:
        """Probabilities at a decision: [action, state]; of all boards of its round unless one is given."""
        if board is None:
            here = self._boards[self.betting.round_of(node)]
            return np.concatenate([self.rows(node, b) for b in here], axis=1)
        return probabilities(self.index.block(self.numbers, board, node))

    @cached_property
    def _boards(self) -> list[list[int]]:
        """Numbers of the boards of each round."""
        found: list[list[int]] = [[] for _ in range(self.betting.rounds)]
        for number, board in enumerate(self.game.deal.boards):
            found[board.round].append(number)
        return found

    def reached(self, node: int, board: int = 0) -> NDArray[np.bool_]:
        """Which states have a meaningful strategy at a decision."""
        block: NDArray[np.bool_] = self.index.block(self.numbers, board, node).max(axis=0) > 0
        return block

    @cached_property
    def _walk(self) -> BoardWalk:
        return BoardWalk(self.game.name, self.betting.rules, self.game.deal)

    def policy(self, public: PublicState) -> Policy:
        """What every hand plays in a situation at a table of the game's own rules.

        A strategy knows the bets of its game's menu. After any other bet it has no answer.
        """
        state, betting = public.state, self.betting
        if replace(state.rules, name="") != replace(betting.rules, name=""):
            raise GameError(
                f"the strategy is of {self.game.name}: play it by the rules of that game"
            )
        player = state.to_act
        if player is None:
            raise GameError("the hand is over: a policy is for a player who is to act")
        options = betting.menu.actions(state)
        if len(options) == 1:
            hands = comb(DECK_SIZE, state.rules.hole_cards)
            return Policy(tuple(options), np.ones((hands, 1), dtype=np.float32))
        node = self._nodes.get(state.history)
        if node is None:
            raise GameError(
                f"{self.game.name} has no betting {state.betting_text()!r}: "
                "its menu lacks a bet that was made"
            )
        number, states = self._walk.states(public.board, player)
        actions = tuple(betting.actions[child] for child in betting.children(node))
        chances = self.rows(node, number)
        rows = np.where(states[:, None] >= 0, chances.T[states], 0.0)
        return Policy(tuple(a for a in actions if a is not None), rows.astype(np.float32))

    @cached_property
    def _nodes(self) -> dict[tuple[tuple[Action, ...], ...], int]:
        """Decisions by the betting that leads to them."""
        betting = self.betting
        return {
            betting.states[node].history: node for node in np.flatnonzero(betting.kind < 2).tolist()
        }

    @cached_property
    def _tableau(self) -> Tableau:
        return Tableau(self.game)

    def value(self) -> float:
        """Chips of player 0 when both play the strategy."""
        return value_of(self._tableau, self.numbers) + self.game.value_offset_chips

    def exploitability(self) -> float:
        """Mean of what both players gain by best-responding, in chips.

        >>> from equipoise.games.catalogue import kuhn
        >>> round(TabularStrategy.uniform(kuhn()).exploitability(), 4)
        0.4583
        """
        return exploitability_of(self._tableau, self.numbers)

    def best_response(self, player: int) -> BestResponse[TabularStrategy]:
        """What wins most for `player` against the other's strategy."""
        if player not in (0, 1):
            raise SolverError(f"player = {player}: best responses are those of player 0 or 1")
        value, rows = response_rows(self._tableau, player, self.numbers)
        return BestResponse(
            value + (1 - 2 * player) * self.game.value_offset_chips,
            TabularStrategy(self.game, rows, self.index),
        )

    # --------------------------------------------------------------------------- as dictionaries

    @cached_property
    def _places(self) -> dict[tuple[str, str], tuple[int, int]]:
        """Board and node of a decision, by the texts of board and betting."""
        boards = self.game.deal.boards
        return {
            (self.game.board_name(boards[b]), self.betting.states[node].betting_text()): (b, node)
            for b, node in self.index.decisions()
        }

    def _find(self, key: Key) -> tuple[int, int, int]:
        """Board, node and private state of an information set."""
        if not (
            isinstance(key, tuple)
            and len(key) in (2, 3)
            and all(isinstance(part, str) for part in key)
        ):
            raise SolverError(
                f'{shown(key)}: name a private state and the betting, as in strategy["K", "cr"], '
                "and a board where there is one"
            )
        name, betting, board = key if len(key) == 3 else (*key, "")
        place = self._places.get((board, betting))
        if place is None:
            known = [line for cards, line in self._places if cards == board]
            raise SolverError(
                f"{self.game.name} has no decision after {shown(betting)}"
                + (f" on {shown(board)}" if board else " before any public card")
                + f": {did_you_mean(betting, known)}"
            )
        found, player = self.game.deal.boards[place[0]], int(self.betting.kind[place[1]])
        states = range(self.game.deal.states(place[0], player))
        names = [self.game.state_name(found, player, state) for state in states]
        if name not in names:
            raise SolverError(
                f"player {player} never holds {shown(name)} there: {did_you_mean(name, names)}"
            )
        return *place, names.index(name)

    def __getitem__(self, key: Key) -> dict[str, float]:
        """What is played at an information set: a probability for each action.

        >>> from equipoise.games.catalogue import kuhn
        >>> TabularStrategy.uniform(kuhn())["K", "cr"]
        {'fold': 0.5, 'call': 0.5}
        """
        board, node, state = self._find(key)
        chances = self.rows(node, board)[:, state].tolist()
        return dict(zip(self._labels(node), chances, strict=True))

    def _labels(self, node: int) -> list[str]:
        return [self.betting.label(child) for child in self.betting.children(node)]

    def to_dict(self) -> dict[Key, dict[str, float]]:
        """What is played at every information set."""
        found: dict[Key, dict[str, float]] = {}
        for told in self:
            key = (told.state, told.betting)
            mix = dict(zip(told.actions, told.probabilities, strict=True))
            found[(*key, told.board) if told.board else key] = mix
        return found

    @classmethod
    def from_dict(cls, game: Game, told: Mapping[Key, Mix]) -> TabularStrategy:
        """A strategy that is told information set by information set; all others are uniform.

        Actions are named as the game does, without their size where that is clear, and what is not
        named is not played; or their probabilities stand in order.

        >>> from equipoise.games.catalogue import kuhn
        >>> strategy = TabularStrategy.from_dict(kuhn(), {("J", ""): {"bet": 1}, ("K", ""): [0.5, 0.5]})
        >>> strategy["J", ""], strategy["Q", ""]
        ({'check': 0.0, 'bet 1': 1.0}, {'check': 0.5, 'bet 1': 0.5})
        """
        strategy = cls.uniform(game)
        for key, mix in told.items():
            board, node, state = strategy._find(key)
            chances = _in_order(mix, strategy._labels(node), key)
            strategy.index.block(strategy.numbers, board, node)[:, state] = chances
        return strategy

    # ----------------------------------------------------------------------------------- tables

    def __iter__(self) -> Iterator[InformationSet]:
        game = self.game
        betting = game.betting
        for b, node in self.index.decisions():
            board, player = game.deal.boards[b], int(betting.kind[node])
            actions = tuple(betting.label(child) for child in betting.children(node))
            table = self.rows(node, b)
            for state in range(table.shape[1]):
                yield InformationSet(
                    player,
                    game.board_name(board),
                    betting.states[node].betting_text(),
                    game.state_name(board, player, state),
                    actions,
                    tuple(float(p) for p in table[:, state]),
                )

    def __repr__(self) -> str:
        return f"<TabularStrategy of {self.game.name}: {self.index.size:,} numbers>"

    def distance(self, other: TabularStrategy) -> float:
        """Largest difference in a probability over all information sets."""
        if other.index.size != self.index.size:
            raise SolverError("strategies of different games cannot be compared")
        return max(
            float(np.abs(self.rows(n, b) - other.rows(n, b)).max())
            for b, n in self.index.decisions()
        )

    def table(self, player: int | None = None, most: int = 200) -> Table:
        """A readable table, at most `most` lines."""
        from rich.table import Table

        table = Table(title=f"{self.game.name}: average strategy")
        for column in ("player", "board", "betting", "holds", "plays"):
            table.add_column(column)
        shown = hidden = 0
        for entry in self:
            if player is not None and entry.player != player:
                continue
            if shown == most:
                hidden += 1
                continue
            shown += 1
            pairs = zip(entry.actions, entry.probabilities, strict=True)
            plays = "  ".join(f"{action} {p:.1%}" for action, p in pairs)
            table.add_row(str(entry.player), entry.board, entry.betting, entry.state, plays)
        if hidden:
            table.caption = f"{hidden:,} more information sets not shown"
        return table

    def columns(self) -> dict[str, list[Any]]:
        """One row for each action at each information set."""
        return columns_of(
            {
                "player": told.player,
                "board": told.board,
                "betting": told.betting,
                "state": told.state,
                "action": action,
                "probability": probability,
            }
            for told in self
            for action, probability in zip(told.actions, told.probabilities, strict=True)
        )

    def caption(self) -> str:
        """The game."""
        return f"A strategy of {self.game.name}"

    def save(self, path: str | Path) -> None:
        """Write the strategy with the fingerprint of its game."""
        game = {"game": self.game.name, "fingerprint": self.game.fingerprint()}
        artefact.write(path, "strategy", game, {"rows": self.numbers})

    @classmethod
    def load(cls, path: str | Path, game: Game) -> TabularStrategy:
        """Read a strategy of `game`; one of another game is refused."""
        manifest, arrays = artefact.read(path, "strategy")
        with artefact.understanding(path, "strategy"):
            configuration = restoring.table(manifest["configuration"], "configuration")
            if configuration.get("fingerprint") != game.fingerprint():
                other = brief(configuration.get("game"))
                raise ArtefactError(f"{path}: a strategy of {other}, not of {game.name}")
            index, kinds = RowIndex(game), (np.dtype("float32"), np.dtype("float64"))
            rows = restoring.array(arrays, "rows", (index.size,), *kinds)
            return cls(game, rows, index)


def _in_order(mix: Mix, actions: Sequence[str], key: Key) -> list[float]:
    """A probability for each of the actions."""
    where = ", ".join(repr(part) for part in key)
    if isinstance(mix, Mapping):
        chances = [0.0] * len(actions)
        for word, chance in mix.items():
            near = [i for i, name in enumerate(actions) if word in (name, name.partition(" ")[0])]
            if len(near) != 1:
                raise SolverError(f"{shown(word)} at {where}: choose from {', '.join(actions)}")
            chances[near[0]] += chance
    else:
        chances = [float(chance) for chance in mix]
        if len(chances) != len(actions):
            raise SolverError(
                f"{len(chances)} probabilities at {where}: give one for each of {', '.join(actions)}"
            )
    whole = all(isfinite(chance) and chance >= 0 for chance in chances)
    if not whole or not isclose(sum(chances), 1, abs_tol=_ROUNDED):
        raise SolverError(f"{shown(mix)} at {where}: give probabilities that sum to 1")
    return chances
