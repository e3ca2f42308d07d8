"""Every decision of a solution as a table: CSV, Parquet or JSON, cut at a street.

One line for each line of betting, board and hand of the player to act:

    street, board, copies, line, pot, player, hand     where; `copies` boards are equal to this one
    reach, equity, ev_chips                            as in :mod:`equipoise.solve.spots.position`
    actions, p1, p2, ...                               `check;bet 50`, and the probability of each
    ev1, ev2, ...                                      what each action is worth

Amounts are in the unit of the spot, and `ev_chips` is `ev_bb` where that is big blinds. `line` counts
from where the spot begins and names the cards, so that it can be given to `Solution.at` as it is.

JSON holds the same by decision, so that what belongs to a decision is written once. Figures are computed
for all nodes of a board at once: reach goes down the betting, and one matrix product each gives the masses
and equities against all of them.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from equipoise.cards.card import card_text, cards_text
from equipoise.cards.combos import combo_text
from equipoise.columnar import write_frame
from equipoise.errors import TooLargeError
from equipoise.files import check_target, written
from equipoise.games.nodes import DEAL
from equipoise.games.notation.amounts import amount_of
from equipoise.games.spot import SEATS
from equipoise.solve.spots.position import NEVER, ROUNDING
from equipoise.solve.spots.solutionfile import streets_through

if TYPE_CHECKING:
    from polars import DataFrame

    from equipoise.games.betting import Betting
    from equipoise.solve.spots.answer import Answer

#: More lines than this are not written: no spreadsheet and few memories hold them.
MOST_LINES = 20_000_000
#: How the name of an export may end.
SUFFIXES = (".csv", ".parquet", ".json")


@dataclass(frozen=True)
class Decision:
    """One decision on one board, with a figure for each hand of the player to act."""

    board: int
    node: int
    player: int
    reach: NDArray[np.float64]
    equity: NDArray[np.float64]
    ev: NDArray[np.float64]
    #: [action, hand]
    strategy: NDArray[np.float64]
    #: [action, hand]
    action_ev: NDArray[np.float64]


def export(
    answer: Answer, path: str | Path, figures: Mapping[str, Any], through: str | None = None
) -> int:
    """Write all decisions up to a street; the ending of the name chooses the format.

    `figures` of the whole stand at the head of a JSON file.
    """
    check_target(path, overwrite=True, suffixes=SUFFIXES, what="the export")
    lines, streets = check_export(answer, through), streets_through(answer, through)
    if Path(path).suffix.lower() == ".json":
        _write_json(answer, streets, figures, Path(path))
    else:
        write_frame(_frame(answer, streets), path, decimals=6)
    return lines


def check_export(answer: Answer, through: str | None = None) -> int:
    """Lines that an export would have; too many are refused, before any solving."""
    lines = _count(answer, streets_through(answer, through))
    if lines > MOST_LINES:
        raise TooLargeError(
            f"the export would have {lines:,} lines, more than {MOST_LINES:,}: cut it at an "
            "earlier street"
        )
    return lines


def frame(answer: Answer, through: str | None = None) -> DataFrame:
    """All decisions up to a street as a Polars frame."""
    check_export(answer, through)
    return _frame(answer, streets_through(answer, through))


def decisions(answer: Answer, streets: int) -> Iterator[Decision]:
    """Every decision of the first streets, board by board."""
    game = answer.game
    betting, deal = game.betting, game.deal
    #: Reach of both players at the DEAL nodes of a board, and its chance.
    leaving: dict[int, tuple[list[NDArray[np.float64]], float]] = {}
    for b, board in enumerate(deal.boards):
        if board.round >= streets:
            return
        first, last = betting.spans()[board.round]
        nodes = range(first, last)
        reach = [np.zeros((last - first, deal.states(b, player))) for player in (0, 1)]
        chance = 1.0
        if board.parent < 0:
            for player in (0, 1):
                reach[player][0] = deal.initial[player]
        else:
            above, chance = leaving[board.parent]
            chance *= board.weight
            roots = betting.next_root[betting.of_kind(board.round - 1, DEAL)] - first
            for player in (0, 1):
                reach[player][roots] = above[player][:, board.arrivals[0][player]]
        play = _go_down(answer, b, nodes, reach)
        leaves = betting.of_kind(board.round, DEAL) - first
        leaving[b] = ([reach[player][leaves] for player in (0, 1)], chance)
        for player in (0, 1):
            at = betting.of_kind(board.round, player)
            facing = reach[1 - player][at - first]
            mass, signed = answer.showdowns.masses(player, b, facing)
            values = answer.value_rows(player, b)
            floor = ROUNDING * facing.sum(axis=1, keepdims=True)
            with np.errstate(divide="ignore", invalid="ignore"):
                equity = np.where(mass > floor, 0.5 + signed / (2 * mass), np.nan)
                for k, node in enumerate(at.tolist()):
                    own = reach[player][node - first]
                    here = (own > NEVER) & (mass[k] > floor[k])
                    owned = answer.spot.pot / 2 + betting.states[node].committed[player]
                    below = [values[child] for child in betting.children(node)]
                    worth = np.array([values[node], *below]) / (mass[k] * chance) + owned
                    worth = np.where(here, worth / answer.spot.parts, np.nan)
                    yield Decision(
                        board=b,
                        node=node,
                        player=player,
                        reach=own,
                        equity=equity[k],
                        ev=worth[0],
                        strategy=np.where(own > NEVER, play[node], np.nan),
                        action_ev=worth[1:],
                    )


def _go_down(
    answer: Answer, board: int, nodes: range, reach: list[NDArray[np.float64]]
) -> dict[int, NDArray[np.float64]]:
    """Fill in the reach of both players at all nodes of a board; returns the strategies."""
    betting, play = answer.game.betting, {}
    for node in nodes:
        player = int(betting.kind[node])
        if player > 1:
            continue
        play[node] = answer.rows(node, board)
        children = betting.children(node)
        below = slice(children.start - nodes.start, children.stop - nodes.start)
        reach[player][below] = reach[player][node - nodes.start] * play[node]
        reach[1 - player][below] = reach[1 - player][node - nodes.start]
    return play


def line_texts(betting: Betting) -> list[str]:
    """The betting that leads to every node, as `check, bet 50, call, /, check`: a / for each card."""
    texts = [""] * len(betting.kind)
    for node, above in enumerate(betting.before.tolist()):
        if above >= 0:
            texts[node] = ", ".join(filter(None, (texts[above], betting.label(node) or "/")))
    return texts


def _line(text: str, answer: Answer, board: int) -> str:
    """A line with the cards of a board in it."""
    cards = answer.game.deal.boards[board].cards[len(answer.spot.board) :]
    for card in cards:
        text = text.replace("/", card_text(card), 1)
    return text


def _count(answer: Answer, streets: int) -> int:
    betting, deal = answer.game.betting, answer.game.deal
    counts = [[len(betting.of_kind(r, p)) for p in (0, 1)] for r in range(betting.rounds)]
    return sum(
        counts[board.round][player] * deal.states(b, player)
        for b, board in enumerate(deal.boards)
        if board.round < streets
        for player in (0, 1)
    )


def _copies(answer: Answer) -> list[int]:
    """How many boards each board stands for."""
    copies: list[int] = []
    for board in answer.game.deal.boards:
        copies.append(copies[board.parent] * len(board.arrivals) if board.parent >= 0 else 1)
    return copies


def _frame(answer: Answer, streets: int) -> DataFrame:
    """All decisions as a polars frame; words are written once and pointed at."""
    import polars

    game = answer.game
    betting, deal = game.betting, game.deal
    lines, copies = line_texts(betting), _copies(answer)
    menus: dict[str, int] = {}
    numbers: dict[str, list[Any]] = {
        name: []
        for name in (
            "round", "board", "node", "line", "player", "hand", "reach", "equity", "ev", "menu"
        )
    }  # fmt: skip
    written_lines: list[str] = []
    widest = int(betting.count[: betting.start[streets]].max())
    plays: list[list[NDArray[np.float64]]] = [[] for _ in range(widest)]
    worths: list[list[NDArray[np.float64]]] = [[] for _ in range(widest)]
    combos: dict[tuple[int, int], NDArray[np.int64]] = {}
    for found in decisions(answer, streets):
        key = (found.board, found.player)
        if key not in combos:
            cards = deal.boards[found.board].hands[found.player].astype(np.int64)
            combos[key] = cards[:, 0] * (cards[:, 0] - 1) // 2 + cards[:, 1]
        hands = len(found.reach)
        written_lines.append(_line(lines[found.node], answer, found.board))
        menu = ";".join(betting.label(child) for child in betting.children(found.node))
        for name, value in (
            ("round", deal.boards[found.board].round),
            ("board", found.board),
            ("node", found.node),
            ("line", len(written_lines) - 1),
            ("player", found.player),
            ("menu", menus.setdefault(menu, len(menus))),
        ):
            numbers[name].append(np.full(hands, value, dtype=np.int32))
        numbers["hand"].append(combos[key])
        numbers["reach"].append(found.reach)
        numbers["equity"].append(found.equity)
        numbers["ev"].append(found.ev)
        for columns, given in ((plays, found.strategy), (worths, found.action_ev)):
            for k, column in enumerate(columns):
                column.append(given[k] if k < len(given) else np.full(hands, np.nan))
    flat = {name: np.concatenate(parts) for name, parts in numbers.items()}

    def words(texts: list[str], which: NDArray[Any]) -> Any:
        return polars.Series(texts, dtype=polars.String).gather(which)

    def figures(values: NDArray[np.float64]) -> Any:
        return polars.Series(values.astype(np.float32), nan_to_null=True)

    pots = np.array([amount_of(state.pot, answer.spot.parts) for state in betting.states])
    return polars.DataFrame(
        {
            "street": words(list(answer.spot.streets), flat["round"]),
            "board": words([cards_text(board.cards) for board in deal.boards], flat["board"]),
            "copies": np.array(copies)[flat["board"]],
            "line": words(written_lines, flat["line"]),
            "pot": pots[flat["node"]],
            "player": words(list(SEATS), flat["player"]),
            "hand": words([combo_text(c) for c in range(1326)], flat["hand"]),
            "reach": figures(flat["reach"]),
            "equity": figures(flat["equity"]),
            f"ev_{answer.spot.unit}": figures(flat["ev"]),
            "actions": words(list(menus), flat["menu"]),
            **{f"p{k + 1}": figures(np.concatenate(parts)) for k, parts in enumerate(plays)},
            **{f"ev{k + 1}": figures(np.concatenate(parts)) for k, parts in enumerate(worths)},
        }
    )


def _write_json(answer: Answer, streets: int, figures: Mapping[str, Any], path: Path) -> None:
    game = answer.game
    betting, deal = game.betting, game.deal
    lines, copies = line_texts(betting), _copies(answer)
    names: dict[tuple[int, int], list[str]] = {}
    head = {key: _known(value) for key, value in figures.items()}
    head["spot_toml"] = answer.spot.to_toml()
    with written(path, "w") as out:
        out.write(json.dumps(head)[:-1] + ', "decisions": [')
        for number, found in enumerate(decisions(answer, streets)):
            board, key = deal.boards[found.board], (found.board, found.player)
            if key not in names:
                names[key] = [cards_text(hand) for hand in board.hands[found.player].tolist()]
            told = {
                "street": answer.spot.streets[board.round],
                "board": cards_text(board.cards),
                "copies": copies[found.board],
                "line": _line(lines[found.node], answer, found.board),
                "pot": amount_of(betting.states[found.node].pot, answer.spot.parts),
                "player": SEATS[found.player],
                "actions": [betting.label(child) for child in betting.children(found.node)],
                "hands": names[key],
                "reach": _rounded(found.reach),
                "equity": _rounded(found.equity),
                f"ev_{answer.spot.unit}": _rounded(found.ev),
                "strategy": [_rounded(row) for row in found.strategy],
                f"action_ev_{answer.spot.unit}": [_rounded(row) for row in found.action_ev],
            }
            out.write(("," if number else "") + "\n" + json.dumps(told, separators=(",", ":")))
        out.write("\n]}\n")


def _known(value: Any) -> Any:
    return None if isinstance(value, float) and value != value else value


def _rounded(values: NDArray[np.float64]) -> list[float | None]:
    """Numbers of six decimals, None for nan."""
    listed: list[float | None] = np.round(values, 6).tolist()
    return [None if x != x else x for x in listed] if np.isnan(values).any() else listed
