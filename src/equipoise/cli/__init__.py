"""The `equipoise` command: a thin layer of Typer over the library.

Command modules import only Typer at the top; what they compute with is imported inside the
function, so that `equipoise --help` answers at once.
"""

from __future__ import annotations

import functools
import os
import sys
from collections.abc import Callable
from typing import Any, NoReturn

import typer

from equipoise.cli.abstraction import abstraction_command
from equipoise.cli.acpc import acpc_command, dealer_command
from equipoise.cli.agents import agents_command
from equipoise.cli.batch import batch_command
from equipoise.cli.bench import bench_command
from equipoise.cli.cache import cache_command
from equipoise.cli.cards import equity_command, eval_command, preflop_command, range_command
from equipoise.cli.game import game_command
from equipoise.cli.history import history_command
from equipoise.cli.match import match_command, tournament_command
from equipoise.cli.measure import endgames_command, lbr_command
from equipoise.cli.play import play_command
from equipoise.cli.reproduce import reproduce_command
from equipoise.cli.search import search_command
from equipoise.cli.serving.mcp import mcp_command
from equipoise.cli.serving.serve import challenge_command, serve_command
from equipoise.cli.serving.web import web_command
from equipoise.cli.solve import solve_command
from equipoise.cli.study.drill import drill_command
from equipoise.cli.study.jamfold import jamfold_command
from equipoise.cli.study.jamfold3 import jamfold3_command
from equipoise.cli.study.report import report_command
from equipoise.cli.study.review import review_command
from equipoise.cli.study.show import show_command
from equipoise.cli.study.spot import spot_command
from equipoise.cli.train import train_command
from equipoise.errors import EquipoiseError

app = typer.Typer(
    name="equipoise",
    help="A heads-up Texas hold'em workbench: solve poker, play it, measure play.",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    # Rich panels would double the time `--help` takes.
    rich_markup_mode=None,
    context_settings={"help_option_names": ["-h", "--help"]},
)


def _computing(function: Callable[..., None]) -> Callable[..., None]:
    """Say in one line, if it comes to that, that kernels are compiled or tables made."""

    @functools.wraps(function)
    def command(*args: Any, **kwargs: Any) -> None:
        from equipoise.cache import announce_making
        from equipoise.kernel import announce_compilation

        announce_compilation()
        announce_making()
        function(*args, **kwargs)

    return command


app.command("play")(_computing(play_command))
app.command("web")(_computing(web_command))
app.command("equity")(_computing(equity_command))
app.command("eval")(_computing(eval_command))
app.command("range")(range_command)
app.command("preflop")(_computing(preflop_command))
app.command("game")(_computing(game_command))
app.command("jamfold")(_computing(jamfold_command))
app.command("jamfold3")(_computing(jamfold3_command))
app.command("solve")(_computing(solve_command))
app.command("show")(_computing(show_command))
app.command("drill")(_computing(drill_command))
app.command("spot")(_computing(spot_command))
app.command("batch")(_computing(batch_command))
app.command("report")(_computing(report_command))
app.command("abstraction")(_computing(abstraction_command))
app.command("train")(_computing(train_command))
app.command("agents")(_computing(agents_command))
app.command("match")(_computing(match_command))
app.command("tournament")(_computing(tournament_command))
app.command("lbr")(_computing(lbr_command))
app.command("endgames")(_computing(endgames_command))
app.command("search")(_computing(search_command))
app.command("dealer")(_computing(dealer_command))
app.command("acpc")(_computing(acpc_command))
app.command("serve")(_computing(serve_command))
app.command("challenge")(_computing(challenge_command))
app.command("mcp")(mcp_command)
app.command("history")(_computing(history_command))
app.command("review")(_computing(review_command))
app.command("cache")(cache_command)
app.command("bench")(_computing(bench_command))
app.command("reproduce")(_computing(reproduce_command))


def _version(value: bool) -> None:
    if value:
        from equipoise.version import __version__

        print(__version__)
        raise typer.Exit


@app.callback()
def _root(
    version: bool = typer.Option(
        False, "--version", callback=_version, is_eager=True, help="Print the version."
    ),
) -> None:
    pass


def _with_default_plot(words: list[str]) -> list[str]:
    """`--plot` may stand without a file name: it is then `plot.png`."""
    completed = []
    for word, following in zip(words, [*words, "-"][1:], strict=True):
        completed.append(word)
        if word == "--plot" and following.startswith("-"):
            completed.append("plot.png")
    return completed


def main() -> None:
    """Run the command line: bad input is one sentence on stderr and exit code 2."""
    try:
        app(_with_default_plot(sys.argv[1:]))
    except EquipoiseError as error:
        _refuse(str(error))
    except BrokenPipeError:
        # The reader went away (`equipoise ... | head`): not an error worth a word.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        sys.exit(1)
    except OSError as error:
        # A full disk, a folder that may not be read: nothing that a traceback would explain.
        where = f"{error.filename}: " if error.filename else ""
        _refuse(f"{where}{error.strerror or error}")
    except MemoryError:
        _refuse("not enough memory: close other programs, or ask for less")


def _refuse(sentence: str) -> NoReturn:
    """Say why not, in one line."""
    print("equipoise:", " ".join(sentence.split()), file=sys.stderr)
    sys.exit(2)
