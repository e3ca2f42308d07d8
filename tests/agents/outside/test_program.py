"""Programs as agents: the examples of the docs play, and what can go wrong is a fault."""

from __future__ import annotations

import os
import re
import shutil
import sys
from pathlib import Path

import pytest

from equipoise.agents.outside.telling import read_decision
from equipoise.agents.registry import AgentSpec
from equipoise.arena.match import play_match
from equipoise.errors import EquipoiseError, ProtocolError
from equipoise.games.rules import CALL, FOLD, LIMIT_HOLDEM, NOLIMIT_HOLDEM, State, raise_to

DOCS = Path(__file__).parents[3] / "docs" / "bots.md"


def _example(language):
    """The bot that the docs show in a language."""
    found = re.search(rf"```{language}\n((?:#|//) mybot\..*?)```", DOCS.read_text("utf-8"), re.S)
    assert found
    return found[1]


def _agent(folder, source, *, seconds=5.0, name="mybot", **more):
    """A TOML file for a Python program."""
    (folder / "bot.py").write_text(source)
    settings = "".join(f"{key} = {value}\n" for key, value in more.items())
    file = folder / f"{name}.toml"
    file.write_text(
        f'agent = "program"\nname = "{name}"\ncommand = ["{sys.executable}", "-u", "bot.py"]\n'
        f"seconds = {seconds}\n{settings}"
    )
    return file


@pytest.mark.parametrize("rules", [NOLIMIT_HOLDEM, LIMIT_HOLDEM], ids=["nolimit", "limit"])
def test_the_python_example_of_the_docs_plays(tmp_path, rules):
    source = _example("python")
    assert len(source.strip().splitlines()) <= 15
    match = play_match(_agent(tmp_path, source), "random", rules, hands=40, seed=1)
    assert not match.faults
    assert match.payoffs.any()


@pytest.mark.skipif(shutil.which("node") is None, reason="needs node")
def test_the_javascript_example_of_the_docs_plays(tmp_path):
    source = _example("javascript")
    assert len(source.strip().splitlines()) <= 15
    (tmp_path / "mybot.js").write_text(source)
    file = tmp_path / "js.toml"
    file.write_text('agent = "program"\ncommand = ["node", "mybot.js"]\n')
    twin = _agent(tmp_path, _example("python"))
    assert not play_match(file, "random", hands=20, seed=1).faults
    # Both examples play alike.
    one, two = (play_match(agent, "random", hands=20, seed=1) for agent in (file, twin))
    assert one.payoffs.tolist() == two.payoffs.tolist()


_ALWAYS = """
import json, sys
for line in sys.stdin:
    if json.loads(line)["type"] == "act":
        {answer}
"""


@pytest.mark.parametrize(
    ("answer", "reason"),
    [
        ("pass", "gave no answer within 0.2 s"),
        ("print('I call', flush=True)", "is no JSON"),
        ('print(\'{"action": "jump"}\', flush=True)', "action = 'jump'"),
        ("sys.exit(3)", "ended with code 3"),
        ('print(\'{"action": "raise", "amount": 7}\', flush=True)', "cannot raise to 7"),
        ("sys.stdout.write('{}\\n{}\\n'); sys.stdout.flush()", "more than one line"),
    ],
)
def test_what_goes_wrong_is_a_fault_and_the_match_goes_on(tmp_path, answer, reason):
    agent = _agent(tmp_path, _ALWAYS.format(answer=answer), seconds=0.2)
    match = play_match(agent, "call", hands=2, seed=1)
    assert reason in match.faults[0].reason
    assert all(fault.seat == 0 for fault in match.faults)
    # In place of its answers it checks, and folds where it would have to call.
    fold = play_match("fold", "call", hands=2, seed=1)
    assert match.payoffs.tolist() == fold.payoffs.tolist()


def test_a_program_is_told_of_match_hands_and_results(tmp_path):
    source = """
import json, sys
told = open("told.jsonl", "a")
for line in sys.stdin:
    told.write(line), told.flush()
    if json.loads(line)["type"] == "act":
        print('{"action": "call"}', flush=True)
"""
    agent = AgentSpec.read(_agent(tmp_path, source)).make()
    play_match(agent, "call", hands=2, seed=1)
    agent.close()
    lines = (tmp_path / "told.jsonl").read_text().splitlines()
    kinds = [re.search(r'"type": "(\w+)"', line)[1] for line in lines]
    assert kinds[:2] == ["match", "hand"]
    assert kinds.count("hand") == kinds.count("result") == 2
    assert '"opponent": ["' in lines[kinds.index("result")]


def test_a_program_ends_with_its_agent(tmp_path):
    agent = AgentSpec.read(
        _agent(tmp_path, _ALWAYS.format(answer='print(\'{"action": "call"}\', flush=True)'))
    ).make()
    play_match(agent, "call", hands=2, seed=1)
    process = agent._running._process.pid
    os.kill(process, 0)
    agent.close()
    with pytest.raises(ProcessLookupError):
        os.kill(process, 0)


def test_answers_are_read_strictly():
    start, faced = State.start(NOLIMIT_HOLDEM), State.from_betting_text(NOLIMIT_HOLDEM, "r300")
    assert read_decision(' {"action": "fold"}\n', start) == FOLD
    assert read_decision('{"action": "check"}', start.apply(CALL)) == CALL
    assert read_decision('{"action": "all-in"}', start) == raise_to(20_000)
    assert read_decision('{"action": "raise"}', State.start(LIMIT_HOLDEM)) == raise_to(20)
    for text in (
        "", "null", "[]", "3", '{"action": "raise"}', '{"action": "raise", "amount": 300.0}',
        '{"action": "raise", "amount": true}', '{"action": "call", "amount": 3}',
        '{"action": "check"}', '{"action": "fold", "why": "bad cards"}', '{"action": ["fold"]}',
        "[" * 100_000, '{"action": "raise", "amount": 1e400}',
    ):  # fmt: skip
        with pytest.raises(ProtocolError):
            read_decision(text, faced)


def test_settings_are_checked(tmp_path):
    for text, told in (
        ('agent = "program"', "command is empty"),
        ('agent = "program"\ncommand = "./bot"', "command = './bot': write words in brackets"),
        ('agent = "program"\ncommand = ["x"]\nseconds = 0', "seconds"),
        ('agent = "chat"', "name a server"),
        ('agent = "chat"\naddress = "ftp://x"', "name a server"),
        ('agent = "chat"\naddress = "http://x"\nkey_variable = "NOT_SET_AT_ALL"', "NOT_SET_AT_ALL"),
    ):
        file = tmp_path / "agent.toml"
        file.write_text(text)
        with pytest.raises(EquipoiseError, match=re.escape(told)):
            AgentSpec.read(file).make()
    file.write_text('agent = "program"\ncommand = ["./there-is-none"]\n')
    match = play_match(file, "call", hands=2)
    assert "cannot be started" in match.faults[0].reason
