"""Whom a person can meet: the agents that play a game and are here, and the best of them."""

from __future__ import annotations

from equipoise.abstraction.bets.line import same_game
from equipoise.agents.blueprint.blueprintagent import BlueprintAgent
from equipoise.agents.blueprint.files import find_blueprint, has_blueprint, load_blueprint
from equipoise.agents.registry import AgentEntry, entries
from equipoise.errors import ArtefactError, EquipoiseError
from equipoise.games.rules import Rules

#: Whom a person meets who names nobody: the first that plays the game and is there.
BEST = (
    *("flagship", "tartanian5", "sampled", "tartanian4", "quick"),
    *("fell-omen-2", "fell-omen-1", "inot"),
    *("bucket", "call"),
)


def is_here(entry: AgentEntry, rules: Rules) -> bool:
    """Whether an agent plays by these rules; what it lacks to be here is an :class:`ArtefactError`.

    >>> from equipoise.games.rules import LIMIT_HOLDEM, NOLIMIT_HOLDEM
    >>> is_here(entries()["bucket"], LIMIT_HOLDEM), is_here(entries()["bucket"], NOLIMIT_HOLDEM)
    (True, False)
    """
    if not entry.plays(rules):
        return False
    parameters = entry.parameters()
    if "blueprint" not in parameters:
        return True
    wanted = parameters["blueprint"]
    if not wanted:
        # One of a kind that a TOML file has to complete.
        return False
    find_blueprint(wanted)
    # Who only plays a blueprint keeps to its stacks.
    return entry.load() is not BlueprintAgent or same_game(_trained_for(wanted), rules)


def _trained_for(blueprint: str) -> Rules:
    """The game of a blueprint, by its recipe where that ships: blueprints are large to load."""
    from equipoise.solve.training.recipe import Recipe, names

    if blueprint in names():
        return Recipe.shipped(blueprint).rules
    return load_blueprint(blueprint).recipe.rules


def opponents(rules: Rules) -> list[AgentEntry]:
    """All agents of the list that can sit down now, the best first."""

    def here(entry: AgentEntry) -> bool:
        wanted = entry.settings.get("blueprint")
        try:
            return not (wanted and not has_blueprint(wanted)) and is_here(entry, rules)
        except EquipoiseError:
            return False

    known = entries()
    names = [*(name for name in BEST if name in known), *(n for n in known if n not in BEST)]
    return [known[name] for name in names if here(known[name])]


def best_opponent(rules: Rules) -> tuple[str, str]:
    """Whom to meet, and if the best is not there, a sentence that says so."""
    known, why = entries(), ""
    for name in BEST:
        try:
            if name in known and is_here(known[name], rules):
                return name, why and f"{why}. Until then you play {name}."
        except ArtefactError as error:
            why = why or str(error)
    raise EquipoiseError(f"nobody here plays {rules.name}: name an opponent with --agent")
