"""Environments for learners: heads-up hold'em, Leduc and Kuhn as PettingZoo and Gymnasium know them.

    from equipoise import environment

    table = environment.env("nolimit", actions="50%,100%,a")       both seats, PettingZoo's AEC
    seat = environment.env("nolimit", opponent="flagship")         one seat, Gymnasium

Observations are `{"observation": vector, "action_mask": 0 or 1 for each action}`; the vector is laid out
in :mod:`equipoise.environment.encoding`, the actions in :mod:`equipoise.environment.choices`. Rewards are
in big blinds. It takes the extra `environments`. :mod:`equipoise.environment.openspiel` carries
strategies and agents to OpenSpiel and back.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, overload

from equipoise.errors import GameError
from equipoise.settings import did_you_mean, shown

if TYPE_CHECKING:
    from pathlib import Path

    from equipoise.agents.agent import Agent
    from equipoise.environment.seat import Seat
    from equipoise.environment.table import Table
    from equipoise.games.rules import Rules

#: Games that have a name here.
GAMES = ("nolimit", "limit", "leduc", "kuhn")
#: What a no-limit player may bet who names nothing.
SIZES = "33%,75%,150%,a"


def rules_of(game: str | Rules, stack: int | None = None) -> Rules:
    """The rules of a game by its name; `stack`, in big blinds, is for no-limit hold'em.

    >>> rules_of("nolimit", stack=100).stacks, rules_of("kuhn").name
    ((10000, 10000), 'Kuhn poker')
    """
    from equipoise.games.library.kuhn import kuhn
    from equipoise.games.library.leduc import leduc
    from equipoise.games.rules import LIMIT_HOLDEM, NOLIMIT_HOLDEM, nolimit

    if not isinstance(game, str):
        rules = game
    elif game == "nolimit":
        return NOLIMIT_HOLDEM if stack is None else nolimit(stack * NOLIMIT_HOLDEM.big_blind)
    elif game == "limit":
        rules = LIMIT_HOLDEM
    elif game in GAMES:
        rules = {"leduc": leduc, "kuhn": kuhn}[game]().betting.rules
    else:
        raise GameError(f"no game {shown(game)}: {did_you_mean(game, GAMES)}")
    if stack is not None:
        raise GameError("stack is for the game 'nolimit': leave it out")
    return rules


@overload
def env(
    game: str | Rules = ..., *, actions: str = ..., stack: int | None = ..., opponent: None = ...
) -> Any: ...
@overload
def env(
    game: str | Rules = ...,
    *,
    actions: str = ...,
    stack: int | None = ...,
    opponent: str | Path | Agent,
    seat: int | None = ...,
) -> Seat: ...
def env(
    game: str | Rules = "nolimit",
    *,
    actions: str = SIZES,
    stack: int | None = None,
    opponent: str | Path | Agent | None = None,
    seat: int | None = None,
) -> Any:
    """A table with both seats (PettingZoo) or, against an `opponent`, one seat (Gymnasium).

    `actions` are bet sizes, or `chips` for every raise-to amount. The table refuses to be used out of
    order, with sentences, as PettingZoo's do; :func:`raw_env` is the same without these checks.

    >>> seat = env("leduc", opponent="call")
    >>> seen, info = seat.reset(seed=1)
    >>> seat.step(2)[1:3]
    (0.0, False)
    """
    if opponent is None:
        if seat is not None:
            raise GameError("a seat needs somebody on the other: name an opponent")
        from pettingzoo.utils.wrappers import AssertOutOfBoundsWrapper, OrderEnforcingWrapper

        return OrderEnforcingWrapper(
            AssertOutOfBoundsWrapper(raw_env(game, actions=actions, stack=stack))
        )
    from equipoise.agents.agent import Agent
    from equipoise.agents.registry import AgentSpec
    from equipoise.environment.seat import Seat

    rules = rules_of(game, stack)
    agent = opponent if isinstance(opponent, Agent) else AgentSpec.read(opponent).make(rules)
    return Seat(rules, actions, agent, seat)


def raw_env(
    game: str | Rules = "nolimit", *, actions: str = SIZES, stack: int | None = None
) -> Table:
    """A table with both seats, as fast as it goes.

    >>> table = raw_env("kuhn")
    >>> table.reset(seed=3)
    >>> table.agent_selection, table.action_space("player_0").n
    ('player_0', np.int64(3))
    """
    from equipoise.environment.table import Table

    return Table(rules_of(game, stack), actions)
