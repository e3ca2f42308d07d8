"""The command line: answers, JSON, and one sentence with exit code 2 for bad input."""

import errno
import json
import os
import subprocess
import sys

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from typer.testing import CliRunner

import equipoise
from equipoise import cli
from equipoise.cli import app
from equipoise.errors import EquipoiseError, RecipeError

runner = CliRunner()


@pytest.fixture
def refused(monkeypatch, capsys):
    """Runs what a process would, to its end: returns the exit code, and what it said."""

    def run(*words: str):
        monkeypatch.setattr(sys, "argv", ["equipoise", *words])
        with pytest.raises(SystemExit) as ended:
            cli.main()
        return ended.value.code, *capsys.readouterr()

    return run


def as_json(*words: str) -> dict:
    done = runner.invoke(app, [*words, "--json"], catch_exceptions=False)
    assert done.exit_code == 0
    return json.loads(done.stdout)


def test_equity_of_a_hand_against_a_range():
    told = as_json("equity", "AsAh", "KK,AQs+", "--board", "Td9d6h")
    assert told["equity"][0] == pytest.approx(0.8388383838)
    assert told["equity"][0] + told["equity"][1] == pytest.approx(1)
    assert told["standard_error"] == 0


def test_equity_by_sampling_is_seeded_and_states_its_error():
    words = ("equity", "AsAh", "KcKd", "--samples", "20000", "--seed", "3")
    first, second = as_json(*words), as_json(*words)
    assert first == second
    assert first["standard_error"] > 0
    assert abs(first["equity"][0] - 0.8126) < 5 * first["standard_error"]


def test_eval_names_the_hand():
    told = as_json("eval", "As", "Ah", "AdKsKh")
    assert told["name"] == "full house, aces over kings"
    assert told["category"] == "full house"


def test_range_counts_combos():
    told = as_json("range", "22+,A2s+")
    assert told["combos"] == 126
    assert told["range"] == "22+,A2s+"


def test_preflop_ranks_hands():
    told = as_json("preflop")
    assert next(iter(told["against_random"])) == "AA"


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (("eval", "Ax"), "'Ax': no suit 'x'"),
        (("eval", "AsAs"), "As appears twice"),
        (("eval", "AsKsQsJsTs9s8s7s"), "8 cards"),
        (("equity", "AsAh", "KK", "--board", "Td9d6hTd"), "Td appears twice"),
        (("equity", "AsAh", "AsKd"), "holds a card"),
        (("range", "AKx"), "AKx"),
        (("range", ""), "range"),
        (("equity", "AA", "--samples", "1000", "--seed", "-1"), "--seed -1: give a whole number"),
        (("equity", "AA", "--seed", str(2**63)), "give a whole number from 0"),
        (("bench", "cards", "--seed", "-1"), "--seed -1: give a whole number"),
        (("range", "AA", "--plot", "a.bmp"), "--plot 'a.bmp': end the name with .png"),
        (("range", "AA", "--plot", "nowhere/a.png"), "there is no folder"),
        (("preflop", "--output", "a.npy"), "add --rebuild"),
        (("preflop", "--rebuild", "--output", "a.npz"), "end the name with .npy"),
        (("abstraction", "build", "quick", "--out", "x.toml"), "end the name with .safetensors"),
        (("abstraction", "refine", "x", "--out", "x"), "end the name with .toml"),
        (("abstraction", "refine", "x", "--plot", "x.png"), "a recipe has no picture"),
        (("reproduce", "translation", "--plot", "x.xls"), "end the name with .png"),
        (("bench", "nothing"), "choose from"),
        (("bench", "cards", "--open", "flop.solution"), "are for `bench web`"),
        (("bench", "web", "--open", "x.solution", "--screenshots", "x"), "or --open"),
        (("bench", "web", "--open", "flop.solution"), "flop.solution: no such file"),
    ],
)
def test_bad_input_is_one_sentence_and_exit_code_2(words, sentence, refused):
    code, out, error = refused(*words)
    assert code == 2
    assert out == ""
    assert sentence in error
    said = [line for line in error.splitlines() if not line.startswith("Compiling")]
    assert len(said) == 1


def test_a_picture_is_replaced_only_when_asked(tmp_path, refused):
    path = tmp_path / "a.png"
    words = ["range", "AA", "--plot", str(path)]
    assert runner.invoke(app, words, catch_exceptions=False).exit_code == 0
    path.write_text("mine")
    code, _, error = refused(*words)
    assert code == 2
    assert "exists: add --overwrite to replace it" in error
    assert path.read_text() == "mine"
    assert runner.invoke(app, [*words, "--overwrite"], catch_exceptions=False).exit_code == 0
    assert path.read_bytes().startswith(b"\x89PNG")


def test_a_picture_on_a_full_disk_is_one_sentence_and_no_file(tmp_path):
    code = (
        "import resource, signal\n"
        "signal.signal(signal.SIGXFSZ, signal.SIG_IGN)\n"
        "resource.setrlimit(resource.RLIMIT_FSIZE, (2000, resource.RLIM_INFINITY))\n"
        "from equipoise.cli import main\n"
        "main()"
    )
    line = [sys.executable, "-c", code, "range", "AA", "--plot", str(tmp_path / "a.png")]
    done = subprocess.run(line, capture_output=True, text=True, timeout=120)
    assert done.returncode == 2
    assert done.stderr == f"equipoise: cannot write {tmp_path / 'a.png'}: File too large\n"
    assert list(tmp_path.iterdir()) == []


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(st.sampled_from(["eval", "range", "equity"]), st.text(max_size=12))
def test_fuzzed_text_never_ends_in_a_traceback(command, text):
    done = runner.invoke(app, [command, "--", text])
    if done.exception is not None:
        assert isinstance(done.exception, EquipoiseError | SystemExit)


def test_help_is_quick_and_every_command_has_an_example():
    top = runner.invoke(app, ["--help"])
    names = [
        line.split()[0]
        for line in top.stdout.split("Commands:")[1].splitlines()
        if line.startswith("  ") and line[2] != " "
    ]
    assert len(names) >= 6
    for name in names:
        assert "Example" in runner.invoke(app, [name, "--help"]).stdout


def test_help_imports_nothing_heavy():
    code = (
        "import sys\nimport equipoise.cli\n"
        "heavy = {'numba', 'numpy', 'scipy', 'matplotlib', 'rich'} & set(sys.modules)\n"
        "print(sorted(heavy))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert done.stdout.strip() == "[]"


def test_the_package_can_be_run():
    line = [sys.executable, "-m", "equipoise"]
    done = subprocess.run([*line, "--version"], capture_output=True, text=True)
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.strip() == equipoise.__version__
    wrong = subprocess.run([*line, "range", "AKx"], capture_output=True, text=True)
    assert wrong.returncode == 2
    assert wrong.stdout == ""
    assert wrong.stderr.count("\n") == 1
    assert "Traceback" not in wrong.stderr


@pytest.mark.parametrize(
    ("error", "sentence"),
    [
        (OSError(errno.ENOSPC, "No space left on device", "/tmp/here"), "/tmp/here: No space left"),
        (OSError(errno.EIO, "Input/output error"), "equipoise: Input/output error"),
        (MemoryError(), "not enough memory"),
        (RecipeError("a\nb"), "equipoise: a b"),
    ],
)
def test_what_the_system_refuses_is_one_sentence_too(error, sentence, monkeypatch, capsys):
    def fail(words):
        raise error

    monkeypatch.setattr(cli, "app", fail)
    with pytest.raises(SystemExit) as ended:
        cli.main()
    assert ended.value.code == 2
    told = capsys.readouterr().err
    assert sentence in told
    assert told.count("\n") == 1


def test_first_use_says_that_kernels_are_compiled(tmp_path):
    environment = dict(os.environ, NUMBA_CACHE_DIR=str(tmp_path))
    line = [sys.executable, "-c", "from equipoise.cli import main; main()", "eval", "AsKsQsJsTs"]
    cold = subprocess.run(line, capture_output=True, text=True, env=environment)
    assert cold.stderr.count("Compiling kernels") == 1
    assert "royal flush" in cold.stdout
    warm = subprocess.run(line, capture_output=True, text=True, env=environment)
    assert warm.stderr == ""
