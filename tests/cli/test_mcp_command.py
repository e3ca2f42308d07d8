"""The tools for language models, asked by the SDK's own client, in a process of their own."""

from __future__ import annotations

import asyncio
import os
import sys

import pytest
from mcp import Client, StdioServerParameters
from mcp.client.stdio import stdio_client

RIVER = """
board = "Td9d6hQc2s"
pot = 100
stack = 200
ranges.oop = "22+,A2s+,KTs+"
ranges.ip = "TT+,AQs+"
menu.bets = "50%,a"
"""
#: A spot that no tool should be allowed to solve.
LARGE = """
board = "Td9d6h"
pot = 100
stack = 10000
ranges.oop = "22+,A2+,K2+,Q2+,J2+,T2+"
ranges.ip = "22+,A2+,K2+,Q2+,J2+,T2+"
menu.bets = "10%,20%,33%,50%,75%,100%,150%,200%,a"
"""


@pytest.fixture(scope="module")
def said(tmp_path_factory):
    """What every tool answers: (is it an error, text, data), by a name for the call."""
    folder = tmp_path_factory.mktemp("solutions")
    (folder.parent / "secret.solution").write_text("not yours")
    answers = {}

    async def visit():
        words = ["-m", "equipoise", "mcp", "--folder", str(folder), "--seconds", "40"]
        command = StdioServerParameters(command=sys.executable, args=words, env=dict(os.environ))
        async with Client(stdio_client(command)) as client:
            tools = await client.list_tools()
            answers["tools"] = sorted(tool.name for tool in tools.tools)

            async def call(name, tool, **arguments):
                told = await client.call_tool(tool, arguments)
                text = "".join(part.text for part in told.content)
                answers[name] = (bool(told.is_error), text, told.structured_content)
                return answers[name][2]

            await call("equity", "equity", first="AsAh", second="KcKd")
            await call("range", "range", text="QQ+, AKs")
            await call("wrong range", "range", text="22+, wrong")
            await call("estimate", "spot_estimate", spot=RIVER)
            await call("solve", "solve", spot=RIVER, max_seconds=10, save_as="river.solution")
            await call("solve again", "solve", spot=RIVER, max_seconds=10, save_as="river.solution")
            await call("large", "solve", spot=LARGE, max_seconds=10)
            await call("budget", "solve", spot=RIVER, max_seconds=100)
            await call("show", "show", file="river.solution", line="check, bet 50")
            await call("escape", "show", file="../secret.solution")
            await call("absolute", "show", file="/etc/passwd")
            await call("act first", "act", action="call")
            await call("file agent", "deal", agent="evil.py:Bot")
            await call("program agent", "deal", agent="program")
            line = "STATE:7:cr300c/cc/cc/cr600c:Ah8s|2h4c/Kd7s2c/9h/3d:600|-600:ann|bob"
            await call("review", "review", hand=line, player="ann", reference="quick")
            await call("no hand", "review", hand="STATE:oops", player="ann", reference="quick")
            hands = []
            for _ in range(3):
                told = await call("deal", "deal", agent="call")
                while told["type"] == "act":
                    await call("illegal", "act", action="raise", amount=1)
                    told = await call("act", "act", action="call" if told["to_call"] else "check")
                hands.append(told)
            answers["hands"] = hands

    asyncio.run(visit())
    return answers


def test_the_tools_are_there(said):
    assert said["tools"] == [
        "act",
        "deal",
        "equity",
        "range",
        "review",
        "show",
        "solve",
        "spot_estimate",
    ]


def test_cards_are_counted(said):
    assert round(said["equity"][2]["equity"][0], 6) == 0.812555
    assert said["range"][2]["combos"] == 22
    assert said["wrong range"][0]
    assert "wrong" in said["wrong range"][1]


def test_spots_are_estimated_solved_kept_and_shown(said):
    assert said["estimate"][2]["memory_mb"] > 0
    assert said["solve"][2]["exploitability_pct_pot"] <= 0.5
    assert said["solve"][2]["saved_as"] == "river.solution"
    assert said["show"][2]["actions"] == ["fold", "call"]
    assert said["show"][2]["player"] == "oop"
    # What is there is not replaced, and what is too large is not begun.
    assert said["solve again"][0]
    assert said["large"][0]
    assert said["budget"][0]
    assert "at most 40" in said["budget"][1]


def test_a_hand_is_reviewed(said):
    error, text, told = said["review"]
    assert not error, text
    assert told["decisions"]
    assert said["no hand"][0]


@pytest.mark.parametrize("name", ["escape", "absolute"])
def test_no_path_leads_out_of_the_folder(said, name):
    error, text, _ = said[name]
    assert error
    assert "outside the folder" in text


def test_hands_are_played(said):
    assert said["act first"][0]
    assert "deal one first" in said["act first"][1]
    assert said["file agent"][0]
    assert said["program agent"][0]
    assert said["illegal"][0]
    assert [hand["position"] for hand in said["hands"]] == [0, 1, 0]
    for hand in said["hands"]:
        assert hand["type"] == "result"
        assert len(hand["board"]) == 5
        assert abs(hand["payoff"]) in (0, 100)
        assert len(hand["agent_held"]) == 2


def test_no_answer_is_a_traceback(said):
    for value in said.values():
        if isinstance(value, tuple):
            assert "Traceback" not in value[1]
