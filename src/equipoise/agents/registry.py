"""The agents by name, from this package, from other packages, and from TOML files.

An agent is asked for by its name, or by the path of a TOML file that names it and sets its
parameters, which are the keyword arguments of its class:

    agent = "bucket"
    name = "bucket-8"     # what tables and logs call it, if not the agent's own name
    buckets = 8

Agents that are one class set in different ways, such as those that play a blueprint, are such files
in the folder `shipped` of this package; these also say `game`, `about`, `document` and `cost`, and
any file may. A `blueprint` that is a path is looked for beside the file, then in the current folder.

An agent's class may also stand in a Python file, `bots/jam.py:Jam`, or `bots/jam.py` if it is the
only one there: the file is run, as whoever names it means. No TOML file has Python run; one of
`program` names a command, which is started when the agent first has to act, in the file's folder.

Another package adds agents through the entry-point group `equipoise.agents`: each entry point leads
to an :class:`Agent` class, or to an :class:`AgentEntry` that says more about it.

A class whose `__init__` takes `rules` is given the rules of the match.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from functools import cache
from importlib import import_module
from importlib.metadata import EntryPoint
from importlib.resources import files
from pathlib import Path
from typing import Any

from equipoise.agents.agent import Agent
from equipoise.errors import EquipoiseError
from equipoise.games.rules import NOLIMIT_HOLDEM, Rules
from equipoise.plugins import foreign, load_file, load_foreign, module_name, where
from equipoise.settings import (
    Kind,
    OneOf,
    check,
    did_you_mean,
    kinds_of,
    parse_toml,
    read_toml,
    shown,
)

#: Entry-point group through which other packages add agents.
GROUP = "equipoise.agents"

#: What a file may say of its agent besides its name and parameters.
_SAID: dict[str, Kind] = {
    "game": OneOf(("limit", "nolimit", "both")),
    "about": "text",
    "document": "text",
    "cost": "text",
}
#: Characters of a name, in tables and logs.
_MOST_NAME = 60

#: Where the first family of agents comes from.
SUITE = "Artificial Intelligence Techniques for Poker Playing Agents"


@dataclass(frozen=True, slots=True)
class AgentEntry:
    """One agent of the list."""

    #: What people call it.
    name: str
    #: Module and class, imported when the agent is first made: `package.module:Class`.
    target: str
    #: What it plays: `limit`, `nolimit` or `both`.
    game: str
    #: One sentence.
    description: str
    #: The document it comes from.
    document: str = ""
    #: What a decision costs, in words.
    cost: str = ""
    #: Parameters that are set otherwise than the class sets them.
    settings: Mapping[str, Any] = field(default_factory=dict)

    def load(self) -> Callable[..., Agent]:
        """The class, or whatever else makes the agent."""
        module, _, attribute = self.target.rpartition(":")
        try:
            maker: Callable[..., Agent] = getattr(import_module(module), attribute)
        except (ImportError, AttributeError) as error:
            raise EquipoiseError(f"the agent {self.name!r} cannot be loaded: {error}") from error
        return maker

    def parameters(self) -> dict[str, Any]:
        """Parameters and their defaults; `rules` is the arena's to give.

        >>> AGENTS["random"].parameters()
        {}
        """
        found = inspect.signature(self.load()).parameters
        empty = inspect.Parameter.empty
        return {
            key: self.settings.get(key, None if parameter.default is empty else parameter.default)
            for key, parameter in found.items()
            if key != "rules" and parameter.kind in (parameter.POSITIONAL_OR_KEYWORD,
                                                     parameter.KEYWORD_ONLY)
        }  # fmt: skip

    def plays(self, rules: Rules) -> bool:
        """Whether it plays games of this kind."""
        return self.game == "both" or self.game == ("limit" if rules.limit else "nolimit")


#: The agents of this package. To add one, add a line.
AGENTS: dict[str, AgentEntry] = {
    entry.name: entry
    for entry in (
        AgentEntry(
            "random",
            "equipoise.agents.simple:RandomAgent",
            "both",
            "fold, call or raise alike, any raise size alike",
            SUITE,
            "1 µs",
        ),
        AgentEntry(
            "all-in",
            "equipoise.agents.simple:AllInAgent",
            "both",
            "raises as much as it may, calls where it may not",
            SUITE,
            "1 µs",
        ),
        AgentEntry(
            "call",
            "equipoise.agents.simple:CallAgent",
            "both",
            "checks and calls, always",
            SUITE,
            "1 µs",
        ),
        AgentEntry(
            "fold",
            "equipoise.agents.simple:FoldAgent",
            "both",
            "folds to any bet, checks where there is none",
            SUITE,
            "1 µs",
        ),
        AgentEntry(
            "bucket",
            "equipoise.agents.suite.bucket:BucketAgent",
            "limit",
            "one mixture of fold, call and raise for each equity bucket",
            SUITE,
            "15 µs",
        ),
        AgentEntry(
            "bayes",
            "equipoise.agents.suite.bayes:BayesAgent",
            "limit",
            "learns how the opponent plays each bucket, and counters",
            SUITE,
            "50 µs",
        ),
        AgentEntry(
            "votes",
            "equipoise.agents.suite.votes:VoteAgent",
            "limit",
            "plays what it won with; trained against bucket when it sits down",
            SUITE,
            "25 µs",
        ),
        AgentEntry(
            "q-learner",
            "equipoise.agents.suite.qlearner:QLearningAgent",
            "limit",
            "Q-learning of winnings, which ends in folding; trained when it sits down",
            SUITE,
            "20 µs",
        ),
        AgentEntry(
            "odd-sizes",
            "equipoise.agents.oddsizes:OddSizesAgent",
            "nolimit",
            "bets and raises of sizes that nobody has in a menu",
            "",
            "2 µs",
        ),
        AgentEntry(
            "nit",
            "equipoise.agents.temper:NitAgent",
            "nolimit",
            "waits for good hands and believes every bet",
            "",
            "60 µs",
        ),
        AgentEntry(
            "maniac",
            "equipoise.agents.temper:ManiacAgent",
            "nolimit",
            "bets and raises nearly anything, large",
            "",
            "60 µs",
        ),
        AgentEntry(
            "station",
            "equipoise.agents.temper:StationAgent",
            "nolimit",
            "calls too much, and bets big when strong",
            "",
            "60 µs",
        ),
        AgentEntry(
            "turncoat",
            "equipoise.agents.temper:TurncoatAgent",
            "nolimit",
            "a nit for 5,000 hands, a maniac from then on",
            "",
            "60 µs",
        ),
        AgentEntry(
            "adaptive",
            "equipoise.agents.adaptive.agent:AdaptiveAgent",
            "nolimit",
            "models its opponent, believes by Bayes' rule, plays the best answer",
            "An Adaptive Intelligence For Heads-Up No-Limit Texas Hold'em",
            "10 ms, a flop 40 ms once",
        ),
        AgentEntry(
            "dbbr",
            "equipoise.agents.exploiting.dbbr:DbbrAgent",
            "both",
            "an equilibrium for 1,000 hands, then best responses to what it counted",
            "Tartanian5: A Heads-Up No-Limit Texas Hold'em Poker-Playing Program",
            "15 µs, a model every 50 hands",
        ),
        AgentEntry(
            "blueprint",
            "equipoise.agents.blueprint.blueprintagent:BlueprintAgent",
            "both",
            "plays a trained strategy: name it in a TOML file",
            "",
            "15 µs",
        ),
        AgentEntry(
            "search",
            "equipoise.agents.searching.searchagent:SearchAgent",
            "nolimit",
            "searches from a trained strategy on: name it in a TOML file",
            "",
            "1 ms, turn 2 s (4 at most), river 0.1 s (0.5 at most)",
        ),
        AgentEntry(
            "program",
            "equipoise.agents.outside.program:ProgramAgent",
            "both",
            "asks a program in any language: name its command in a TOML file",
            "",
            "0.1 ms and what the program takes",
        ),
        AgentEntry(
            "chat",
            "equipoise.agents.outside.chat:ChatAgent",
            "both",
            "asks a language model: name its server in a TOML file",
            "",
            "what the server takes",
        ),
        AgentEntry(
            "endgames",
            "equipoise.agents.searching.claudicoagent:ClaudicoAgent",
            "nolimit",
            "a trained strategy with thresholds by round, rivers solved at the table",
            "",
            "15 µs, river 0.1 s (1 at most)",
        ),
    )
}


def _shipped() -> dict[str, AgentEntry]:
    """The agents of the folder `shipped`, by name."""
    found = {}
    for file in sorted((files("equipoise.agents") / "shipped").iterdir(), key=lambda f: f.name):
        if not file.name.endswith(".toml"):
            continue
        told = parse_toml(file.read_text("utf-8"))
        entry = _described(AGENTS[told.pop("agent")], told.pop("name"), told)
        found[entry.name] = replace(entry, settings=told)
    return found


def _described(entry: AgentEntry, name: str, told: dict[str, Any]) -> AgentEntry:
    """An agent as a file tells of it; `told` keeps the parameters."""
    said = check({key: told.pop(key) for key in _SAID if key in told}, _SAID)
    game = said.get("game", entry.game)
    if entry.game not in ("both", game):
        raise EquipoiseError(f"{entry.name} plays {entry.game} games: leave game out")
    return replace(
        entry,
        name=name,
        game=game,
        description=said.get("about", entry.description),
        document=said.get("document", entry.document),
        cost=said.get("cost", entry.cost),
    )


AGENTS |= _shipped()


@cache
def entries() -> dict[str, AgentEntry]:
    """All agents: this package's, then those of other packages; ours keep their names.

    >>> list(entries())[:2]
    ['random', 'all-in']
    """
    found = dict(AGENTS)
    for name, point in foreign(GROUP).items():
        if name not in found:
            found[name] = _foreign(point)
    return found


def _foreign(point: EntryPoint) -> AgentEntry:
    """The entry of another package's agent; one that cannot be imported is listed all the same."""
    try:
        thing = load_foreign(point, "agent")
    except EquipoiseError as error:
        return AgentEntry(point.name, point.value, "both", str(error))
    return thing if isinstance(thing, AgentEntry) else _of_class(point.name, point.value, thing)


def _of_class(name: str, target: str, maker: Any) -> AgentEntry:
    """What a class says of itself."""
    told = inspect.getdoc(maker) or ""
    return AgentEntry(name, target, getattr(maker, "game", "both"), told.partition("\n")[0])


def _split(text: str) -> tuple[str, str] | None:
    """File and class of a text such as `jam.py:Jam` or `jam.py`; None if it names no file.

    >>> _split("bots/jam.py:Jam"), _split("jam.py"), _split("call")
    (('bots/jam.py', 'Jam'), ('jam.py', ''), None)
    """
    file, colon, attribute = text.rpartition(":")
    if text.endswith(".py"):
        return text, ""
    return (file, attribute) if colon and file.endswith(".py") else None


def _from_file(path: str | Path, attribute: str) -> AgentEntry:
    """The entry of an agent whose class stands in a Python file, which is run."""
    module = load_file(path)
    here = {
        name: thing
        for name, thing in vars(module).items()
        if isinstance(thing, type) and issubclass(thing, Agent) and thing.__module__ == module.__name__
    }  # fmt: skip
    if not attribute and len(here) != 1:
        cure = f"name one, {path}:{next(iter(here))}" if here else "write class Mine(eq.Agent)"
        raise EquipoiseError(f"{path} has {len(here) or 'no'} agents: {cure}")
    attribute = attribute or next(iter(here))
    found = getattr(module, attribute, None)
    if found is None:
        cure = did_you_mean(attribute, here, "its agents are:")
        raise EquipoiseError(f"{path} has no {shown(attribute)}: {cure}")
    if not (isinstance(found, type) and issubclass(found, Agent)):
        raise EquipoiseError(f"{path}: {attribute} is no agent: write class {attribute}(eq.Agent)")
    name = found.name if _is_name(found.name) else found.__name__
    return _of_class(name, f"{module_name(path)}:{attribute}", found)


def entry(name: str) -> AgentEntry:
    """One agent of the list.

    >>> entry("cal")
    Traceback (most recent call last):
        ...
    equipoise.errors.EquipoiseError: no agent 'cal': did you mean 'call'?
    """
    known = entries()
    if name not in known:
        raise EquipoiseError(f"no agent {shown(name)}: {did_you_mean(name, known)}")
    return known[name]


@dataclass(frozen=True, slots=True)
class AgentSpec:
    """An agent to be made: which, how set, and what to call it."""

    entry: AgentEntry
    parameters: dict[str, Any]
    name: str

    @classmethod
    def read(cls, spec: str | Path) -> AgentSpec:
        """From an agent's name, a class in a Python file, or the path of a TOML file.

        >>> AgentSpec.read("call").name
        'call'
        """
        text = str(spec)
        file = _split(text)
        if file is not None:
            found = _from_file(*file)
            return cls(found, {}, found.name)
        if not text.endswith(".toml"):
            return cls(entry(text), {}, text)
        settings = read_toml(text, EquipoiseError)
        chosen = settings.pop("agent", None)
        if not isinstance(chosen, str):
            raise EquipoiseError(f'{text} names no agent: add a line such as agent = "call"')
        if _split(chosen) is not None:
            raise EquipoiseError(
                f"{text}: agent = {shown(chosen)}: no TOML file has Python run: name {chosen} itself"
            )
        name = settings.pop("name", chosen)
        if not isinstance(name, str) or not _is_name(name):
            raise EquipoiseError(
                f"{text}: name = {shown(name)}: a name is one word without ':' and '|', of at "
                f"most {_MOST_NAME} characters"
            )
        try:
            described = _described(entry(chosen), name, settings)
        except EquipoiseError as error:
            raise EquipoiseError(f"{text}: {error}") from None
        if isinstance(settings.get("blueprint"), str):
            from equipoise.agents.blueprint.files import beside

            settings["blueprint"] = beside(Path(text), settings["blueprint"])
        if "command" in settings:
            settings.setdefault("folder", str(Path(text).absolute().parent))
        return cls(described, settings, name)

    def check(self, rules: Rules = NOLIMIT_HOLDEM) -> None:
        """Refuse a game that it does not play, and parameters that it has not."""
        if not self.entry.plays(rules):
            kind = self.entry.game
            raise EquipoiseError(f"{self.name} plays {kind} games: choose --game {kind}")
        known = self.entry.parameters()
        for key in self.parameters:
            if key not in known:
                cure = did_you_mean(key, known, "it takes")
                raise EquipoiseError(f"{self.name} has no parameter {shown(key)}: {cure}")
        self._check_kinds(self.entry.load())

    def make(self, rules: Rules = NOLIMIT_HOLDEM) -> Agent:
        """The agent, for a game."""
        self.check(rules)
        maker = self.entry.load()
        settings = {**self.entry.settings, **self.parameters}
        if "rules" in inspect.signature(maker).parameters:
            settings["rules"] = rules
        try:
            return maker(**settings)
        except TypeError as error:
            raise EquipoiseError(f"{self.name} cannot be made so: {error}") from error
        except Exception as error:
            # Who writes an agent in a file is told where it went wrong.
            file = inspect.getsourcefile(maker) if self.entry.target.startswith("file:") else None
            if file is None or isinstance(error, EquipoiseError):
                raise
            raise EquipoiseError(where(error, file)) from error

    def _check_kinds(self, maker: Callable[..., Agent]) -> None:
        """Refuse parameters of a file that are not of the kind which the class declares."""
        kinds = kinds_of(maker)
        written = (str, int, float, list, dict)
        told = {
            key: value
            for key, value in self.parameters.items()
            if key in kinds and isinstance(value, written)
        }
        try:
            check(told, kinds)
        except EquipoiseError as error:
            raise EquipoiseError(f"{self.name}: {error}") from None


def _is_name(name: str) -> bool:
    """Whether tables and logs can call an agent so."""
    return name.isprintable() and 0 < len(name) <= _MOST_NAME and not set(name) & set(":| ")


def make_agent(spec: str | Path, rules: Rules = NOLIMIT_HOLDEM, **parameters: Any) -> Agent:
    """An agent by its name, or from a TOML or a Python file, for the given game.

    >>> make_agent("call").name
    'call'
    >>> make_agent("call", speed=3)
    Traceback (most recent call last):
        ...
    equipoise.errors.EquipoiseError: call has no parameter 'speed': it takes none
    """
    chosen = AgentSpec.read(spec)
    return AgentSpec(chosen.entry, {**chosen.parameters, **parameters}, chosen.name).make(rules)
