"""The adaptive agent: believes, learns, and plays the best answer that it sees.

After E. Green, "An Adaptive Intelligence For Heads-Up No-Limit Texas Hold'em" (2013), on every street. In a
hand it follows what the opponent may hold (:mod:`.beliefs`), by a model of players (:mod:`.model`) that is
corrected by what was learnt of this one (:mod:`.memory`), and takes the action of greatest expected payoff
(:mod:`.expectimax`).
"""

from __future__ import annotations

import weakref
from functools import cache
from pathlib import Path
from typing import Literal

from equipoise.agents.adaptive.beliefs import RECURSIONS, Beliefs
from equipoise.agents.adaptive.decisions import check_game, steps
from equipoise.agents.adaptive.expectimax import Choice, Expectimax
from equipoise.agents.adaptive.memory import LONGEST_NAME, Memory, load, save
from equipoise.agents.adaptive.model import SHIPPED, PlayerModel, shipped
from equipoise.agents.adaptive.opponent import Opponent, Seen
from equipoise.agents.agent import Agent
from equipoise.cards.combos import combo_index
from equipoise.cards.streets import BOARD_SIZES
from equipoise.errors import EquipoiseError
from equipoise.files import check_target
from equipoise.games.checkdown import CheckDown
from equipoise.games.hand import HandResult, View
from equipoise.games.rules import Action, Rules, State
from equipoise.settings import choose

#: Hands after which the memory is written again; it is written at the end in any case.
_SAVED_EVERY = 64


class AdaptiveAgent(Agent):
    """Models its opponent and plays the best answer.

    `features` is φ: `full`, or `seed`, the document's; models of both ship. `model` is a file made by
    `equipoise train adaptive` in their place; its φ is what it was fitted with. `memory` is a file where it
    keeps what it learnt of `opponent`, by that name, and from which it goes on next time. `depth` is how many
    raises of the opponent it looks ahead; `payoff` and `recursion` choose the document's own forms, `literal`
    and `matrix`, in place of the right ones. Without `learn` it plays against the model alone.
    """

    name = "adaptive"
    learns = True

    def __init__(
        self,
        rules: Rules,
        features: str = "",
        model: str = "",
        memory: str = "",
        opponent: str = "opponent",
        depth: int = 1,
        payoff: str = "right",
        recursion: str = "range",
        learn: bool = True,
    ) -> None:
        super().__init__()
        check_game(rules)
        if not 0 <= depth <= 4:
            raise EquipoiseError(f"depth = {depth}: look 0 to 4 raises ahead")
        if payoff not in ("right", "literal"):
            raise EquipoiseError(f"payoff = {payoff!r}: choose right or literal")
        if len(opponent) > LONGEST_NAME:
            raise EquipoiseError(f"opponent: give a name of at most {LONGEST_NAME} characters")
        if recursion not in RECURSIONS:
            raise EquipoiseError(f"recursion = {recursion!r}: choose {' or '.join(RECURSIONS)}")
        self.rules, self.depth, self.opponent_name = rules, depth, opponent
        self.payoff: Literal["right", "literal"] = "literal" if payoff == "literal" else "right"
        self.recursion, self.learning = recursion, learn
        self.model = _model(features, model)
        self.memory_file = memory
        self._kept = _Kept(memory)
        self._game = _game(rules)
        #: A player as the opponent may imagine the agent.
        self._image = Opponent(self.model)
        self._opponent = self._meet()
        self._beliefs: Beliefs | None = None
        self._state = State.start(rules)
        self._seen: list[Seen] = []
        self._hand = -1

    def _meet(self) -> Opponent:
        memory = self._kept.of(self.opponent_name) if self.learning else None
        return Opponent(self.model, self.opponent_name, memory)

    @property
    def memory(self) -> Memory | None:
        """What was learnt of the opponent."""
        return self._opponent.memory

    def reset(self, seed: int) -> None:
        """A new match: what is not kept in a file is forgotten."""
        super().reset(seed)
        self._kept.save()
        self._kept = _Kept(self.memory_file)
        self._opponent, self._hand = self._meet(), -1

    def act(self, view: View) -> Action:
        """The best action, after all that happened since the last one."""
        return self.decide(view).action

    def decide(self, view: View) -> Choice:
        """The best action, and what it is thought to be worth."""
        beliefs = self.believe(view.hand, view.position, view.hole, view.board, view.state)
        search = Expectimax(beliefs, self._opponent, view.position, self.depth, self.payoff)
        return search.best(view.state)

    def observe(self, result: HandResult) -> None:
        """Learn from a hand that is over, with the cards if they were shown."""
        if not self.learning:
            return
        final = result.state
        beliefs = self.believe(result.hand, result.position, result.hole, result.board, final)
        held = beliefs.p
        if result.opponent is not None:
            held = 0 * held
            held[combo_index(result.opponent[0], result.opponent[1])] = 1.0
        self._opponent.learn(self._seen, held)
        self._hand = -1
        memory = self._opponent.memory
        if self.memory_file and memory is not None and memory.hands % _SAVED_EVERY == 0:
            self._kept.save()

    def believe(
        self, hand: int, position: int, hole: tuple[int, ...], board: tuple[int, ...], state: State
    ) -> Beliefs:
        """Beliefs after all that was played so far in a hand."""
        played = list(steps(state))
        if hand != self._hand or self._beliefs is None:
            recursion = RECURSIONS[self.recursion](self.rules, self._game, self._image)
            self._beliefs = Beliefs(self.rules, hole, self._game, self._opponent, recursion)
            self._hand, self._seen, self._done = hand, [], 0
        beliefs = self._beliefs
        for at, action in played[self._done :]:
            shown = board[: BOARD_SIZES[at.round]]
            beliefs.see(shown)
            if at.to_act == position:
                beliefs.agent_acts(at, action)
            else:
                beliefs.opponent_acts(at, action)
                self._seen.append(self._opponent.seen(at, action, shown))
        self._done = len(played)
        if not state.is_over:
            beliefs.see(board)
        return beliefs


def _model(features: str, file: str) -> PlayerModel:
    """The model that is asked for."""
    if not file:
        return shipped(choose(features or "full", tuple(SHIPPED), "features", EquipoiseError))
    found = PlayerModel.load(file)
    fitted = found.actions.features.name
    if features and features != fitted:
        raise EquipoiseError(
            f"{file} was fitted with features = {fitted!r}, not {features!r}: drop one of the two"
        )
    return found


class _Kept:
    """Memories of opponents, and the file that keeps them."""

    def __init__(self, file: str) -> None:
        self._file = file
        self.players: dict[str, Memory] = {}
        if file:
            path = check_target(file, overwrite=True, what="memory")
            if path.exists():
                self.players = load(path)
            weakref.finalize(self, _save_all, file, self.players)

    def of(self, name: str) -> Memory:
        """What was learnt of a player so far."""
        return self.players.setdefault(name, Memory())

    def save(self) -> None:
        """Write the file, if there is one."""
        _save_all(self._file, self.players)


def _save_all(file: str, players: dict[str, Memory]) -> None:
    if file and any(memory.hands for memory in players.values()):
        save(Path(file), players)


@cache
def _game(rules: Rules) -> CheckDown:
    return CheckDown(rules)
