"""The suite of agents, measured: every figure of its document beside the same figure here.

The document is "Artificial Intelligence Techniques for Poker Playing Agents" (Hölzl, Thiercelin and
Gaspoz, McGill University, 2016). Everything is played in the one-bet game. Where the document
leaves a number open, what was chosen is stated with the result, and runs are repeated, so that a
mean and its spread stand where the document shows one run.

A *game* of the document is more than one hand, though it does not say how many. Its tournament has
games that the all-in agent loses from both seats, which one deal cannot give: it never folds. And
its models estimate .0063 for folds in bucket 5, which takes the prior's four folds in some 350
calls. Twenty hands a game are about right, and are what is used here.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from copy import deepcopy
from dataclasses import dataclass
from itertools import combinations
from typing import Any

import numpy as np
from numpy.typing import NDArray

from equipoise.agents.agent import Agent
from equipoise.agents.registry import make_agent
from equipoise.agents.simple import AllInAgent
from equipoise.agents.suite.bayes import BayesAgent
from equipoise.agents.suite.bucket import STYLES, BucketAgent
from equipoise.agents.suite.practice import practice
from equipoise.agents.suite.qlearner import QLearningAgent
from equipoise.agents.suite.threeway import moves
from equipoise.agents.suite.votes import VoteAgent
from equipoise.arena.match import play_match
from equipoise.arena.matchresult import MatchResult
from equipoise.games.hand import HandResult
from equipoise.games.rules import ONE_BET_HOLDEM, Kind
from equipoise.run import Event, Listener

RULES = ONE_BET_HOLDEM

#: Models learnt after 50 games, as printed: fold, call, raise of each bucket.
PRINTED_MODELS = {
    "careful": (
        (0.1635, 0.7581, 0.0783),
        (0.1473, 0.6817, 0.1709),
        (0.0575, 0.6125, 0.3299),
        (0.0156, 0.6181, 0.3661),
        (0.0063, 0.5671, 0.4264),
    ),
    "bluffing": (
        (0.1493, 0.6346, 0.2160),
        (0.0975, 0.5798, 0.3225),
        (0.0576, 0.5570, 0.3852),
        (0.0199, 0.4739, 0.5060),
        (0.0070, 0.3803, 0.6126),
    ),
}
#: Bucket, from 1, and evidence after three bets.
PRINTED_EVIDENCE = {"all-in": (1, 1.01), "careful": (5, 5.1)}
#: Pairs won by the first, by the second, and drawn.
PRINTED_TRIPLETS = {
    ("all-in", "bucket"): (5, 4, 11),
    ("all-in", "bayes"): (8, 3, 9),
    ("all-in", "votes"): (14, 2, 4),
    ("all-in", "regret"): (3, 11, 6),
    ("bucket", "bayes"): (4, 6, 10),
    ("bucket", "votes"): (7, 7, 6),
    ("bucket", "regret"): (5, 5, 10),
    ("bayes", "votes"): (7, 4, 9),
    ("bayes", "regret"): (3, 5, 12),
    ("votes", "regret"): (0, 14, 6),
}
FINALISTS = ("all-in", "bucket", "bayes", "votes", "regret")
OTHERS = ("random", "call", "fold", "q-learner")

MODEL_GAMES = 50
HANDS_PER_GAME = 20
PAIRS_PER_MEETING = 20


@dataclass(frozen=True)
class Effort:
    """How much is played."""

    #: Runs of 50 games for the models and the evidence.
    model_runs: int
    #: Learners, and the hands each is trained for.
    learners: int
    training: int
    #: Hands in which a learner is measured.
    measuring: int
    #: Hands of the Q-learners, and how many there are of each kind.
    q_hands: int
    q_learners: int
    #: Hands of each meeting of the long tournament.
    hands: int


FULL_EFFORT = Effort(20, 8, 3200, 4000, 8000, 4, 20_000)
QUICK_EFFORT = Effort(3, 2, 800, 1000, 3000, 1, 1000)

#: Training hands at which a learner is measured, as far as it is trained.
CHECKPOINTS = (25, 50, 100, 200, 400, 800, 1600, 3200)
#: Points of the curves of folds and wins.
WINDOWS = 16
#: Games in the curve of new states.
FIRST_GAMES = 40
#: Steps of the Q-learner, and hands over which its folds are counted.
Q_STEPS = (0.1, 0.8)
Q_WINDOW = 500


def run(seed: int = 0, quick: bool = False, progress: Listener | None = None) -> dict[str, Any]:
    """All experiments; results are lists and numbers, ready for JSON."""
    effort = QUICK_EFFORT if quick else FULL_EFFORT
    parts: dict[str, Callable[[], Any]] = {
        "models": lambda: models(effort, seed),
        "evidence": lambda: evidence(effort, seed),
        "curves": lambda: curves(effort, seed),
        "learners": lambda: learners(effort, seed),
        "q_learner": lambda: q_learner(effort, seed),
        "triplets": lambda: triplets(seed),
        "tournament": lambda: tournament(effort, seed),
    }
    data: dict[str, Any] = {"experiment": "agents-suite", "game": RULES.name, "seed": seed}
    for number, (name, experiment) in enumerate(parts.items()):
        if progress is not None:
            progress(Event(number, len(parts), name))
        data[name] = experiment()
    return data | {"ranking": ranking(data["tournament"])}


# --------------------------------------------------------------------------------- the Bayesian agent


def models(effort: Effort, seed: int) -> dict[str, Any]:
    """What the Bayesian agent believes after 50 games whose cards are all shown.

    `learnt` counts a free check as a call, as the document does; `open_choices` counts an action
    only for choices that were open. Means and spreads over the runs.
    """
    hands = MODEL_GAMES * HANDS_PER_GAME
    found: dict[str, Any] = {}
    for style in STYLES:
        tables: list[NDArray[np.float64]] = []
        unbiased: list[NDArray[np.float64]] = []
        for number in range(effort.model_runs):
            agent, beside = BayesAgent(), BayesAgent(open_choices=True)
            for result in practice(agent, BucketAgent(style), RULES, hands, seed + 1000 * number):
                beside.observe(result)
            tables.append(agent.model())
            unbiased.append(beside.model())
        found[style] = {
            "truth": STYLES[style],
            "document": PRINTED_MODELS[style],
            "learnt": np.mean(tables, axis=0).tolist(),
            "spread": np.std(tables, axis=0).tolist(),
            "open_choices": np.mean(unbiased, axis=0).tolist(),
        }
    return {"games": MODEL_GAMES, "hands": hands, "runs": effort.model_runs, "styles": found}


def evidence(effort: Effort, seed: int) -> list[dict[str, Any]]:
    """Which bucket three bets speak for, and how loudly, after training against two players.

    Beside the document's figure stands what its own printed model of the careful player gives.
    """
    players: dict[str, Callable[[], Agent]] = {"all-in": AllInAgent, "careful": BucketAgent}
    rows = []
    for name, make in players.items():
        guesses = []
        for number in range(effort.model_runs):
            agent = BayesAgent()
            hands = MODEL_GAMES * HANDS_PER_GAME
            for _ in practice(agent, make(), RULES, hands, seed + 1000 * number):
                pass
            guesses.append(agent.guess([Kind.RAISE] * 3))
        buckets = np.bincount([guess.bucket for guess in guesses], minlength=5)
        bucket, printed = PRINTED_EVIDENCE[name]
        rows.append(
            {
                "opponent": name,
                "hands": MODEL_GAMES * HANDS_PER_GAME,
                "bucket": int(np.argmax(buckets)) + 1,
                "how_often": float(buckets.max() / buckets.sum()),
                "evidence": float(np.median([guess.evidence for guess in guesses])),
                "document_bucket": bucket,
                "document_evidence": printed,
                "of_document_model": _of_printed_model() if name == "careful" else None,
            }
        )
    return rows


def _of_printed_model() -> float:
    """Evidence of three bets in the document's model of the careful player."""
    raises = sorted(row[2] for row in PRINTED_MODELS["careful"])
    return float((raises[-1] / raises[-2]) ** 3)


# ------------------------------------------------------------------------------------- the learners


def curves(effort: Effort, seed: int) -> dict[str, Any]:
    """New states, folds and wins over training, alone and with a teacher: means over learners."""
    return {
        "learners": effort.learners,
        "states": _untrained().situations.count,
        "hands": [effort.training // WINDOWS * (n + 1) for n in range(WINDOWS)],
        "alone": _curve(effort, seed, taught=False),
        "with teacher": _curve(effort, seed, taught=True),
        "document": {
            "new_states": "none after roughly 25 games",
            "folds": "fewer with training",
            "wins": "more with training",
        },
    }


def _curve(effort: Effort, seed: int, taught: bool) -> dict[str, Any]:
    hands = effort.training // WINDOWS * WINDOWS
    new, folds, wins, chips = (np.zeros((effort.learners, hands)) for _ in range(4))
    for number in range(effort.learners):
        agent = _untrained()
        known = 0
        for hand, result in enumerate(_lessons(agent, hands, taught, seed + 1000 * number)):
            seen = int((agent.visits.sum(axis=1) > 0).sum())
            new[number, hand], known = seen - known, seen
            folds[number, hand] = result.state.folded == result.position
            wins[number, hand] = result.payoff > 0
            chips[number, hand] = 1000 * result.payoff / RULES.big_blind

    def windows(values: NDArray[np.float64]) -> list[float]:
        means: list[float] = values.mean(axis=0).reshape(WINDOWS, -1).mean(axis=1).tolist()
        return means

    games = min(FIRST_GAMES, hands // HANDS_PER_GAME)
    first = new.mean(axis=0)[: games * HANDS_PER_GAME]
    return {
        "new_states_per_game": first.reshape(games, HANDS_PER_GAME).sum(axis=1).tolist(),
        "states_after_25_games": float(new[:, : 25 * HANDS_PER_GAME].sum(axis=1).mean()),
        "folds_per_hand": windows(folds),
        "share_won": windows(wins),
        "mbb_per_hand": windows(chips),
    }


def _lessons(agent: VoteAgent, hands: int, taught: bool, seed: int) -> Iterator[HandResult]:
    """Practice against `bucket`; a teacher plays a hand for every hand of the learner's."""
    teaching = practice(BucketAgent(), BucketAgent(), RULES, hands, seed + 1)
    for result in practice(agent, BucketAgent(), RULES, hands, seed):
        if taught:
            agent.learn_from_teacher(next(teaching))
        yield result


def learners(effort: Effort, seed: int) -> dict[str, Any]:
    """Learners measured against `bucket` as they are trained: 58 states, 48, and with a teacher."""
    points = [point for point in CHECKPOINTS if point <= effort.training]
    kinds: dict[str, tuple[bool, bool]] = {
        "58 states": (True, False),
        "48 states": (False, False),
        "58 states, teacher": (True, True),
    }
    found: dict[str, Any] = {}
    for name, (draws, taught) in kinds.items():
        rates = np.array(
            [
                _measured(points, effort.measuring, draws, taught, seed + 1000 * number)
                for number in range(effort.learners)
            ]
        )
        error = rates.std(axis=0, ddof=1) / np.sqrt(len(rates)) if len(rates) > 1 else rates[0] * 0
        found[name] = {
            "mbb_per_hand": rates.mean(axis=0).tolist(),
            "standard_error": error.tolist(),
        }
    plain = found["58 states"]["mbb_per_hand"]
    taught_rates = found["58 states, teacher"]["mbb_per_hand"]
    level = max(plain)
    alone, helped = _first_at(points, plain, level), _first_at(points, taught_rates, level)
    return {
        "hands": points,
        "learners": effort.learners,
        "against_bucket": found,
        "teacher": {
            "level_mbb": level,
            "hands_alone": alone,
            "hands_with_teacher": helped,
            "faster_percent": None if helped is None else 100 * (alone or 0) / helped - 100,
            "document_faster_percent": 130,
        },
    }


def _untrained(draws: bool = True) -> VoteAgent:
    return VoteAgent(RULES, draws=draws, training=0, teacher=0, keep_learning=True)


def _measured(points: list[int], hands: int, draws: bool, taught: bool, seed: int) -> list[float]:
    """Win rate against `bucket` at points of training, learning switched off while measured."""
    agent = _untrained(draws)
    rates = []
    for hand, _ in enumerate(_lessons(agent, points[-1], taught, seed), 1):
        if hand in points:
            frozen = deepcopy(agent)
            frozen.learns = False
            rates.append(play_match(frozen, BucketAgent(), RULES, hands, seed).mbb_per_hand)
    return rates


def _first_at(points: list[int], rates: list[float], level: float) -> float | None:
    """Training hands after which a rate is first reached, between two points by interpolation."""
    for number, rate in enumerate(rates):
        if rate >= level:
            if number == 0:
                return float(points[0])
            share = (level - rates[number - 1]) / (rate - rates[number - 1])
            return points[number - 1] + share * (points[number] - points[number - 1])
    return None


def q_learner(effort: Effort, seed: int) -> dict[str, Any]:
    """Share of bets that Q-learners fold as they are trained, for a short and a long step."""
    windows = effort.q_hands // Q_WINDOW
    found = []
    for step in Q_STEPS:
        folded, faced = np.zeros(windows), np.zeros(windows)
        chips = np.zeros(windows)
        for number in range(effort.q_learners):
            agent = QLearningAgent(RULES, training=0, step=step, keep_learning=True)
            lessons = practice(agent, BucketAgent(), RULES, windows * Q_WINDOW, seed + number)
            for hand, result in enumerate(lessons):
                for move in moves(result.state):
                    if move.player == result.position and move.could_fold:
                        faced[hand // Q_WINDOW] += 1
                        folded[hand // Q_WINDOW] += move.kind == Kind.FOLD
                chips[hand // Q_WINDOW] += result.payoff
        played = Q_WINDOW * effort.q_learners
        found.append(
            {
                "step": step,
                "bets_folded": (folded / faced).tolist(),
                "mbb_per_hand": (1000 / RULES.big_blind * chips / played).tolist(),
            }
        )
    return {
        "hands": [Q_WINDOW * (n + 1) for n in range(windows)],
        "steps": found,
        "document": "always folds after roughly 1000 hands; its step is not given",
    }


# ------------------------------------------------------------------------------------ the tournament


def _meet(first: str, second: str, hands: int, seed: int) -> MatchResult:
    """A match in which all cards are shown after each hand, as in the document."""
    players = [make_agent(name, RULES) for name in (first, second)]
    return play_match(players[0], players[1], RULES, hands, seed, reveal=True)


def triplets(seed: int) -> list[dict[str, Any]]:
    """The document's tournament: 20 games a meeting, each played twice with seats swapped."""
    hands = 2 * PAIRS_PER_MEETING * HANDS_PER_GAME
    return [
        {
            "a": first,
            "b": second,
            "triplet": list(games_won(_meet(first, second, hands, seed).payoffs, HANDS_PER_GAME)),
            "document": list(PRINTED_TRIPLETS[first, second]),
        }
        for first, second in combinations(FINALISTS, 2)
    ]


def games_won(payoffs: NDArray[np.float64], length: int) -> tuple[int, int, int]:
    """Pairs of games won by A from both seats, lost from both, and the rest.

    `payoffs` are those of a duplicate match. A game is `length` deals, in which seats alternate;
    its return is the same deals from the other seats.

    >>> games_won(np.array([1.0, -1.0, 2.0, 3.0]), 2)
    (1, 0, 0)
    >>> games_won(np.array([1.0, 1.0, -2.0, -3.0]), 1)
    (1, 1, 0)
    """
    deals = payoffs.reshape(-1, 2)
    turned = np.arange(len(deals)) % 2 == 1
    deals = np.where(turned[:, None], deals[:, ::-1], deals)
    legs = deals.reshape(-1, length, 2).sum(axis=1)
    won, lost = int((legs > 0).all(axis=1).sum()), int((legs < 0).all(axis=1).sum())
    return won, lost, len(legs) - won - lost


def tournament(effort: Effort, seed: int) -> list[dict[str, Any]]:
    """The same meetings over many hands, with intervals, and everybody else against `regret`."""
    meetings = [*combinations(FINALISTS, 2), *((name, "regret") for name in OTHERS)]
    rows = []
    for first, second in meetings:
        result = _meet(first, second, effort.hands, seed)
        rows.append(
            {
                "a": first,
                "b": second,
                "hands": result.hands,
                "mbb_per_hand": result.mbb_per_hand,
                "ci95_mbb": result.ci95_mbb,
                "triplet": list(games_won(result.payoffs, HANDS_PER_GAME)),
            }
        )
    return rows


def ranking(rows: list[dict[str, Any]]) -> dict[str, Any]:
    """Finalists by their mean win rate, and whether anybody beats `regret` beyond doubt."""
    rates: dict[str, list[float]] = {name: [] for name in FINALISTS}
    for row in rows:
        if row["a"] in rates and row["b"] in rates:
            rates[row["a"]].append(row["mbb_per_hand"])
            rates[row["b"]].append(-row["mbb_per_hand"])
    order = sorted(rates, key=lambda name: -sum(rates[name]))
    beaten_by = [row["a"] for row in rows
                 if row["b"] == "regret" and row["mbb_per_hand"] - row["ci95_mbb"] > 0]  # fmt: skip
    return {
        "order": order,
        "mbb_per_hand": {name: float(np.mean(rates[name])) for name in order},
        "document_order": ["regret", "all-in", "bayes", "bucket", "votes"],
        "beats_regret": beaten_by,
    }
