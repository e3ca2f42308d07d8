"""What every command draws with: users' texts appear as they are."""

import io

import pytest
from rich.console import Console
from typer.testing import CliRunner

from equipoise.cli import app, output

runner = CliRunner()
NAMES = ("[/p1]", "[bold]", "\\[x]")


def shown(*words, **settings) -> str:
    done = runner.invoke(app, [str(word) for word in words], catch_exceptions=False, **settings)
    assert done.exit_code == 0
    return done.stdout


@pytest.fixture(params=NAMES)
def agent(request, tmp_path):
    """An agent's file, and the name it gives."""
    path = tmp_path / "agent.toml"
    path.write_text(f"agent = 'call'\nname = '{request.param}'\n")
    return path, request.param


def test_an_agents_name_may_look_like_markup(agent):
    path, name = agent
    assert f"{name} wins" in shown("match", path, "fold", "--hands", 4)
    assert name in shown("tournament", path, "fold", "--hands", 4)
    assert name in shown("lbr", path, "--hands", 4)
    told = shown("play", "--agent", path, "--hands", 1, "--seed", 1, input="c\n" * 5)
    assert f"against {name}" in told
    assert f"{name} shows" in told


@pytest.mark.parametrize("name", NAMES[:2])
def test_a_players_name_may_look_like_markup(name, tmp_path):
    log = tmp_path / "match.log"
    log.write_text(f"STATE:0:f:Ah8s|2h4c:50|-50:{name}|bob\n")
    told = shown("history", log)
    assert told.count(name) == 3


def test_a_label_of_a_bar_may_look_like_markup(monkeypatch):
    drawn = io.StringIO()

    def terminal(stderr: bool) -> Console:
        return Console(file=drawn, force_terminal=True, markup=False)

    monkeypatch.setattr(output.sys.stderr, "isatty", lambda: True, raising=False)
    monkeypatch.setattr(output, "terminal", terminal)
    with output.progress_bar("[/p1] v [x]", quiet=False) as report:
        report(1, 2, "[/note]")
    assert "[/p1] v [x]" in drawn.getvalue()
    assert "[/note]" in drawn.getvalue()
