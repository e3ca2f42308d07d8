"""Agents by name, by TOML file, and from other packages."""

import subprocess
import sys
from importlib.resources import files
from types import ModuleType

import pytest

from equipoise.agents import registry
from equipoise.agents.agent import Agent
from equipoise.agents.blueprint.files import has_blueprint
from equipoise.agents.registry import AGENTS, AgentEntry, AgentSpec, entries, make_agent
from equipoise.agents.simple import CallAgent
from equipoise.errors import EquipoiseError
from equipoise.games.rules import LIMIT_HOLDEM, NOLIMIT_HOLDEM
from equipoise.settings import toml_text


class Tunable(CallAgent):
    """Calls, with settings that it keeps."""

    name = "tunable"

    def __init__(self, rules, buckets: int = 5, style: str = "plain"):
        super().__init__()
        self.rules, self.buckets, self.style = rules, buckets, style


@pytest.fixture
def tunable(monkeypatch):
    """An agent of another module, for limit games only."""
    module = ModuleType("strange_agents")
    module.Tunable = Tunable
    monkeypatch.setitem(sys.modules, "strange_agents", module)
    listed = {
        **AGENTS,
        "tunable": AgentEntry("tunable", "strange_agents:Tunable", "limit", "calls"),
    }
    monkeypatch.setattr(registry, "entries", lambda: listed)


@pytest.mark.parametrize("name", list(AGENTS))
def test_every_agent_of_the_list_can_be_loaded(name):
    entry = AGENTS[name]
    assert entry.name == name
    assert entry.game in ("limit", "nolimit", "both")
    assert entry.description
    assert entry.cost
    assert callable(entry.load())
    assert isinstance(entry.parameters(), dict)


@pytest.mark.parametrize("name", ["random", "all-in", "call", "fold"])
def test_simple_agents_bear_their_names(name):
    agent = make_agent(name)
    assert isinstance(agent, Agent)
    assert agent.name == name


def test_a_toml_file_sets_parameters(tunable, tmp_path):
    path = tmp_path / "agent.toml"
    path.write_text('agent = "tunable"\nname = "tunable-8"\nbuckets = 8\n')
    recipe = AgentSpec.read(path)
    assert recipe.name == "tunable-8"
    agent = recipe.make(LIMIT_HOLDEM)
    assert (agent.buckets, agent.style, agent.rules) == (8, "plain", LIMIT_HOLDEM)
    assert make_agent(path, LIMIT_HOLDEM, style="bold").style == "bold"
    assert make_agent("tunable", LIMIT_HOLDEM, buckets=3).buckets == 3
    assert recipe.entry.parameters() == {"buckets": 5, "style": "plain"}


def test_a_byte_order_mark_is_no_part_of_a_file(tunable, tmp_path):
    path = tmp_path / "agent.toml"
    path.write_text('agent = "tunable"\nbuckets = 8\n', encoding="utf-8-sig")
    assert make_agent(path, LIMIT_HOLDEM).buckets == 8


@pytest.mark.parametrize("file", sorted((files("equipoise.agents") / "shipped").iterdir()), ids=str)
def test_a_copy_of_a_shipped_file_is_an_agents_file(file, tmp_path):
    copy = tmp_path / "mine.toml"
    copy.write_text(file.read_text("utf-8"))
    recipe, shipped = AgentSpec.read(copy), AGENTS[file.name.removesuffix(".toml")]
    assert recipe.name == recipe.entry.name == shipped.name
    assert (recipe.entry.game, recipe.entry.description) == (shipped.game, shipped.description)
    assert recipe.parameters == shipped.settings


def test_what_a_file_says_of_its_agent_need_not_be_said(tunable, tmp_path):
    path = tmp_path / "agent.toml"
    path.write_text('agent = "tunable"\nname = "mine"\nabout = "mine"\n')
    assert AgentSpec.read(path).entry.description == "mine"
    assert AgentSpec.read(path).entry.game == "limit"
    path.write_text('agent = "tunable"\nabout = "mine"\ngame = "limit"\ncost = "1 s"\n')
    assert AgentSpec.read(path).make(LIMIT_HOLDEM).buckets == 5


def test_an_agent_is_not_made_for_a_game_it_does_not_play(tunable):
    with pytest.raises(EquipoiseError, match="tunable plays limit games: choose --game limit"):
        make_agent("tunable", NOLIMIT_HOLDEM)


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ('agent = "tunabel"', "did you mean 'tunable'"),
        ('agent = "tunable"\nbukets = 8', "did you mean 'buckets'"),
        ('agent = "tunable"\nspeed = 8', "it takes buckets, style"),
        ('agent = "tunable"\nname = "a:b"', "one word"),
        ('agent = "tunable"\nname = "a\\u0000b"', "one word"),
        (f'agent = "tunable"\nname = "{"x" * 200}"', "one word"),
        ('agent = "tunable"\nbuckets = "8"', "buckets = '8': write a whole number"),
        ('agent = "tunable"\nbuckets = true', "buckets = True: write a whole number"),
        ('agent = "tunable"\nbuckets = 8.5', "buckets = 8.5: write a whole number"),
        (f'agent = "tunable"\nbuckets = {"9" * 5000}', "a number is too long"),
        ('agent = "tunable"\nspeed = inf', "it takes buckets, style"),
        ('agent = "tunable"\nstyle = 3', "style = 3: write text"),
        ('agent = "tunable"\ngame = "chess"', 'game = .chess.: write "limit" or'),
        ('agent = "tunable"\ngame = "nolimit"', "tunable plays limit games: leave game out"),
        ('agent = "tunable"\nabout = 3', "about = 3: write text"),
        (f"agent = {'[' * 3000}", "is not TOML"),
        ("buckets = 8", "names no agent"),
        ("agent = 3", "names no agent"),
        ("agent = ", "is not TOML"),
    ],
)
def test_a_wrong_toml_file_is_refused_with_the_cure(tunable, tmp_path, text, sentence):
    path = tmp_path / "agent.toml"
    path.write_text(text)
    with pytest.raises(EquipoiseError, match=sentence):
        make_agent(path, LIMIT_HOLDEM)


@pytest.mark.parametrize(
    ("name", "settings", "sentence"),
    [
        ("odd-sizes", {"fold_one_in": 0}, "fold_one_in = 0: give 1 or more"),
        ("odd-sizes", {"raise_share": 2.0}, "raise_share = 2: give 0 to 1"),
        ("bucket", {"table": [[0.0, float("inf"), 0.0]]}, "one row of fold, call and raise"),
        ("bucket", {"table": [["a", "b", "c"]]}, "one row of fold, call and raise"),
        ("bucket", {"table": [3]}, "one row of fold, call and raise"),
        ("bayes", {"evidence": float("inf")}, "evidence = inf: write a number"),
        ("votes", {"training": 10**12}, "training and teacher .* at most 10,000,000"),
        ("q-learner", {"training": 10**12}, "training is 0 hands .* at most 10,000,000"),
        ("regret", {"buckets": 6}, "regret has no parameter 'buckets'"),
        ("regret", {}, "trained for one-bet limit hold'em"),
    ],
)
def test_parameters_that_make_no_agent_are_refused(name, settings, sentence):
    rules = NOLIMIT_HOLDEM if name == "odd-sizes" else LIMIT_HOLDEM
    with pytest.raises(EquipoiseError, match=sentence):
        make_agent(name, rules, **settings)


def test_a_missing_file_and_an_unknown_name_are_refused(tmp_path):
    with pytest.raises(EquipoiseError, match="cannot be read"):
        make_agent(tmp_path / "none.toml")
    with pytest.raises(EquipoiseError, match="cannot be read"):
        make_agent("none\0.toml")
    with pytest.raises(EquipoiseError, match="no agent"):
        make_agent("call\0")
    with pytest.raises(EquipoiseError, match="no agent 'zzz': choose from random"):
        make_agent("zzz")


def test_other_packages_add_agents(monkeypatch, another_package):
    another_package(
        """
        from equipoise.agents.registry import AgentEntry
        from equipoise.agents.simple import CallAgent

        class Plain(CallAgent):
            "Calls, plainly."

        listed = AgentEntry("said", "another:Plain", "limit", "says more", cost="2 µs")
        """,
        {
            registry.GROUP: {
                "plain": "another:Plain",
                "said": "another:listed",
                "call": "another:Plain",
                "broken": "no_such_module:Thing",
            }
        },
    )
    entries.cache_clear()
    try:
        found = entries()
        assert found["plain"].description == "Calls, plainly."
        assert found["said"].cost == "2 µs"
        assert found["call"] is AGENTS["call"]
        assert "cannot be loaded" in found["broken"].description
        assert type(make_agent("plain")).__name__ == "Plain"
        with pytest.raises(EquipoiseError, match="cannot be loaded"):
            make_agent("broken")
    finally:
        entries.cache_clear()


def test_the_list_alone_loads_nothing_heavy():
    code = (
        "import sys, equipoise.agents.registry as r; r.entries(); "
        "print([m for m in ('numba', 'scipy', 'matplotlib') if m in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


@pytest.mark.parametrize(
    "name", ["9" * 5000, "9" * 5000 + ".run", "a/" * 3000, "nul\0", "nul\0.run"]
)
def test_a_blueprint_that_no_file_can_be_called_is_not_there(tmp_path, name):
    assert not has_blueprint(name)
    file = tmp_path / "mine.toml"
    file.write_text(toml_text({"agent": "blueprint", "blueprint": name}), encoding="utf-8")
    with pytest.raises(EquipoiseError, match="blueprint") as caught:
        make_agent(file)
    assert len(str(caught.value)) < 1000


JAM = """
import equipoise as eq


class Jam(eq.Agent):
    \"All-in, always.\"

    def act(self, view: eq.View) -> eq.Action:
        legal = view.state.legal()
        return eq.raise_to(legal.raise_max) if legal.raise_max else eq.CALL
"""


def test_an_agent_from_a_file(tmp_path):
    path = tmp_path / "bots.py"
    path.write_text(JAM)
    recipe = AgentSpec.read(f"{path}:Jam")
    assert (recipe.name, recipe.entry.game, recipe.entry.description) == (
        "Jam", "both", "All-in, always.")  # fmt: skip
    assert type(recipe.make()).__name__ == "Jam"
    # The only agent of a file need not be named.
    assert type(make_agent(path)).__name__ == "Jam"
    path.write_text(JAM + "\n\nclass Calm(Jam):\n    name = 'calm'\n    def __init__(self, x: int = 3):\n"
                          "        super().__init__()\n        self.x = 1 / x\n")  # fmt: skip
    assert AgentSpec.read(f"{path}:Calm").name == "calm"
    assert make_agent(f"{path}:Calm", x=2).x == 0.5
    with pytest.raises(EquipoiseError, match=r"bots\.py, line \d+: ZeroDivisionError"):
        make_agent(f"{path}:Calm", x=0)
    with pytest.raises(EquipoiseError, match=r"bots\.py has 2 agents: name one, .*bots\.py:Jam"):
        make_agent(path)
    with pytest.raises(EquipoiseError, match=r"has no 'Jan': did you mean 'Jam'\?"):
        make_agent(f"{path}:Jan")
    with pytest.raises(EquipoiseError, match=r"eq is no agent: write class eq\(eq\.Agent\)"):
        make_agent(f"{path}:eq")
    with pytest.raises(EquipoiseError, match="Jam has no parameter 'speed'"):
        make_agent(f"{path}:Jam", speed=3)


def test_a_file_without_an_agent_and_one_that_fails_are_refused(tmp_path):
    path = tmp_path / "bots.py"
    path.write_text("import equipoise as eq\n")
    with pytest.raises(EquipoiseError, match=r"has no agents: write class Mine\(eq\.Agent\)"):
        make_agent(path)
    path.write_text("import equipoise as eq\n\nclass Bad(eq.Agnet):\n    pass\n")
    with pytest.raises(EquipoiseError, match=r"bots\.py, line 3: AttributeError: .*'Agnet'"):
        make_agent(f"{path}:Bad")
    path.write_text("import equipoise as eq\n\nclass Bad(eq.Agent):\n    pass\n")
    with pytest.raises(EquipoiseError, match=r"Bad cannot be made so: .*act"):
        make_agent(f"{path}:Bad")


def test_no_toml_file_has_a_file_run(tmp_path):
    (tmp_path / "bots.py").write_text("raise SystemExit('it was run')\n")
    told = tmp_path / "bot.toml"
    told.write_text(f'agent = "{tmp_path}/bots.py:Jam"\n')
    with pytest.raises(EquipoiseError, match=r"no TOML file has Python run: name .*bots.py:Jam it"):
        make_agent(told)
