"""Games and solvers of other packages; Python files that are run by name."""

import pickle
import subprocess
import sys

import pytest

from equipoise.errors import EquipoiseError, GameError, SolverError
from equipoise.games import catalogue
from equipoise.plugins import load_file, module_name
from equipoise.run import Limit
from equipoise.solve import registry

GAME = """
    from equipoise.games.game import Game
    from equipoise.games.library.leduc import leduc

    def tiny(max_raises: int = 1) -> Game:
        "Leduc with few raises."
        return leduc(max_raises=max_raises)

    def untold(max_raises):
        return leduc(max_raises=max_raises)
"""


def test_other_packages_add_games(another_package):
    points = {"tiny": "another:tiny", "untold": "another:untold", "kuhn": "another:tiny",
              "broken": "another:nothing"}  # fmt: skip
    another_package(GAME, {catalogue.GROUP: points})
    assert catalogue.names()[-3:] == ("tiny", "untold", "broken")
    listed = catalogue.listing("tiny")
    assert listed.description == "Leduc with few raises."
    assert listed.parameters["max_raises"].default == 1
    assert catalogue.game("tiny", max_raises="2").name == "leduc"
    # Ours keep their names.
    assert catalogue.game("kuhn").name == "kuhn"
    with pytest.raises(EquipoiseError, match=r"the game 'broken' of another package cannot be l"):
        catalogue.game("broken")
    with pytest.raises(GameError, match=r"'untold'.*annotation"):
        catalogue.game("untold")
    with pytest.raises(GameError, match="did you mean 'tiny'"):
        catalogue.game("tinny")


def test_other_packages_add_solvers(another_package):
    code = """
        from equipoise.solve.solvers.cfr import CFRPlus

        class Mine(CFRPlus):
            "Regret matching plus, mine."
            name = "mine"
    """
    points = {"mine": "another:Mine", "odd": "another:__name__", "broken": "no_such_module:X"}
    another_package(code, {registry.GROUP: points})
    assert registry.names()[-3:] == ("mine", "odd", "broken")
    solver = registry.make_solver("mine", catalogue.kuhn())
    assert solver.run(Limit(iterations=20)).done == 20
    with pytest.raises(SolverError, match="'odd' of another package is no subclass"):
        registry.solver_class("odd")
    with pytest.raises(EquipoiseError, match="'broken' of another package cannot be loaded"):
        registry.solver_class("broken")


def test_a_file_becomes_a_module_that_other_processes_find_by_name(tmp_path):
    path = tmp_path / "odd.name.py"
    path.write_text("import beside\n\nclass Thing:\n    value = beside.VALUE\n")
    (tmp_path / "beside.py").write_text("VALUE = 7\n")
    thing = load_file(path).Thing()
    assert thing.value == 7
    code = (
        "import pickle, sys, equipoise.plugins\n"
        f"sys.path.append({str(tmp_path)!r})\n"
        "print(pickle.loads(sys.stdin.buffer.read()).value)"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], input=pickle.dumps(thing), capture_output=True, check=True
    )
    assert done.stdout.strip() == b"7"


def test_files_of_one_name_are_two_modules_and_a_changed_file_is_run_again(tmp_path):
    paths = [tmp_path / folder / "bot.py" for folder in ("old", "new")]
    for number, path in enumerate(paths):
        path.parent.mkdir()
        path.write_text(f"VALUE = {number}\n")
    assert [load_file(path).VALUE for path in paths] == [0, 1]
    assert load_file(paths[0]) is load_file(paths[0])
    assert module_name(paths[0]) != module_name(paths[1])
    paths[0].write_text("VALUE = 'another'\n")
    assert load_file(paths[0]).VALUE == "another"


@pytest.mark.parametrize(
    ("code", "said"),
    [
        ("x = 1\ndef broken(:\n", r"bot\.py, line 2: SyntaxError: "),
        ("x = 1\n\ny = z\n", r"bot\.py, line 3: NameError: name 'z' is not defined"),
        ("import no_such_thing\n", r"bot\.py, line 1: ModuleNotFoundError: No module"),
        ("import sys\nsys.exit(3)\n", r"bot\.py, line 2: SystemExit: 3"),
        ("\0", r"bot\.py"),
    ],
)
def test_what_is_wrong_in_a_file_is_told_with_its_line(tmp_path, code, said):
    path = tmp_path / "bot.py"
    path.write_text(code)
    with pytest.raises(EquipoiseError, match=said):
        load_file(path)


@pytest.mark.parametrize("name", ["none.py", "", "no\0.py"])
def test_a_file_that_is_not_there_is_refused(tmp_path, name):
    with pytest.raises(EquipoiseError, match="cannot be read"):
        load_file(f"{tmp_path}/{name}")
