"""`equipoise train` and `equipoise abstraction`: one JSON object, sentences for what is wrong."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest
from tinyrecipe import TINY
from typer.testing import CliRunner

from equipoise.bench import train
from equipoise.cli import app
from equipoise.errors import EquipoiseError
from equipoise.solve.training import model as trainingmodel
from equipoise.solve.training.blueprint import Blueprint
from equipoise.solve.training.recipe import Recipe


@pytest.fixture
def recipe(tmp_path: Path) -> Path:
    path = tmp_path / "tiny.toml"
    path.write_text(TINY)
    return path


def told(*words: object) -> dict:
    result = CliRunner().invoke(app, [*map(str, words), "--json"], catch_exceptions=False)
    assert result.exit_code == 0
    return json.loads(result.stdout)


def refused(*words: object) -> str:
    result = CliRunner().invoke(app, list(map(str, words)))
    assert isinstance(result.exception, EquipoiseError)
    return str(result.exception)


def test_train_and_resume(recipe: Path, tmp_path: Path) -> None:
    out = tmp_path / "run"
    data = told("train", recipe, "--out", out, "--threads", 1)
    assert data["iterations"] == 10
    assert data["exploitability_bb"] > 0
    assert data["blueprint_bytes"] == Path(data["blueprint"]).stat().st_size
    assert [finding["check"] for finding in data["sanity"]["findings"]]
    assert Blueprint.load(data["blueprint"]).facts["iterations"] == data["best_iteration"]
    assert "go on with --resume" in refused("train", recipe, "--out", out)
    more = told("train", recipe, "--out", out, "--resume", "--minutes", 0.004, "--threads", 1)
    assert more["iterations"] > 10
    assert (out / "curve.png").stat().st_size > 1000


@pytest.mark.usefixtures("undrawn")
def test_what_cannot_be_trained(recipe: Path, tmp_path: Path) -> None:
    assert "which recipe?" in refused("train")
    assert "did you mean 'quick'" in refused("train", "quik")
    assert "made otherwise" in refused_after_other_run(recipe, tmp_path)
    assert "holds no run to go on with: did you mean" in refused(
        "train", recipe, "--resume", "--out", tmp_path / "seedde"
    )
    assert not (tmp_path / "seedde").exists()
    replaced = told("train", recipe, "--out", tmp_path / "seeded", "--seed", 4, "--overwrite",
                    "--threads", 1)  # fmt: skip
    assert replaced["iterations"] == 10


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (("--threads", 0), "--threads 0: give 1 to 256"),
        (("--threads", -2), "--threads -2: give 1 to 256"),
        (("--threads", 10**6), "--threads 1000000: give 1 to 256"),
        (("--minutes", -1), "--minutes -1.0: give more than 0"),
        (("--minutes", 0), "--minutes 0.0: give more than 0"),
        (("--minutes", "nan"), "--minutes nan: give more than 0"),
        (("--minutes", "inf"), "--minutes inf: give more than 0"),
        (("--minutes", 1e300), "--minutes 1e+300: give more than 0, at most 1,000,000"),
        (("--target-bb", -0.1), "--target-bb -0.1: give more than 0"),
        (("--target-bb", "nan"), "--target-bb nan: give more than 0"),
        (("--seed", -1), "--seed -1: give a whole number from 0"),
        (("--seed", 2**70), f"--seed {2**70}: give a whole number from 0"),
        (("--resume", "--overwrite"), "choose one"),
        (("--resume",), "holds no run to go on with"),
        (("--out", "/dev/null"), "/dev/null is in use"),
        (("--out", "/dev/null/run"), "cannot make the folder"),
        (("--out", "/proc/run"), "choose another folder with --out"),
        (("--out", "x" * 300), "File name too long"),
    ],
)
def test_wrong_options_are_refused_before_tables_are_made(
    words: tuple, sentence: str, recipe: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    def made(*_: object) -> None:
        raise AssertionError("tables were made")

    monkeypatch.setattr(trainingmodel, "joint_tables", made)
    monkeypatch.chdir(tmp_path)
    assert sentence in refused("train", recipe, *words)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["tiny.toml"]


def test_of_three_runs_in_one_folder_one_succeeds(recipe: Path, tmp_path: Path) -> None:
    code = "from equipoise.cli import main; main()"
    words = ["train", str(recipe), "--out", str(tmp_path / "two"), "--threads", "1", "--json"]
    runs = [
        subprocess.Popen([sys.executable, "-c", code, *words], stdout=subprocess.PIPE,
                         stderr=subprocess.PIPE, text=True)
        for _ in range(3)
    ]  # fmt: skip
    ended = [(*run.communicate(timeout=300), run.returncode) for run in runs]
    assert sorted(status for *_, status in ended) == [0, 2, 2]
    for out, said, status in ended:
        if status:
            assert out == ""
            assert "writes to" in said or "go on with --resume" in said
    assert Blueprint.load(tmp_path / "two" / "blueprint.safetensors").facts["iterations"] > 0


def refused_after_other_run(recipe: Path, tmp_path: Path) -> str:
    out = tmp_path / "seeded"
    told("train", recipe, "--out", out, "--threads", 1)
    return refused("train", recipe, "--out", out, "--seed", 4, "--resume")


@pytest.mark.usefixtures("undrawn")
def test_bench_reads_finished_runs(
    recipe: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    tiny = Recipe.load(recipe)
    monkeypatch.setattr(Recipe, "shipped", lambda name: tiny)
    jobs = (train.Job("tiny", minutes=0.004, targets=((1e6, 1, "paper: 7"), (1e-9, 1, ""))),
            train.Job("tiny", "cfr+", {}, 0.004))  # fmt: skip
    monkeypatch.setattr(train, "QUICK", jobs)
    words = ("bench", "train", "--only", "tiny:own,tiny:cfr+", "--out", tmp_path / "bench")
    data = told(*words)
    names = [found["name"] for found in data["figures"]]
    assert "tiny, dcfr: to 1e+06 bb a hand (paper: 7)" in names
    assert any(name.startswith("tiny, cfr+: best in") for name in names)
    reached = [found["reached"] for found in data["figures"] if "target" in found]
    assert reached == [True, False]
    assert Path(data["pictures"][0]).stat().st_size > 1000
    again = told(*words)
    assert again["figures"] == [found for found in data["figures"] if "cache" not in found["name"]]
    assert "did you mean 'tiny:own'" in refused("bench", "train", "--only", "tiny:on")
    assert "are for `bench train`" in refused("bench", "cards", "--full")
    assert "are for `bench train`" in refused("bench", "cards", "--minutes", "3")
    assert "--minutes 0.0: give more than 0" in refused("bench", "train", "--minutes", "0")


def test_recipes_are_listed() -> None:
    assert {"tartanian5", "inot", "quick"} <= set(told("train", "--list")["recipes"])


def test_a_bad_recipe_is_one_sentence_and_code_2(tmp_path: Path) -> None:
    (tmp_path / "bad.toml").write_text(TINY.replace("boards", "bords"))
    code = "from equipoise.cli import main; main()"
    run = subprocess.run(
        [sys.executable, "-c", code, "train", "bad.toml"],
        cwd=tmp_path,
        capture_output=True,
        text=True,
    )
    assert run.returncode == 2
    assert run.stdout == ""
    assert run.stderr == (
        "equipoise: bad.toml: unknown key 'model.bords': did you mean 'model.boards'?\n"
    )


def test_a_run_begins_with_a_blueprint_of_its_own_game_only(recipe: Path, tmp_path: Path) -> None:
    out = str(tmp_path / "x.run")
    assert "begins from nothing" in refused("train", recipe, "--from", "quick", "--out", out)
    assert "other rules" in refused("train", "flagship", "--from", "quick", "--out", out)
    counted = ("train", "flagship", "--counts-as", "9", "--out", out)
    assert "give it, too" in refused(*counted)
    played = ("--out", out, "--from-played")
    assert "give it, too" in refused("train", "flagship", *played, "purify")
    assert "threshold 0.15" in refused(
        "train", "flagship", "--from", "flagship", *played, "threshold"
    )
    assert "--counts-as" in refused(*counted[:3], "0", "--from", "flagship", "--out", out)
    again = ("--from", "flagship", "--resume", "--out", out)
    assert "not both" in refused("train", "flagship", *again)
    assert "no blueprint" in refused("train", "flagship", "--from", "nobody", "--out", out)
    assert not (tmp_path / "x.run").exists()


def test_abstractions_are_built_and_shown(recipe: Path, tmp_path: Path) -> None:
    file, picture = tmp_path / "buckets.safetensors", tmp_path / "buckets.png"
    built = told("abstraction", "build", recipe, "--out", file, "--plot", picture)
    assert [street["buckets"] for street in built["streets"]] == [3, 9, 27, 81]
    assert built["perfect_recall"]
    assert all(0 < street["explained"] <= 1 for street in built["streets"])
    assert picture.stat().st_size > 1000
    shown = told("abstraction", "show", file, "--street", "flop", "--examples", 1)
    assert shown["fingerprint"] == built["fingerprint"]
    assert len(shown["buckets"]) == 9
    assert sum(bucket["mass"] for bucket in shown["buckets"]) == pytest.approx(1)
    assert shown["buckets"][4]["parent"] == 1
    plain = CliRunner().invoke(app, ["abstraction", "show", str(file)], catch_exceptions=False)
    assert "past buckets remembered" in plain.stdout
    assert "is made already" in refused("abstraction", "build", file)
    assert "write `build`, `show` or `refine`" in refused("abstraction", "look", file)
    assert "choose from preflop" in refused("abstraction", "show", file, "--street", "tern")
    assert "no such file" in refused("abstraction", "show", tmp_path / "none.safetensors")
    (tmp_path / "odd.safetensors").write_bytes(b"nothing of the kind")
    assert "not an Equipoise file" in refused("abstraction", "show", tmp_path / "odd.safetensors")


def test_refining_needs_a_blueprint_and_three_numbers(tmp_path: Path) -> None:
    missing = tmp_path / "none.safetensors"
    assert "no such file" in refused("abstraction", "refine", missing)
    assert "three numbers" in refused("abstraction", "refine", missing, "--more", "1,2")
    assert "`refine`" in refused("abstraction", "polish", "inot")
