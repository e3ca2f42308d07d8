"""Subgames whose answer is known in closed form: a coin, a hand sign, and games that do not touch.

Coin toss: seat 0 sees a coin and sells it (+½ on heads, −½ on tails) or plays; then seat 1 guesses, and
wins 1 or loses 1. With p the chance of guessing heads seat 1 loses |p − ¼| to a best response. Solved
alone, the guess depends on how often each side was sold, which seat 0 may change at will: unsafe.

Rock, paper, scissors, seat 1 moving second without seeing: against the even mixture any answer is as
good as any other, a pure one loses 1. Both are why alternatives are needed.

The other way about, where seat 0 picks in public one of several games that have nothing in common, each
of them solved alone is solved: what is picked says nothing on what is held.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from equipoise.bench.reproduce.subgames.sequences import (
    Floats,
    Gadgets,
    Part,
    SequenceGame,
    solve_part,
)

Data = dict[str, Any]

#: The games of the positive case, payoffs to seat 0.
MATRICES = (((2, -1), (-1, 1)), ((0, 3), (1, -2)), ((-1, 2), (1, -1)))


def coin_toss() -> SequenceGame:
    """Seat 0 sees the coin and sells or plays; seat 1 then guesses."""
    game = SequenceGame()
    for coin, price in (("H", 0.5), ("T", -0.5)):
        first = game.infoset(0, (coin, None, ""), 0, 2)
        game.end(first, 0, 0.5, price, (coin, "-", None, "s"))
        guess = game.infoset(1, ("-", None, "p"), 0, 2)
        for i, called in enumerate("HT"):
            payoff = -1.0 if called == coin else 1.0
            game.end(first + 1, guess + i, 0.5, payoff, (coin, "-", None, "p" + called))
    return game.close()


def guessed(
    game: SequenceGame, sold: tuple[float, float], kind: Gadgets, worth: tuple[float, float]
) -> Data:
    """Seat 1's chance of guessing heads, solved again.

    `sold` is seat 0's chance to sell heads and tails, `worth` what either is worth to him elsewhere,
    in counterfactual units.
    """
    inside = [i for i, end in enumerate(game.terminals) if end.label[3][0] == "p"]
    part = Part(inside, lambda name: name[2] == "p", lambda name: name[0])
    weight = {"H": 1.0, "T": 1.0}
    if kind == "unsafe":
        weight = {"H": 1 - sold[0], "T": 1 - sold[1]}
    alternatives = dict(zip("HT", worth, strict=True))
    plan = np.array([1.0, 0.25, 0.75])
    mass = {"H": 0.5, "T": 0.5}
    found = solve_part(game, 1, part, plan, weight, kind, alternatives, mass)
    heads = float(found.plan[1])
    return {
        "heads": heads,
        "objective": float(found.objective),
        "exploitability": abs(heads - 0.25),
    }


def coin_table() -> Data:
    """The guess by every method."""
    game, prices, none = coin_toss(), (0.25, -0.25), (0.0, 0.0)
    cases: dict[str, tuple[tuple[float, float], Gadgets, tuple[float, float]]] = {
        "unsafe, sells (0, 1/2)": ((0.0, 0.5), "unsafe", none),
        "unsafe, sells (1/2, 0)": ((0.5, 0.0), "unsafe", none),
        "resolve, sale prices": (none, "resolve", prices),
        "maxmargin, sale prices": (none, "maxmargin", prices),
        "resolve, best response to 1/2": (none, "resolve", none),
        "maxmargin, best response to 1/2": (none, "maxmargin", none),
        "reach-maxmargin, best response to 1/2": (none, "maxmargin", (0.25, 0.0)),
    }
    rows = {name: guessed(game, *case) for name, case in cases.items()}
    return {"value": game.equilibrium()[1], "rows": rows}


def signs_table() -> Data:
    """Rock, paper, scissors, seat 1 solved again."""
    game = SequenceGame()
    first = game.infoset(0, ("-", None, ""), 0, 3)
    second = game.infoset(1, ("-", None, "?"), 0, 3)
    for a in range(3):
        for b in range(3):
            game.end(first + a, second + b, 1.0, [0, -1, 1][(b - a) % 3], (a, "-", None, "?"))
    game.close()
    third, flat = dict.fromkeys(range(3), 1 / 3), np.r_[1.0, np.full(3, 1 / 3)]
    part = Part(range(9), lambda name: name[2] == "?", lambda name: name[0])
    rows = {}
    kinds: tuple[tuple[str, Gadgets], ...] = (
        ("unsafe", "unsafe"),
        ("resolve", "resolve"),
        ("maxmargin", "maxmargin"),
    )
    for name, kind in kinds:
        plan: Floats = solve_part(
            game, 1, part, flat, third, kind, dict.fromkeys(third, 0.0), dict.fromkeys(third, 1.0)
        ).plan
        rows[name] = {
            "play": plan[1:].tolist(),
            "exploitability": float(game.values(0, plan)[0][0]),
        }
    return {"rows": rows}


def apart_table() -> Data:
    """Games that do not touch, each solved alone for both seats."""
    game = SequenceGame()
    first = game.infoset(0, ("-", None, ""), 0, len(MATRICES))
    for i, matrix in enumerate(MATRICES):
        mine = game.infoset(0, ("-", None, f"{i}"), first + i, 2)
        theirs = game.infoset(1, ("-", None, f"{i}"), 0, 2)
        for a in range(2):
            for b in range(2):
                game.end(mine + a, theirs + b, 1.0, matrix[a][b], ("-", "-", None, f"{i}"))
    game.close()
    _, value = game.equilibrium()
    play = game.uniform()
    before = game.exploitability(play, value)
    plans = [game.plan(seat, play) for seat in (0, 1)]
    for seat in (0, 1):
        new = plans[seat].copy()
        for i in range(len(MATRICES)):
            inside = [k for k, end in enumerate(game.terminals) if end.label[3] == f"{i}"]
            part = Part(inside, lambda name, i=i: name[2] == f"{i}", lambda name: "-")  # type: ignore[misc]
            found = solve_part(game, seat, part, plans[seat], {"-": 1.0})
            for name, one in game.sets[seat].items():
                if name[2] == f"{i}":
                    own = slice(one.first, one.first + one.actions)
                    new[own] = found.plan[own]
        play[seat] = game.play(seat, new, play)
    answers = {f"{i}": play[1]["-", None, f"{i}"].tolist() for i in range(len(MATRICES))}
    return {
        "value": value,
        "before": list(before),
        "after": list(game.exploitability(play, value)),
        "seat_1": answers,
    }
