"""Recipes: those that ship are read and written back; what is wrong is told in a sentence."""

from __future__ import annotations

import pytest

from equipoise.abstraction import methods
from equipoise.errors import EquipoiseError, GameError, RecipeError
from equipoise.games.betting import measure
from equipoise.solve.recipe import Recipe, names
from equipoise.solve.trainingmodel import TrainingEstimate

TINY = """
name = "tiny"

[rules]
game = "nolimit"
stack = 2000

[menu]
bets = "100%,a"
max_raises = 2

[abstraction]
method = "equity"
count = 3

[model]
boards = 150

[solver]
name = "dcfr"

[limit]
iterations = 10
"""


@pytest.mark.parametrize("name", names())
def test_recipes_that_ship_round_trip(name: str) -> None:
    recipe = Recipe.shipped(name)
    again = Recipe.from_toml(recipe.toml())
    assert again == recipe
    assert again.fingerprint == recipe.fingerprint
    assert recipe.name == name
    assert recipe.about


def test_the_recipes_of_the_papers() -> None:
    counts = {name: methods.bucket_counts(Recipe.shipped(name).abstraction) for name in names()}
    assert counts["tartanian5"] == (8, 96, 384, 1536)
    assert counts["tartanian4"] == (12, 300, 1800, 10800)
    assert counts["inot"] == (169, 150, 100, 75)
    large = Recipe.shipped("tartanian5")
    assert measure(large.rules, large.menu).total >= 60_000
    small = Recipe.shipped("tartanian5-m")
    assert measure(small.rules, small.menu).total == 15_949
    assert large.rules.stacks == (20_000, 20_000)
    assert not Recipe.shipped("sampled").model.judge


def test_limits_and_names_do_not_change_what_is_trained() -> None:
    recipe = Recipe.from_toml(TINY)
    assert recipe.limited(minutes=3).fingerprint == recipe.fingerprint
    assert recipe.seeded(3).fingerprint != recipe.fingerprint
    assert recipe.limited() is recipe


@pytest.mark.parametrize(
    ("old", "new", "told"),
    [
        ('name = "tiny"', "", "name: a recipe needs it"),
        ('name = "tiny"', 'name = "a/b"', "without / in it"),
        ("[limit]", "[limits]", "did you mean 'limit'"),
        ("iterations = 10", "iteratons = 10", "did you mean 'limit.iterations'"),
        ("iterations = 10", "iterations = 0", "limit.iterations = 0: give more than 0"),
        ("iterations = 10", 'iterations = "ten"', "write a whole number"),
        ("iterations = 10", "checkpoint_minutes = 1", "give minutes, iterations or target_bb"),
        ("boards = 150", "bords = 150", "did you mean 'model.boards'"),
        ("boards = 150", 'boards = "some"', 'or "all"'),
        ("boards = 150", 'kind = "jiont"', "did you mean 'joint'"),
        ("boards = 150", 'kind = "cards"', 'go with the solver "cards"'),
        ("boards = 150", 'kind = "independent"', "remembers past buckets"),
        ("boards = 150", 'classes = "flop"', "classes of boards go with"),
        ("boards = 150", "judge = -1", "model.judge"),
        ('name = "dcfr"', 'name = "dcrf"', "did you mean 'dcfr'"),
        ('name = "dcfr"', 'name = "dcfr"\nalfa = 1.5', "did you mean 'solver.alpha'"),
        ('name = "dcfr"', "alpha = 1.5", "solver.name: choose from"),
        ('name = "dcfr"', 'name = "fp"\nstart = -3', "solver.start = -3: give 0 or more"),
        ('method = "equity"', 'method = "equty"', "did you mean 'equity'"),
        ('method = "equity"', "", "abstraction.method: choose from"),
        ("count = 3", 'count = "3"', "abstraction.count = '3': write a whole number"),
        ("count = 3", "remembers = false", "forgets past buckets"),
        ('game = "nolimit"', 'game = "nolimt"', "did you mean 'nolimit'"),
        ('game = "nolimit"', 'game = "limit"', "limit is played without stacks"),
        ('game = "nolimit"', 'game = "nolimit"\nstak = 3', "did you mean 'rules.stack'"),
        ('bets = "100%,a"', 'bts = "100%,a"', "did you mean 'bets'"),
        ('bets = "100%,a"', 'bets = "100"', "a size needs a unit"),
        ("[rules]", "[rules", "not TOML"),
    ],
)
def test_what_is_wrong_is_told(old: str, new: str, told: str) -> None:
    assert old in TINY
    with pytest.raises((RecipeError, GameError)) as caught:
        Recipe.from_toml(TINY.replace(old, new, 1))
    assert told in str(caught.value)
    assert "\n" not in str(caught.value) or "TOML" in str(caught.value)


def test_files_that_are_not_there_or_not_text(tmp_path) -> None:
    with pytest.raises(RecipeError, match="cannot be read"):
        Recipe.load(tmp_path / "none.toml")
    (tmp_path / "odd.toml").write_bytes(b"\xff\xfe\x00")
    with pytest.raises(RecipeError, match="not a text file"):
        Recipe.load(tmp_path / "odd.toml")
    (tmp_path / "bad.toml").write_text(TINY.replace("boards", "bords"))
    with pytest.raises(RecipeError, match=r"bad\.toml: unknown key 'model\.bords'"):
        Recipe.load(tmp_path / "bad.toml")
    with pytest.raises(RecipeError, match="did you mean 'quick'"):
        Recipe.load("quik")


def test_what_does_not_fit_is_refused(tmp_path) -> None:
    estimate = TrainingEstimate.of(Recipe.from_toml(TINY))
    estimate.check(tmp_path)
    assert str(estimate).startswith(f"{estimate.nodes:,} betting nodes, 3-9-27-81 buckets")
    huge = TrainingEstimate.of(
        Recipe.from_toml(
            TINY.replace('"100%,a"\nmax_raises = 2', '"50%,100%,a"').replace("2000", "20000")
            .replace('method = "equity"\ncount = 3',
                     'method = "potential-aware"\nbranching = [160, 10, 5, 8]')
        )
    )  # fmt: skip
    with pytest.raises(EquipoiseError, match="use fewer buckets or bet sizes"):
        huge.check(tmp_path)
