"""A language model as a player: any server that speaks the usual chat-completions form.

    agent = "chat"
    address = "http://localhost:8000/v1"
    model = "some-model"
    key_variable = "MY_API_KEY"      # the environment variable that holds the key, if one is needed

There is no address by default. The state is told in words and in JSON, and the answer has to be one JSON
object and nothing else (:mod:`equipoise.agents.outside.telling`). What is no such answer, or an illegal
action, is asked for once more, with the reason; after that it is a fault, and the arena's rule applies.
Every prompt and answer is a note, which the log of a match keeps as a comment before its hand.
"""

from __future__ import annotations

import http.client
import json
import os
import urllib.error
import urllib.request
from typing import Annotated, Any
from urllib.parse import urlsplit

from equipoise.agents.agent import Agent
from equipoise.agents.human import pretty_cards
from equipoise.agents.outside.telling import read_decision, situation
from equipoise.cards.streets import STREETS
from equipoise.errors import EquipoiseError, IllegalActionError, ProtocolError
from equipoise.games.hand import View
from equipoise.games.rules import Action
from equipoise.settings import Within, brief, shown

Seconds = Annotated[float, Within("number", 0.01, 3600)]
Temperature = Annotated[float, Within("number", 0, 2)]

#: Bytes of a server's answer.
_MOST_BYTES = 1 << 20
_PATH = "/chat/completions"
#: Answers that are asked for in one decision.
_TRIES = 2
_RULES = (
    "You play heads-up poker. Each message tells you one decision, in words and as JSON. Amounts are "
    "chips; a raise is named by your total in the hand after it. Answer with one JSON object and nothing "
    'else: {"action": "fold"}, {"action": "check"}, {"action": "call"}, {"action": "all-in"} or '
    '{"action": "raise", "amount": 300}.'
)


class ChatAgent(Agent):
    """Asks a chat server."""

    name = "chat"
    waits = True

    def __init__(
        self,
        address: str = "",
        model: str = "",
        key_variable: str = "",
        seconds: Seconds = 25.0,
        temperature: Temperature = 0.0,
    ) -> None:
        super().__init__()
        try:
            parts = urlsplit(address)
            sound = parts.scheme in ("http", "https") and bool(parts.hostname) and parts.port != 0
        except ValueError:
            sound = False
        if not sound or not address.isascii() or not address.isprintable() or " " in address:
            raise EquipoiseError(
                f'address = {shown(address)}: name a server, as "http://localhost:8000/v1"'
            )
        if key_variable and not os.environ.get(key_variable):
            raise EquipoiseError(f"the environment has no {brief(key_variable)}: set it to the key")
        self.address = address.rstrip("/").removesuffix(_PATH) + _PATH
        self.model, self.key_variable = model, key_variable
        self.seconds, self.temperature = float(seconds), float(temperature)
        self.notes: list[str] = []

    def act(self, view: View) -> Action:
        """Ask, once more if need be."""
        talk = [
            {"role": "system", "content": _RULES},
            {"role": "user", "content": told_in_words(view) + "\n" + json.dumps(situation(view))},
        ]
        failure: EquipoiseError = ProtocolError("")
        for _ in range(_TRIES):
            answer = ""
            try:
                answer = self._ask(talk)
                action = read_decision(answer, view.state)
                if view.state.can(action):
                    self._note(view, talk, answer)
                    return action
                raise IllegalActionError(f"{action} is illegal; legal: {view.state.legal()}")
            except EquipoiseError as error:
                failure = error
                self._note(view, talk, answer, str(error))
            if answer:
                talk += [
                    {"role": "assistant", "content": answer},
                    {"role": "user", "content": f"{failure}. Answer with the JSON object alone."},
                ]
        raise failure

    def _note(self, view: View, talk: list[dict[str, str]], answer: str, fault: str = "") -> None:
        told = {"hand": view.hand, "prompt": talk[-1]["content"], "answer": answer}
        self.notes.append(json.dumps(told | ({"fault": fault} if fault else {})))

    def _ask(self, talk: list[dict[str, str]]) -> str:
        """The text that the server answers with."""
        body: dict[str, Any] = {"messages": talk, "temperature": self.temperature}
        if self.model:
            body["model"] = self.model
        headers = {"Content-Type": "application/json"}
        if self.key_variable:
            headers["Authorization"] = f"Bearer {os.environ.get(self.key_variable, '')}"
        request = urllib.request.Request(self.address, json.dumps(body).encode(), headers)
        try:
            with urllib.request.urlopen(request, timeout=self.seconds) as response:
                data = response.read(_MOST_BYTES + 1)
        except urllib.error.HTTPError as error:
            raise ProtocolError(f"the server at {self.address} answers {error.code}") from None
        except (OSError, ValueError, http.client.HTTPException) as error:
            reason = getattr(error, "reason", None) or error
            raise ProtocolError(f"the server at {self.address} failed: {reason}") from None
        return completion(data)


def completion(data: bytes) -> str:
    """The first choice of a chat completion.

    >>> completion(b'{"choices": [{"message": {"role": "assistant", "content": "hello"}}]}')
    'hello'
    """
    if len(data) > _MOST_BYTES:
        raise ProtocolError(f"a completion of over {_MOST_BYTES:,} bytes: ask for a short answer")
    try:
        content = json.loads(data)["choices"][0]["message"]["content"]
    except (ValueError, KeyError, IndexError, TypeError, RecursionError):
        raise ProtocolError("the server's answer is no chat completion: check address") from None
    if not isinstance(content, str):
        raise ProtocolError("the server's completion has no text: check the model")
    return content


def told_in_words(view: View) -> str:
    """A decision as a person would tell it.

    >>> from equipoise.games.rules import NOLIMIT_HOLDEM, State
    >>> print(told_in_words(View(State.start(NOLIMIT_HOLDEM), 1, (51, 46), (), 0)))
    no-limit hold'em 50-100, stack 20000; you are player 1.
    You hold A♠ K♥. Round: preflop. Board: none.
    Betting so far: none. In the pot 150, yours 50, to call 50.
    You may: fold, call or raise to 200-20000
    """
    state, rules = view.state, view.state.rules
    street = STREETS[state.round] if rules.rounds == len(STREETS) else f"round {state.round + 1}"
    mine = state.committed[view.position]
    return (
        f"{rules.name}; you are player {view.position}.\n"
        f"You hold {pretty_cards(view.hole)}. Round: {street}. "
        f"Board: {pretty_cards(view.board) or 'none'}.\n"
        f"Betting so far: {state.betting_text() or 'none'}. In the pot {state.pot:,}, yours {mine:,}, "
        f"to call {state.to_call:,}.\n"
        f"You may: {state.legal()}"
    )
