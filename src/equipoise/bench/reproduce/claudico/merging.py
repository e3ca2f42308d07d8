"""What merges of cards cost: the linear program of the merged game, played with real cards.

*Rhode Island.* Of the merges that :mod:`.counting` counts, those by suits lose nothing; the one that gives
the printed number merges boards by how many cards they beat and forgets *which*. On small decks both are
solved: hands of one class share their variables, so players cannot tell them apart, and a best response that
can says what that costs. The merged game has more than one equilibrium, and their costs differ a little.

*A bound beforehand* (in the manner of Kroer and Sandholm, "Extensive-form game abstraction with bounds", EC
2014, whose largest poker game had a deck of five cards). Each player holds one of five cards; p(c) is the
chance of a pair of cards c and u(c, z) what player 0 wins where the betting ends in z. Merged cards are
played alike, which is the game G' whose p'u' is the mean of p u over the pairs of cards that look alike. In
G' telling merged cards apart gains nothing, so its equilibrium, lifted, is one of G'. For all strategies
values differ by at most

    Δ = Σ_c max_z |p(c) u(c, z) - p'(c) u'(c, z)|,

and what a best response gains in G it gains less 2 Δ in G': nothing. Of both players' gains, what the
profile itself is worth drops out, so their mean, the exploitability, is at most Δ.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise, product
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from equipoise.bench.reproduce.claudico.counting import result_classes
from equipoise.games.betting import Betting
from equipoise.games.boards import Hands, deal_cards
from equipoise.games.game import CardText, Game
from equipoise.games.library.rhode_island import rhode_island
from equipoise.games.menu import BetMenu
from equipoise.games.nodes import FOLD, SHOWDOWN
from equipoise.games.rules import Rules
from equipoise.solve.solvers.linear_program import SequenceForm, optimal_plans
from equipoise.solve.strategies.bestresponse import exploitability_of
from equipoise.solve.sweep.rowindex import probabilities
from equipoise.solve.sweep.tableau import Tableau

if TYPE_CHECKING:
    from scipy.sparse import csr_array

Data = dict[str, Any]
Labels = NDArray[np.int64]

#: Ranks and suits of small decks, and what the merge by results costs on them in chips.
DECKS = {(4, 2): 0.520, (5, 2): 0.465, (4, 3): 0.430, (3, 4): 1.202}
QUICK_DECKS = ((4, 2),)


class MergedForm(SequenceForm):
    """A game whose players do not tell hands of one class apart, over all boards of a round.

    `labels[b]` has the class of every hand on board b, the same numbers for both players. Classes of a
    round tell those of the rounds before, or recall would not be perfect.
    """

    def __init__(self, game: Game, labels: Sequence[Labels]) -> None:
        super().__init__(game)
        betting = game.betting
        self._labels = labels
        counts = np.zeros(betting.rounds, dtype=np.int64)
        for board, label in zip(game.deal.boards, labels, strict=True):
            counts[board.round] = max(counts[board.round], int(label.max()) + 1)
        #: Classes of each round.
        self.merged = counts
        ends = np.cumsum(counts[:, None] * betting.rows, axis=0)
        self._start = 1 + ends - counts[:, None] * betting.rows
        self.counts = [1 + int(n) for n in ends[-1]]

    def _find(self, b: int, node: int, player: int) -> Labels:
        betting, board = self.game.betting, self.game.deal.boards[b]
        above = int(betting.parent[node])
        if above < 0 or int(betting.kind[above]) != player:
            return super()._find(b, node, player)
        row = int(betting.row[above]) + node - int(betting.first[above])
        start = int(self._start[board.round, player]) + row * int(self.merged[board.round])
        return start + self._labels[b]

    def constraints(self, player: int) -> csr_array:
        """E or F: a line for the empty sequence, then one for every class at every decision."""
        from scipy.sparse import csr_array

        betting = self.game.betting
        lines, columns, signs = [0], [0], [1.0]
        seen: dict[tuple[int, int], int] = {}
        for b, board in enumerate(self.game.deal.boards):
            for node in betting.of_kind(board.round, player).tolist():
                before = self.sequences(b, node, player)
                after = [self.sequences(b, child, player) for child in betting.children(node)]
                for hand, label in enumerate(self._labels[b].tolist()):
                    if (node, label) in seen:
                        continue
                    line = seen[node, label] = 1 + len(seen)
                    lines += [line] * (1 + len(after))
                    columns += [int(before[hand]), *(int(place[hand]) for place in after)]
                    signs += [-1.0] + [1.0] * len(after)
        shape = (1 + len(seen), self.counts[player])
        return csr_array((np.array(signs), (np.array(lines), np.array(columns))), shape=shape)


def solve_merged(game: Game, labels: Sequence[Labels]) -> tuple[float, float]:
    """Value to player 0 of the merged game, and what its strategy loses with real cards, in chips."""
    form = MergedForm(game, labels)
    plans = optimal_plans(form)
    tableau = Tableau(game, precision="float64")
    rows = tableau.rows()
    for player, plan in enumerate(plans):
        form.store(player, plan, rows, tableau.index)
    for b, node in tableau.index.decisions():
        block = tableau.index.block(rows, b, node)
        block[:] = probabilities(np.where(block > 1e-9, block, 0.0))
    value = float(plans[0] @ (form.payoffs() @ plans[1]))
    return value, exploitability_of(tableau, rows)


def _suit_labels(game: Game) -> list[Labels]:
    """Every hand that is not another's twin by suits is a class of its own."""
    form, found = SequenceForm(game), []
    used = [0] * game.betting.rounds
    for board, classes in zip(game.deal.boards, form.classes, strict=True):
        found.append(classes[0] + used[board.round])
        used[board.round] += int(classes[0].max()) + 1
    return found


def _result_labels(game: Game, ranks: int, suits: int) -> list[Labels]:
    classes = result_classes(suits, ranks)
    found = []
    for board in game.deal.boards:
        cards = board.hands[0][:, 0].astype(np.int64)
        found.append(classes[board.round][(cards, *board.cards)])
    return found


def merge_costs(quick: bool) -> list[Data]:
    """Rhode Island with small decks and one bet a round: value and cost of both merges."""
    rows: list[Data] = []
    for ranks, suits in QUICK_DECKS if quick else DECKS:
        game = rhode_island(max_raises=1, ranks=ranks, suits=suits)
        told: Data = {"ranks": ranks, "suits": suits, "known_chips": DECKS[ranks, suits]}
        for name, labels in (
            ("by_suits", _suit_labels(game)),
            ("by_results", _result_labels(game, ranks, suits)),
        ):
            value, cost = solve_merged(game, labels)
            told[name] = {"value_chips": value, "exploitability_chips": cost}
        rows.append(told)
    return rows


FIVE = 5


def five_cards() -> Game:
    """One card of five to each player, an ante of 1, two bets of 1 at most: the higher card wins."""
    rules = Rules(
        name="five cards",
        limit=True,
        blinds=(1, 1),
        first=(0,),
        raise_sizes=(1,),
        max_raises=(2,),
        suits=1,
        ranks=FIVE,
        hole_cards=1,
        board_cards=(0,),
    )

    def strength(hands: Hands, board: tuple[int, ...]) -> NDArray[np.int64]:
        return hands[:, 0].astype(np.int64)

    deal = deal_cards(suits=1, ranks=FIVE, hole_cards=1, board_cards=(0,), strength=strength)
    text = CardText.of_deck(FIVE, 1)
    return Game(
        "five-cards", Betting.build(rules, BetMenu.limit()), deal, 1.0, text.state, text.board
    )


def bound(game: Game, label: Labels) -> float:
    """Δ of a merge of private cards: no strategy of the merged game can lose more."""
    form, betting = SequenceForm(game), game.betting
    count = int(label.max()) + 1
    member = np.zeros((count, len(label)))
    member[label, np.arange(len(label))] = 1 / np.bincount(label)[label]
    worst = np.zeros((len(label), len(label)))
    for node in betting.of_kind(0, FOLD, SHOWDOWN).tolist():
        payoff = (
            form.joint.mass[0] * betting.even[node, 0] + form.joint.signed[0] * betting.swing[node]
        )
        mean = member @ payoff @ member.T
        worst = np.maximum(worst, np.abs(payoff - mean[np.ix_(label, label)]))
    return float(worst.sum())


def bound_rows() -> list[Data]:
    """Every merge of neighbours among five cards: the bound beside what it really costs."""
    game = five_cards()
    rows: list[Data] = []
    for apart in product((0, 1), repeat=FIVE - 1):
        label = np.concatenate([[0], np.cumsum(apart)]).astype(np.int64)
        _, cost = solve_merged(game, [label])
        ends = np.flatnonzero(np.diff(label, prepend=-1, append=FIVE))
        text = " ".join("".join(str(card + 1) for card in range(*pair)) for pair in pairwise(ends))
        rows.append(
            {
                "merge": text,
                "classes": int(label[-1]) + 1,
                "bound_chips": bound(game, label),
                "exploitability_chips": cost,
            }
        )
    return sorted(rows, key=lambda row: (-row["classes"], row["bound_chips"], row["merge"]))
