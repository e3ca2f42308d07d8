"""A person at the table, driven by a script."""

import subprocess
import sys

import pytest
from typer.testing import CliRunner

from equipoise.agents.human import HumanAgent, LeaveTable, action_words, offers, read_answer
from equipoise.agents.simple import AllInAgent, CallAgent
from equipoise.arena.duel import Duel
from equipoise.cli import app
from equipoise.games.dealing import SeededDeals
from equipoise.games.rules import CALL, FOLD, LIMIT_HOLDEM, NOLIMIT_HOLDEM, State, raise_to

runner = CliRunner()


def after(betting: str, rules=NOLIMIT_HOLDEM) -> State:
    return State.from_betting_text(rules, betting)


class Terminal:
    """Types the given lines, then ends; keeps what was shown."""

    def __init__(self, *lines: str):
        self.lines, self.shown, self.prompts = list(lines), [], []

    def ask(self, prompt: str) -> str:
        self.prompts.append(prompt)
        if not self.lines:
            raise EOFError
        return self.lines.pop(0)

    def text(self) -> str:
        return "\n".join(self.shown)


def sit(terminal: Terminal, opponent, hands: int, rules=NOLIMIT_HOLDEM) -> HumanAgent:
    human = HumanAgent(terminal.ask, terminal.shown.append, opponent="bot")
    duel = Duel(rules, (human, opponent), 1)
    duel.reset()
    for hand in range(hands):
        duel.play(SeededDeals(rules, 1).deal(hand), hand, hand & 1)
    assert not duel.faults
    return human


@pytest.mark.parametrize(
    ("betting", "typed", "action"),
    [
        ("", "f", FOLD),
        ("", " Fold ", FOLD),
        ("", "c", CALL),
        ("c", "check", CALL),
        ("", "r 300", raise_to(300)),
        ("", "r300", raise_to(300)),
        ("", "raise to 1,000", raise_to(1000)),
        ("", "300", raise_to(300)),
        ("", "all-in", raise_to(20000)),
        ("", "a", raise_to(20000)),
        # After the flop sizes are this round's chips.
        ("r300c/", "b 300", raise_to(600)),
        ("r300c/r600", "r 900", raise_to(1200)),
        ("r300c/", "r 19700", raise_to(20000)),
    ],
)
def test_answers_are_read(betting, typed, action):
    assert read_answer(after(betting), typed) == action


@pytest.mark.parametrize(
    ("betting", "typed", "sentence"),
    [
        ("c", "f", "nothing to fold"),
        ("", "r", "how much"),
        ("", "r 150", "raise to 200–20,000"),
        ("r300c/", "r 20000", "raise to 100–19,700"),
        ("r20000", "r 30000", "no raise"),
        ("r20000", "a", "no raise"),
        ("", "", "f folds"),
        ("", "hello", "f folds"),
        ("", "f 3", "f folds"),
        # A check never costs chips, least of all everything.
        ("", "x", "there is a bet of 50 to call: [f]old, [c]all 50, [r]aise to 200–20,000"),
        ("r20000", "check", "there is a bet of 19,900 to call: [f]old, [c]all 19,900"),
        ("r300c/r600", " K ", "there is a bet of 300 to call"),
        ("", "r " + "9" * 5000, "raise to 200–20,000"),
        ("", "9" * 5000, "raise to 200–20,000"),
    ],
)
def test_wrong_answers_get_a_sentence(betting, typed, sentence):
    told = read_answer(after(betting), typed)
    assert sentence in told
    assert len(told) < 200


@pytest.mark.parametrize("typed", ["c", "x", "k", "check", "call"])
def test_a_free_check_has_many_names(typed):
    assert read_answer(after("c"), typed) == CALL


def test_limit_raises_need_no_size():
    assert read_answer(after("", LIMIT_HOLDEM), "r") == raise_to(20)
    assert read_answer(after("cc/", LIMIT_HOLDEM), "r 10") == raise_to(20)
    assert "raise to 10" in read_answer(after("cc/", LIMIT_HOLDEM), "r 15")
    assert isinstance(read_answer(after("cc/", LIMIT_HOLDEM), "a"), str)


def test_words_for_actions_and_offers():
    assert action_words(after("c"), raise_to(300)) == "raises to 300"
    assert action_words(after("r300c/"), raise_to(600)) == "bets 300"
    assert action_words(after("r300c/r600"), raise_to(20000)) == "raises to 19,700, all-in"
    assert action_words(after("r300c/r600"), CALL) == "calls 300"
    assert action_words(after("r300c/"), CALL) == "checks"
    assert offers(after("r300c/")) == "[c]heck, [r] bet 100–19,700, [a]ll-in"
    assert offers(after("r20000")) == "[f]old, [c]all 19,900"
    assert offers(after("", LIMIT_HOLDEM)) == "[f]old, [c]all 5, [r]aise to 20"


def test_a_hand_is_told_and_scored():
    terminal = Terminal("c", "r 300", "nonsense", "c", "c")
    human = sit(terminal, CallAgent(), hands=1)
    text = terminal.text()
    assert "hand 1 · you are out of position" in text
    assert "bot calls 50" in text
    assert "bot calls 300" in text
    assert "f folds" in text
    assert text.count("flop:") == text.count("turn:") == text.count("river:") == 1
    assert "you show" in text
    assert "bot shows" in text
    assert human.hands == 1
    assert abs(human.chips) in (0, 400)
    assert f"{human.chips:+,.6g} chips" in text
    assert len(terminal.prompts) == 5


def test_the_run_out_of_an_all_in_is_shown():
    terminal = Terminal("c")
    human = sit(terminal, AllInAgent(), hands=1)
    assert "bot raises to 20,000, all-in" in terminal.text()
    assert "river:" in terminal.text()
    assert abs(human.chips) in (0, 20000)


def test_opponents_cards_stay_hidden_after_a_fold():
    terminal = Terminal("f", "f")
    human = sit(terminal, AllInAgent(), hands=2)
    assert human.chips == -150
    assert "shows" not in terminal.text()
    assert "-750 mbb/hand" in terminal.text()


@pytest.mark.parametrize("lines", [("c", "q"), ("c",), ("quit",)])
def test_leaving_is_no_fault(lines):
    with pytest.raises(LeaveTable):
        sit(Terminal(*lines), CallAgent(), hands=5)


def test_limit_has_no_stacks_to_show():
    terminal = Terminal("r", "r", "r", "r")
    human = sit(terminal, CallAgent(), 1, LIMIT_HOLDEM)
    assert "left" not in terminal.text()
    assert abs(human.chips) in (0, 70)


def test_the_command_ends_with_the_score_when_input_ends():
    # Features of the default opponent's buckets on all boards take half a minute where none are kept.
    words = ["play", "--agent", "quick", "--seed", "1"]
    line = [sys.executable, "-c", "from equipoise.cli import main; main()", *words]
    done = subprocess.run(line, input="c\n", capture_output=True, text=True, timeout=600)
    assert done.returncode == 0
    assert "score after" in done.stdout.splitlines()[-1]
    # On a new machine it says what it makes and compiles, once.
    said = ("Making ", "Compiling kernels ")
    assert all(line.startswith(said) for line in done.stderr.splitlines())


def test_the_command_plays_so_many_hands():
    words = ["play", "--limit", "--agent", "call", "--hands", "2", "--seed", "1"]
    done = runner.invoke(app, words, input="c\n" * 8, catch_exceptions=False)
    assert done.exit_code == 0
    assert "score after 2 hands" in done.stdout
    assert "♠" in done.stdout or "♥" in done.stdout or "♦" in done.stdout


def test_the_tour_is_still_there():
    done = runner.invoke(app, ["play", "--tour"], catch_exceptions=False)
    assert done.exit_code == 0
    assert "royal flush" in done.stdout
