"""Leduc's second round, solved again from four blueprints by every method, refereed exactly.

One seat's second round is solved again in all fifteen ways the first can end, his first round kept. The
exploitability of the seat is what the other then wins by his best response above the game's value.

    exact     an equilibrium            noisy     .8 exact + .2 uniform
    uniform   every action alike        J=Q       an equilibrium of players who see only whether a card is K

By the program each gadget is exact. By the sweep (:class:`equipoise.search.gadgets.SubgameSolver`) it
comes near in a thousand iterations: this is what a search does at the table.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from equipoise.bench.reproduce.subgames.nextround import METHODS
from equipoise.bench.reproduce.subgames.sequences import (
    Floats,
    Part,
    Play,
    SequenceGame,
    solve_part,
)
from equipoise.games.library.leduc import leduc as leduc_game
from equipoise.search.gadgets import UNSAFE, Gadget, SubgameSolver
from equipoise.solve.sweep.rowindex import probabilities

Data = dict[str, Any]

STARTS = ("cc/", "rc/", "crc/", "rrc/", "crrc/")
_CARDS = range(3)


def sequence_leduc() -> SequenceGame:
    """Limit Leduc by ranks, suits not told apart."""
    game = SequenceGame()

    def bet(
        cards: tuple[int, int],
        board: int | None,
        chance: float,
        history: str,
        chips: tuple[int, int],
        at: tuple[int, int],
        seat: int,
    ) -> None:
        current = history.rpartition("/")[2]
        names = letters(current)
        first = game.infoset(seat, (cards[seat], board, history), at[seat], len(names))
        for i, name in enumerate(names):
            after = (first + i, at[1]) if seat == 0 else (at[0], first + i)
            if name == "f":
                payoff = chips[1] if seat else -chips[0]
                game.end(*after, chance, payoff, (*cards, board, history + name))
            elif name == "r":
                to = chips[1 - seat] + (2 if board is None else 4)
                paid = (to, chips[1]) if seat == 0 else (chips[0], to)
                bet(cards, board, chance, history + name, paid, after, 1 - seat)
            elif not current:
                bet(cards, board, chance, history + name, chips, after, 1 - seat)
            else:
                called(cards, board, chance, history + name, max(chips), after)

    def called(
        cards: tuple[int, int],
        board: int | None,
        chance: float,
        history: str,
        chips: int,
        at: tuple[int, int],
    ) -> None:
        if board is not None:
            mine, his = (3 if card == board else card for card in cards)
            payoff = chips * ((mine > his) - (mine < his))
            game.end(*at, chance, payoff, (*cards, board, history))
            return
        for dealt in _CARDS:
            left = 2 - (cards[0] == dealt) - (cards[1] == dealt)
            if left:
                bet(cards, dealt, chance * left / 4, history + "/", (chips, chips), at, 0)

    for pair, chance in _deals().items():
        bet(pair, None, chance, "", (1, 1), (0, 0), 0)
    return game.close()


def letters(history: str) -> list[str]:
    """Actions after the history of one round."""
    return ["f"] * history.endswith("r") + ["c"] + ["r"] * (history.count("r") < 2)


def _deals() -> dict[tuple[int, int], float]:
    return {(a, b): 2 * (2 - (a == b)) / 30 for a in _CARDS for b in _CARDS}


@cache
def blueprints() -> dict[str, list[Play]]:
    """The four of the table: two are kept in a file, for equilibria are many."""
    game = sequence_leduc()
    kept = json.loads((Path(__file__).parent / "leduc_blueprints.json").read_text("utf-8"))

    def read(name: str) -> list[Play]:
        found: list[Play] = []
        for seat in (0, 1):
            own: Play = {}
            for key, chances in kept[name][seat].items():
                card, board, history = key.split("|")
                own[int(card), None if board == "None" else int(board), history] = np.array(chances)
            found.append({name: own[name] for name in game.sets[seat]})
        return found

    exact, flat = read("exact"), game.uniform()
    noisy = [{n: 0.8 * p + 0.2 * flat[s][n] for n, p in exact[s].items()} for s in (0, 1)]
    return {"exact": exact, "noisy": noisy, "uniform": flat, "J=Q": read("J=Q")}


class SecondRound(NamedTuple):
    """One second round, for the seat that solves it again."""

    start: str
    board: int
    part: Part
    #: By the opponent's card: his range (all alike if he never comes), my reach that it can meet,
    #: what it is worth by his best response and by self-play, and what he forwent on the way.
    weight: dict[int, float]
    mass: dict[int, float]
    best: dict[int, float]
    played: dict[int, float]
    gifts: dict[int, float]


def sequence_of(game: SequenceGame, seat: int, card: int, history: str) -> int:
    """A seat's own sequence after a line of the first round."""
    found, line = 0, history.rstrip("/")
    for i, action in enumerate(line):
        held = game.sets[seat].get((card, None, line[:i]))
        if held:
            found = held.first + letters(line[:i]).index(action)
    return found


def second_round(
    game: SequenceGame, play: Sequence[Play], seat: int, start: str, board: int
) -> SecondRound:
    """All that a gadget needs of one second round."""
    he = 1 - seat
    mine, his = game.plan(seat, play), game.plan(he, play)
    inside = [
        i
        for i, end in enumerate(game.terminals)
        if end.label[2] == board and end.label[3].startswith(start)
    ]
    pairs = {
        (game.terminals[i].label[he], game.terminals[i].label[seat]): game.terminals[i].chance
        for i in inside
    }
    hands = sorted({hand for hand, _ in pairs})
    entry = {hand: sequence_of(game, he, hand, start) for hand in hands}

    def met(history: str, table: dict[tuple[int, int], float]) -> dict[int, float]:
        return {
            hand: sum(
                chance * float(mine[sequence_of(game, seat, card, history)])
                for (held, card), chance in table.items()
                if held == hand
            )
            for hand in hands
        }

    here = met(start, pairs)
    best = game.values(he, mine, inside)[0]
    played = game.values(he, mine, inside, play)[0]
    worth, sets = game.values(he, mine)
    gifts = dict.fromkeys(hands, 0.0)
    for i in range(len(start) - 1):
        above = met(start[:i], _deals())
        for hand in hands:
            name = (hand, None, start[:i])
            if name in game.sets[he] and above[hand] > 1e-12:
                lost = sets[name] - float(worth[sequence_of(game, he, hand, start[: i + 1])])
                gifts[hand] += lost * here[hand] / above[hand]
    entered = sum(float(his[k]) for k in entry.values()) > 1e-9
    return SecondRound(
        start,
        board,
        Part(
            inside,
            lambda name: name[1] == board and name[2].startswith(start),
            lambda name: name[0] if len(name) == 3 else name[he],
        ),
        {hand: float(his[k]) if entered else 1.0 for hand, k in entry.items()},
        here,
        {hand: float(best[k]) for hand, k in entry.items()},
        {hand: float(played[k]) for hand, k in entry.items()},
        gifts,
    )


def second_rounds(game: SequenceGame, play: Sequence[Play], seat: int) -> list[SecondRound]:
    """Those second rounds that the seat's own plan enters."""
    found = [second_round(game, play, seat, start, b) for start in STARTS for b in _CARDS]
    return [one for one in found if max(one.mass.values()) > 1e-9]


def alternatives_of(one: SecondRound, source: str) -> dict[int, float]:
    """Counterfactual alternatives of the opponent's cards."""
    if source == "self":
        return one.played
    gifts = one.gifts if source == "reach" else dict.fromkeys(one.best, 0.0)
    return {hand: worth + gifts[hand] for hand, worth in one.best.items()}


class Resolved(NamedTuple):
    """A seat's play with its second rounds solved again."""

    play: Play
    #: Least margin of maxmargin over all rounds; sum of the excess of resolve.
    margin: float
    excess: float


def resolved_by_program(
    game: SequenceGame,
    play: Sequence[Play],
    seat: int,
    method: str,
    *,
    tie: bool = False,
    rounds: list[SecondRound] | None = None,
) -> Resolved:
    """Every second round by the linear program."""
    kind, source = METHODS[method]
    plan = game.plan(seat, play)
    new, margin, excess = plan.copy(), float("inf"), 0.0
    for one in rounds or second_rounds(game, play, seat):
        worth = alternatives_of(one, source)
        weight = one.weight if kind == "unsafe" else dict.fromkeys(worth, 1.0)
        found = solve_part(
            game, seat, one.part, plan, weight, kind, worth, one.mass,
            tie=one.weight if tie else None,
        )  # fmt: skip
        margin = min(margin, -found.objective) if kind == "maxmargin" else margin
        excess += found.objective if kind == "resolve" else 0.0
        for name, held in game.sets[seat].items():
            if one.part.inside(name):
                own = slice(held.first, held.first + held.actions)
                new[own] = found.plan[own]
    return Resolved(game.play(seat, new, play), margin, excess)


def resolved_by_sweep(
    game: SequenceGame,
    play: Sequence[Play],
    seat: int,
    method: str,
    iterations: int = 1000,
    *,
    rounds: list[SecondRound] | None = None,
) -> Resolved:
    """Every second round by the gadgets of the search."""
    kind, source = METHODS[method]
    whole, plan, new = leduc_game(), game.plan(seat, play), dict(play[seat])
    roots = {s.betting_text(): n for n, s in enumerate(whole.betting.states)}
    margin, excess = float("inf"), 0.0
    for one in rounds or second_rounds(game, play, seat):
        small = whole.below(roots[one.start], 1 + one.board)
        worth = alternatives_of(one, source)
        chips = [worth[c] / one.mass[c] if one.mass.get(c, 0) > 1e-12 else 0.0 for c in _CARDS]
        mine = [float(plan[sequence_of(game, seat, c, one.start)]) for c in _CARDS]
        his = [one.weight.get(card, 0.0) for card in _CARDS]
        gadget = UNSAFE if kind == "unsafe" else Gadget(kind, chips)
        ranges: tuple[Floats, Floats] = (np.array(mine), np.array(his))
        if seat == 1:
            ranges = (ranges[1], ranges[0])
        solver = SubgameSolver(small, ranges=ranges, gadget=gadget, me=seat)
        solver.advance(iterations)
        if kind != "unsafe":
            margin = min(margin, float(solver.margins().min()))
            gains = -solver.margins()[solver.held] * solver.mass[solver.held]
            excess += max(mine) * float(np.maximum(gains, 0.0).sum())
        for node in small.betting.of_kind(0, seat).tolist():
            history = small.betting.states[node].betting_text()
            table = probabilities(solver.tableau.index.block(solver.plan, 0, node))
            new |= {
                (card, one.board, history): table[:, card]
                for card in _CARDS
                if (card, one.board, history) in game.sets[seat]
            }
    return Resolved(new, margin, excess)


def exploited(
    game: SequenceGame, play: Sequence[Play], seat: int, own: Play, value: float
) -> float:
    """Exploitability of a seat that plays `own`, in chips."""
    mixed = [own if s == seat else play[s] for s in (0, 1)]
    return game.exploitability(mixed, value)[seat]


def leduc_table(
    iterations: int, names: Sequence[str] = ("exact", "noisy", "uniform", "J=Q")
) -> Data:
    """Exploitability of both seats from every blueprint by every method, by program and by sweep."""
    game = sequence_leduc()
    _, value = game.equilibrium()
    rows: Data = {}
    for name in names:
        play = blueprints()[name]
        rounds = [second_rounds(game, play, seat) for seat in (0, 1)]
        row: Data = {"blueprint": list(game.exploitability(play, value))}
        for method in METHODS:
            told: Data = {"program": [], "tied": [], "sweep": [], "least_margin": [], "excess": []}
            for seat in (0, 1):
                own = rounds[seat]
                exact = resolved_by_program(game, play, seat, method, rounds=own)
                tied = resolved_by_program(game, play, seat, method, tie=True, rounds=own)
                swept = resolved_by_sweep(game, play, seat, method, iterations, rounds=own)
                told["program"].append(exploited(game, play, seat, exact.play, value))
                told["tied"].append(exploited(game, play, seat, tied.play, value))
                told["sweep"].append(exploited(game, play, seat, swept.play, value))
                told["least_margin"].append(exact.margin)
                told["excess"].append(exact.excess)
            row[method] = told
        rows[name] = row
    return {"value": value, "iterations": iterations, "rows": rows}
