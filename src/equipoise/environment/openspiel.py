"""To OpenSpiel and back: strategies of Kuhn and Leduc, and agents as bots.

    policy_of(strategy)      our strategy of `kuhn` or `leduc` as OpenSpiel's tabular policy of
                             `kuhn_poker` or `leduc_poker`
    strategy_of(policy)      any OpenSpiel policy of these two as our strategy, and so an opponent:
                             `StrategyAgent(strategy_of(policy))`
    universal_poker(rules)   the same game as OpenSpiel's `universal_poker`, every amount allowed
    bot(agent, player)       an agent of ours as OpenSpiel's bot on it

Both sides count the same: information sets of the two small games are matched card by card and action
by action through OpenSpiel's own histories, in which a fold of Kuhn's is a pass and a check is one too.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from equipoise.agents.agent import Agent
from equipoise.errors import GameError
from equipoise.games.dealing import DealtCards
from equipoise.games.game import Game
from equipoise.games.hand import Hand, hand_seed
from equipoise.games.library.kuhn import kuhn
from equipoise.games.library.leduc import leduc
from equipoise.games.rules import CALL, FOLD, Action, Kind, Rules, State, raise_to
from equipoise.settings import shown
from equipoise.solve.strategies.tabular import Key, TabularStrategy

#: OpenSpiel's name of a game of ours, and how many cards of each rank its deck has.
_NAMES = {"kuhn": ("kuhn_poker", 1), "leduc": ("leduc_poker", 2)}
_RANKS = "JQK"
#: OpenSpiel's numbers for actions of Leduc and of universal poker.
_FOLD, _CALL, _RAISE = 0, 1, 2
#: Who acts when cards are dealt.
_CHANCE = -1


def policy_of(strategy: TabularStrategy) -> Any:
    """Our strategy as a tabular policy of OpenSpiel."""
    from open_spiel.python.policy import TabularPolicy

    game = _theirs(strategy.game.name)
    policy, told = TabularPolicy(game), strategy.to_dict()
    for state in _decisions(game.new_initial_state()):
        ours, key = _ours(strategy.game, state)
        mix = list(told[key].values())
        row = policy.policy_for_key(state.information_state_string())
        row[:] = 0
        for number, chance in zip(_numbers(ours, state, strategy.game), mix, strict=True):
            row[number] = chance
    return policy


def strategy_of(policy: Any) -> TabularStrategy:
    """A policy of OpenSpiel, of Kuhn or Leduc poker, as a strategy of ours."""
    name = policy.game.get_type().short_name
    known = {theirs: ours for ours, (theirs, _) in _NAMES.items()}
    if name not in known:
        raise GameError(f"a policy of {shown(name)}: those of {' and '.join(known)} can be read")
    game = kuhn() if known[name] == "kuhn" else leduc()
    told: dict[Key, list[float]] = {}
    for state in _decisions(policy.game.new_initial_state()):
        ours, key = _ours(game, state)
        if key not in told:
            mix = policy.action_probabilities(state)
            told[key] = [float(mix.get(n, 0.0)) for n in _numbers(ours, state, game)]
    return TabularStrategy.from_dict(game, told)


def _theirs(name: str) -> Any:
    import pyspiel

    if name not in _NAMES:
        raise GameError(
            f"a strategy of {name}: those of {' and '.join(_NAMES)} can be carried over"
        )
    return pyspiel.load_game(_NAMES[name][0])


def _decisions(state: Any) -> Iterator[Any]:
    """Every state below in which a player acts, deal by deal."""
    if state.is_terminal():
        return
    if not state.is_chance_node():
        yield state
    for action in state.legal_actions():
        yield from _decisions(state.child(action))


def _ours(game: Game, state: Any) -> tuple[State, Key]:
    """Our betting, and the name of our information set, of a state of theirs."""
    ours, cards = State.start(game.betting.rules), list[str]()
    copies = _NAMES[game.name][1]
    for step in state.full_history():
        if step.player == _CHANCE:
            cards.append(_RANKS[step.action // copies])
        else:
            ours = ours.apply(_action(ours, step.action, game))
    key = (cards[state.current_player()], ours.betting_text())
    return ours, (*key, cards[2]) if len(cards) > 2 else key


def _action(state: State, number: int, game: Game) -> Action:
    """Our action for a number of theirs in one of the two small games."""
    if game.name == "kuhn":
        # 0 passes and 1 puts a chip in: what that is depends on whether there is a bet.
        passive = FOLD if state.to_call else CALL
        active = CALL if state.to_call else raise_to(state.legal().raise_min)
        return active if number else passive
    return {_FOLD: FOLD, _CALL: CALL}.get(number) or raise_to(state.legal().raise_min)


def _numbers(state: State, theirs: Any, game: Game) -> list[int]:
    """Their numbers for our actions, in our order."""
    found = {_action(state, number, game): number for number in theirs.legal_actions()}
    return [found[action] for action in game.betting.menu.actions(state)]


# ------------------------------------------------------------------------------ universal poker


def universal_poker(rules: Rules) -> Any:
    """A no-limit game as OpenSpiel's `universal_poker` in which every amount is an action."""
    import pyspiel

    if rules.limit or rules.dead or rules.min_bet is not None:
        raise GameError("universal_poker: no-limit games from the blinds on can be carried over")
    words = {
        "betting": "nolimit",
        "bettingAbstraction": "fullgame",
        "numPlayers": "2",
        "numRounds": str(rules.rounds),
        "blind": _listed(rules.blinds),
        "firstPlayer": _listed(player + 1 for player in rules.first),
        "numSuits": str(rules.suits),
        "numRanks": str(rules.ranks),
        "numHoleCards": str(rules.hole_cards),
        "numBoardCards": _listed(rules.board_cards),
        "stack": _listed(rules.stacks),
    }
    return pyspiel.load_game(
        "universal_poker(" + ",".join(f"{key}={value}" for key, value in words.items()) + ")"
    )


def _listed(numbers: Any) -> str:
    return " ".join(str(number) for number in numbers)


def followed(rules: Rules, state: Any, number: int = 0) -> Hand:
    """The hand that a state of `universal_poker` stands for, as far as its cards are dealt."""
    ours, cards = State.start(rules), list[int]()
    for step in state.full_history():
        if step.player == _CHANCE:
            cards.append(step.action + 52 - rules.suits * rules.ranks)
        else:
            ours = ours.apply({_FOLD: FOLD, _CALL: CALL}.get(step.action) or raise_to(step.action))
    held = rules.hole_cards
    holes = tuple(cards[:held]), tuple(cards[held : 2 * held])
    return Hand(ours, DealtCards.of(rules, holes, tuple(cards[2 * held :])), number)


def bot(agent: Agent, player: int, rules: Rules, seed: int = 0) -> Any:
    """An agent as a bot of OpenSpiel for `universal_poker`, sitting where OpenSpiel says.

    Hands are counted from 0 by `restart`; the agent's random choices follow from the seed, the hand
    and the seat as in a match without duplicate.
    """
    import pyspiel

    class AgentBot(pyspiel.Bot):  # type: ignore[misc]
        """Asks an agent of ours."""

        def __init__(self) -> None:
            pyspiel.Bot.__init__(self)
            self.number = -1
            agent.reset(2 * seed + player)

        def player_id(self) -> int:
            return player

        def restart(self) -> None:
            self.number += 1
            agent.random.seed(hand_seed(seed, self.number, player))
            agent.begin(self.number, player)

        def restart_at(self, state: Any) -> None:
            self.restart()

        def inform_action(self, state: Any, other: int, action: int) -> None:
            """What others do is read from the state."""

        def step(self, state: Any) -> int:
            action = agent.act(followed(rules, state, max(self.number, 0)).view())
            return action.amount if action.kind == Kind.RAISE else int(action.kind)

    return AgentBot()
