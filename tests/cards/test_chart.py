import json
import xml.etree.ElementTree as ElementTree

import numpy as np
import pytest
from rich.console import Console

from equipoise.cards import chart
from equipoise.cards.range import Range
from equipoise.cli.cards import range_command
from equipoise.errors import EquipoiseError, RangeError

ACTIONS = ("fold", "call", "raise 600", "all-in")


def strategy():
    return np.random.default_rng(2).dirichlet([0.5, 0.5, 0.5, 0.5], size=(13, 13))


def printed(renderable, width=80):
    console = Console(width=width, force_terminal=False, color_system=None)
    with console.capture() as capture:
        console.print(renderable)
    return capture.get().splitlines()


def test_cells_of_a_plain_range():
    drawn = chart.cells(Range.parse("AA, AKs:0.5, AhKd").to_matrix())
    assert len(drawn) == 169
    aces, suited, offsuit, empty = drawn[0], drawn[1], drawn[13], drawn[2]
    assert (aces.label, aces.weight, aces.note) == ("AA", 1.0, "")
    assert aces.colours == (chart.RANGE_COLOUR,)
    assert (suited.label, suited.note) == ("AKs", "50%")
    assert (offsuit.label, offsuit.note) == ("AKo", "8%")
    assert (empty.label, empty.weight, empty.note, empty.fills) == ("AQs", 0.0, "", [])
    assert len({aces.colours, suited.colours, offsuit.colours, empty.colours}) == 4


def test_notes_never_round_to_nothing_or_everything():
    matrix = np.zeros((13, 13))
    matrix[0, :3] = 0.001, 0.999, 1 - 1e-7
    assert [cell.note for cell in chart.cells(matrix)[:3]] == ["<1%", ">99%", ""]


def test_cells_of_a_strategy_cover_their_width():
    frequencies = strategy()
    for cell, row in zip(
        chart.cells(frequencies, chart.action_colours(ACTIONS)),
        frequencies.reshape(169, 4),
        strict=True,
    ):
        assert cell.fills[0][0] == pytest.approx(0)
        assert cell.fills[-1][1] == pytest.approx(1)
        assert [stop - start for start, stop, _ in cell.fills] == pytest.approx(list(row))


def test_weight_fades_colours_but_not_proportions():
    frequencies = strategy()
    colours = chart.action_colours(ACTIONS)
    whole, half = chart.cells(frequencies, colours), chart.cells(frequencies / 2, colours)
    for strong, faint in zip(whole, half, strict=True):
        assert strong.shares == pytest.approx(faint.shares)
        assert strong.colours != faint.colours


def test_action_colours():
    fold, check, small, middle, large = chart.action_colours(
        ["Fold", "check", "bet 33%", "bet 75%", "all-in"]
    )
    assert fold == chart.FOLD_COLOUR
    assert check == chart.PASSIVE_COLOUR
    assert (small, large) == chart.BET_COLOURS
    assert middle not in (small, large)
    assert len(chart.action_colours(["check", "bet 50%"])) == 2


@pytest.mark.parametrize(
    "bad",
    [
        np.zeros((13, 12)),
        np.zeros(169),
        np.zeros((13, 13, 0)),
        np.full((13, 13), 1.1),
        np.full((13, 13, 2), 0.6),
        np.full((13, 13), -0.1),
        np.full((13, 13), np.nan),
        "AA",
    ],
)
def test_bad_frequencies_are_refused(bad):
    with pytest.raises(RangeError):
        chart.cells(bad, ("#000000", "#ffffff") if np.ndim(bad) == 3 else None)


def test_actions_and_colours_must_match():
    with pytest.raises(RangeError, match="4 actions"):
        chart.figure(strategy(), actions=("fold", "call"))
    with pytest.raises(RangeError, match="4 actions"):
        chart.render(strategy())


def test_terminal_chart_fits_80_columns():
    lines = printed(chart.render(Range.parse("QQ+, AKs").to_matrix(), title="18 combos"))
    assert lines[0] == "18 combos"
    assert len(lines) == 14
    assert max(len(line) for line in lines) <= 80
    assert lines[1].split() == ["AA", "AKs"] + ["·"] * 11
    assert lines[3].split() == ["·", "·", "QQ"] + ["·"] * 10


def test_terminal_chart_shows_percentages_when_needed():
    lines = printed(chart.render(Range.parse("AA, AKs:0.25").to_matrix()))
    assert len(lines) == 26
    assert lines[1].split() == ["25%"]


def test_terminal_chart_splits_cells_by_action():
    frequencies = np.zeros((13, 13, 2))
    frequencies[0, 0] = 0.4, 0.6
    text = chart.render(frequencies, actions=("fold", "call"))
    backgrounds = [text.get_style_at_offset(Console(), i).bgcolor.name for i in range(5)]
    assert backgrounds == [chart.FOLD_COLOUR] * 2 + [chart.PASSIVE_COLOUR] * 3
    assert printed(text)[-1].split() == ["fold", "call"]


def test_svg_is_well_formed_and_complete():
    picture = chart.svg(strategy(), actions=ACTIONS, title="A & <B>")
    root = ElementTree.fromstring(picture)
    space = "{http://www.w3.org/2000/svg}"
    assert len(root.findall(f"{space}g")) == 169
    words = [element.text for element in root.iter(f"{space}text")]
    assert "A & <B>" in words
    assert set(ACTIONS) <= set(words)
    assert {"AA", "AKs", "AKo", "22"} <= set(words)


def test_notebook_shows_the_range():
    root = ElementTree.fromstring(Range.parse("QQ+, A5s:0.003")._repr_html_())
    words = [element.text for element in root.iter("{http://www.w3.org/2000/svg}text")]
    assert words[0] == "18 combos, 1.4%"
    assert "<1%" in words


def test_plot_is_saved(tmp_path):
    path = tmp_path / "range.png"
    figure = Range.parse("QQ+, AKs:0.5").plot(path, title="Cold four-bet")
    assert path.read_bytes().startswith(b"\x89PNG")
    axes = figure.axes[0]
    assert axes.get_title() == "Cold four-bet: 20 combos, 1.5%"
    words = [text.get_text() for text in axes.texts]
    assert len(words) == 170
    assert "50%" in words


def test_strategy_figure_has_a_legend():
    figure = chart.figure(strategy(), actions=ACTIONS)
    assert [text.get_text() for text in figure.legends[0].get_texts()] == list(ACTIONS)


def test_plot_refuses_bad_paths(tmp_path):
    with pytest.raises(EquipoiseError, match="png"):
        Range.full().plot(tmp_path / "range.xyz")
    with pytest.raises(EquipoiseError, match="folder"):
        Range.full().plot(tmp_path / "missing" / "range.png")


def test_command_prints_json(capsys):
    range_command("QQ+, AKs:0.5", json=True)
    data = json.loads(capsys.readouterr().out)
    assert data == {
        "range": "QQ+,AKs:0.5",
        "combos": 20.0,
        "fraction": 20 / 1326,
        "classes": {"AA": 1.0, "AKs": 0.5, "KK": 1.0, "QQ": 1.0},
    }


def test_command_draws(capsys, tmp_path):
    range_command("KK, QQ, AA", tmp_path / "range.svg", False)
    out = capsys.readouterr().out.splitlines()
    assert out[0] == "18 combos, 1.4%"
    assert out[-1] == "QQ+"
    assert (tmp_path / "range.svg").exists()


def test_command_output_can_be_read_back(capsys, monkeypatch):
    monkeypatch.setenv("COLUMNS", "80")
    text = "22+,A2s+,A8o+,K7s+,K9o+,Q8s+,Q9o+,J8s+,J9o+,T8+,97+,86+,75+,64s+,65o,54,43s"
    range_command(text, None, False)
    out = capsys.readouterr().out.splitlines()
    assert max(len(line) for line in out) <= 80
    assert str(Range.parse("\n".join(out[14:]))) == text


@pytest.mark.parametrize("count", [2, 4, 5, 9])
def test_a_legend_stays_inside_the_picture_and_off_the_chart(count):
    names = [f"raise-{number}.25x 12%" for number in range(count)]
    colours = ["#336699"] * count
    drawing = chart.figure(
        np.full((13, 13, count), 1 / count), actions=names, colours=colours, title="t"
    )
    drawing.draw_without_rendering()
    box = drawing.legends[0].get_window_extent()
    assert box.x0 >= 0
    assert box.x1 <= drawing.bbox.x1
    assert box.y0 >= 0
    assert box.y1 <= drawing.axes[0].get_window_extent().y0
