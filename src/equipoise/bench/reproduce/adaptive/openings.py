"""The document's figures 1 and 2: how players bet first, by the chance that their cards win.

Figure 1 has the chances of a fold, a call and a raise as curves over the winning probability of the hole
cards, by kernel regression; figure 2 how much is raised, as a histogram, and its mean over the same axis. Of
players of a log the hands that they were dealt are counted; of our own agents whose strategy is known, all
1,326 hands with the chances that they play.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from equipoise.agents.adaptive.decisions import Decisions
from equipoise.agents.adaptive.situation import hands_on
from equipoise.agents.registry import make_agent
from equipoise.games.policy import PublicState
from equipoise.games.rules import NOLIMIT_HOLDEM, Kind, State

Floats = NDArray[np.float64]
Curves = dict[str, list[Any]]

#: Our own agents that are drawn: of different temper.
AGENTS = ("nit", "maniac")
#: Points of the curves, and the width of their kernel.
POINTS, WIDTH = 41, 0.03
#: Shares of raises below which none are drawn.
RARE = 1e-3
#: Borders of the histogram of raises, in chips; more is all in the last part.
EDGES = np.arange(150, 1001, 50)


def first_bets(
    decisions: Decisions, group: NDArray[np.int64], names: tuple[str, ...]
) -> dict[str, Curves]:
    """Of the players of a log: those who are groups of their own, and the field."""
    d = decisions
    first = (d.street == 0) & d.facing & (d.facts[:, 2] == 0)
    found = {}
    for number in (*range(1, len(names)), 0):
        rows = first & (group == number)
        if not rows.any():
            continue
        chances = np.eye(3)[d.kind[rows]]
        raised = d.kind[rows] == Kind.RAISE
        # What is raised over a call, in pots after the call: here 100 chips, and 200.
        to = np.exp(np.where(raised, d.log_size[rows], 0.0)) * 200 + 100
        found[names[number]] = _curves(
            d.private[rows, 0], chances, to[:, None], 1.0 * raised[:, None]
        )
    return found


def agents_first_bets(names: tuple[str, ...] = AGENTS) -> dict[str, Curves]:
    """Of our own agents, by their strategies."""
    start, found = State.start(NOLIMIT_HOLDEM), {}
    for name in names:
        policy = make_agent(name).policy(PublicState(start, (), 0))
        assert policy is not None
        chances = np.zeros((len(policy.probabilities), 3))
        for number, action in enumerate(policy.actions):
            chances[:, int(action.kind)] += policy.probabilities[:, number]
        raises = [k for k, action in enumerate(policy.actions) if action.kind == Kind.RAISE]
        amounts = np.array([float(policy.actions[k].amount) for k in raises])
        weights = np.asarray(policy.probabilities[:, raises], dtype=np.float64)
        found[name] = _curves(
            hands_on(())[:, 0], chances, np.tile(amounts, (len(weights), 1)), weights
        )
    return found


def _curves(win: Floats, chances: Floats, amounts: Floats, weights: Floats) -> Curves:
    """Curves of hands with `chances` of fold, call and raise, which raise to `amounts` with `weights`."""
    grid = np.linspace(win.min(), win.max(), POINTS)
    kernel = np.exp(-0.5 * ((grid[:, None] - win) / WIDTH) ** 2)
    means = kernel @ chances / kernel.sum(axis=1, keepdims=True)
    mass = kernel @ weights.sum(axis=1)
    size = kernel @ (weights * amounts).sum(axis=1) / np.maximum(mass, 1e-12)
    # Where hardly anybody raises there is no mean raise.
    told = mass > RARE * kernel.sum(axis=1)
    counts, _ = np.histogram(np.minimum(amounts, EDGES[-1] - 1), EDGES, weights=weights)
    return {
        "win": grid.tolist(),
        **{name: means[:, k].tolist() for k, name in enumerate(("fold", "call", "raise"))},
        "raise_to": [
            one if there else None for one, there in zip(size.tolist(), told, strict=True)
        ],
        "size_edges": EDGES.tolist(),
        "size_shares": (counts / max(counts.sum(), 1e-12)).tolist(),
    }
