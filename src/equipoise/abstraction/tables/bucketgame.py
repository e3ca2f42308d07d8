"""Hold'em in which a player sees buckets instead of cards, as a game for the solvers.

There are two. In :func:`bucket_game` a player remembers the buckets he has been in, and both players'
buckets come from one table (:mod:`.joint`): nothing is assumed about them, so the game is
hold'em with players who see less. In :func:`independent_game` buckets are forgotten and each
player's move by chances of their own (:mod:`.transitions`): a smaller model, in which what the
players hold is independent given the flop's class.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from equipoise.abstraction.tables.joint import JointTables
from equipoise.abstraction.tables.transitions import Transitions
from equipoise.cards.streets import STREETS
from equipoise.errors import GameError
from equipoise.games.betting import Betting
from equipoise.games.boards import Board, BoardTree
from equipoise.games.game import Game, game_name
from equipoise.games.menu import BetMenu
from equipoise.games.rules import Rules


def bucket_game(rules: Rules, tables: JointTables, menu: BetMenu | str | None = None) -> Game:
    """The betting of `rules` over buckets that remember; in limit every legal action by default."""
    betting = _betting(rules, tables.board_cards, menu)
    boards: list[Board] = []
    for street in range(tables.streets):
        board = _board(street, street - 1, (), tables.states(street))
        board.mass, board.signed = tables.mass[street], tables.signed[street]  # type: ignore[assignment]
        if street:
            board.arrivals.append((tables.parents[street], tables.parents[street]))
            board.deals.append(())
        boards.append(board)
    ones = np.ones(tables.states(0))
    paths = _paths(tables)
    return Game(
        name=game_name(
            "buckets",
            rules=rules.name,
            states="-".join(str(tables.states(street)) for street in range(tables.streets)),
            menu=betting.menu,
        ),
        betting=betting,
        deal=BoardTree(boards, (ones, ones), 1.0, "matrix"),
        unit_chips=float(rules.big_blind),
        state_name=lambda board, _, state: _path_text(paths, board.round, state),
        board_name=lambda board: STREETS[board.round],
    )


def independent_game(
    rules: Rules, transitions: Transitions, menu: BetMenu | str | None = None
) -> Game:
    """The betting of `rules` over buckets that are forgotten and move by chances of their own."""
    betting = _betting(rules, transitions.board_cards, menu)
    root = _board(0, -1, (), len(transitions.prior))
    root.signed = transitions.expected(0)
    boards, above = [root], [0]
    for street in range(1, transitions.streets):
        here = []
        for board_class in range(transitions.classes if street >= transitions.classed else 1):
            step = transitions.steps[board_class][street - 1]
            parent = above[board_class if street > transitions.classed else 0]
            label = (board_class,) if street >= transitions.classed else ()
            board = _board(street, parent, label, len(step))
            if street == transitions.classed:
                board.weight = float(transitions.chances[board_class])
            board.signed = transitions.expected(street, board_class)
            board.transition = (step, step)
            here.append(len(boards))
            boards.append(board)
        above = here
    for board in boards:
        states = len(board.hands[0])
        board.mass = np.ones((states, states))
    single = transitions.classes == 1
    return Game(
        name=game_name(
            "independent-buckets",
            rules=rules.name,
            states="-".join(str(n) for n in _sizes(transitions)),
            classes=None
            if single
            else f"{transitions.classes} of the {STREETS[transitions.classed]}",
            menu=betting.menu,
        ),
        betting=betting,
        deal=BoardTree(boards, (transitions.prior, transitions.prior), 1.0, "matrix"),
        unit_chips=float(rules.big_blind),
        state_name=lambda board, _, state: str(state + 1),
        board_name=lambda board: (
            STREETS[board.round]
            + ("" if single or not board.cards else f" of class {board.cards[0] + 1}")
        ),
        perfect_recall=False,
        markov=True,
    )


def _sizes(transitions: Transitions) -> list[int]:
    return [len(transitions.prior), *(len(step) for step in transitions.steps[0])]


def _betting(rules: Rules, board_cards: tuple[int, ...], menu: BetMenu | str | None) -> Betting:
    if rules.board_cards != board_cards:
        raise GameError(
            f"{rules.name} deals public cards {rules.board_cards}, the buckets are of {board_cards}: "
            "choose rules of the same game"
        )
    if menu is None and not rules.limit:
        raise GameError(f"{rules.name} has too many bet sizes: choose a bet menu")
    return Betting.build(rules, BetMenu.of(menu))


def _board(street: int, parent: int, label: tuple[int, ...], states: int) -> Board:
    hands = np.arange(states, dtype=np.int16).reshape(states, 1)
    return Board(street, parent, label, 1.0, (hands, hands))


def _paths(tables: JointTables) -> list[NDArray[np.int64]]:
    """Buckets that each state has been in, counted from 1 among the children of the one before."""
    paths = [1 + np.arange(tables.states(0)).reshape(-1, 1)]
    for parents in tables.parents[1:]:
        order = np.argsort(parents, kind="stable")
        starts = np.searchsorted(parents[order], parents)
        place = np.empty_like(parents)
        place[order] = np.arange(len(parents))
        paths.append(np.column_stack([paths[-1][parents], 1 + place - starts]))
    return paths


def _path_text(paths: list[NDArray[np.int64]], street: int, state: int) -> str:
    return "-".join(map(str, paths[street][state].tolist()))
