"""Figures as SVG: places of curves, ticks, and that many series or states do no harm."""

from xml.etree import ElementTree

import pytest

from misstep.experiments.figures import BOTTOM, HEIGHT, LEFT, RIGHT, TOP, WIDTH, Axis, bars, coverage, scatter

_SVG = "{http://www.w3.org/2000/svg}"


def curves(figure: str) -> list[list[tuple[float, float]]]:
    return [
        [(float(x), float(y)) for x, y in (point.split(",") for point in each.get("points", "").split())]
        for each in ElementTree.fromstring(figure).iter(f"{_SVG}polyline")
    ]


def test_a_curve_rises_at_every_time_to_the_share_of_states() -> None:
    [curve] = curves(coverage("title", {"x": [10.0, 1.0]}, 4))
    bottom = HEIGHT - BOTTOM
    half = bottom - (bottom - TOP) / 2
    assert curve[0] == (LEFT, bottom)
    assert curve[-1] == (WIDTH - RIGHT, half)
    assert curve == sorted(curve, key=lambda point: (point[0], -point[1]))
    assert {y for _, y in curve} == {bottom, (bottom + half) / 2, half}


def test_however_many_states_a_curve_has_at_most_two_points_a_pixel() -> None:
    times = [0.001 * (k + 1) for k in range(50_000)]
    [curve] = curves(coverage("title", {"x": times}, len(times)))
    assert len(curve) <= 2 * (WIDTH - LEFT - RIGHT) + 4
    assert curve[-1][1] == TOP


def test_eighteen_series_look_different() -> None:
    root = ElementTree.fromstring(coverage("title", {f"s{k}": [1.0] for k in range(18)}, 1))
    looks = {(each.get("stroke"), each.get("stroke-dasharray")) for each in root.iter(f"{_SVG}polyline")}
    assert len(looks) == 18


@pytest.mark.parametrize(
    ("low", "high", "ticks"),
    [
        (0.3, 12.0, [0.5, 1, 2, 5, 10]),
        (1.0, 9.0, [1, 2, 5]),
        (2e-5, 30.0, [1e-4, 1e-3, 1e-2, 0.1, 1, 10]),
    ],
)
def test_a_logarithmic_axis_has_round_ticks_within_its_ends(
    low: float, high: float, ticks: list[float]
) -> None:
    assert Axis(low, high, 0, 100, logarithmic=True).ticks() == pytest.approx(ticks)


def test_nothing_to_show_is_a_figure_all_the_same() -> None:
    for figure in (
        coverage("<title>", {}, 0),
        coverage("t", {"x": []}, 0),
        coverage("t", {"x": [0.0]}, 1),
        bars("t", "y", {}),
        scatter("t", "x", {}),
    ):
        assert ElementTree.fromstring(figure).tag == f"{_SVG}svg"


def test_dots_and_crosses_stand_where_their_times_are() -> None:
    """With times from 1 to 100 the axes go from 0.5 to 200; what was not proved is a cross."""
    figure = scatter("t", "x", {"s": [(1.0, 100.0, True), (100.0, 1.0, False)]})
    dots, crosses = (each.get("d", "") for each in ElementTree.fromstring(figure).iter(f"{_SVG}path"))
    x = Axis(0.5, 200.0, LEFT, WIDTH - RIGHT, logarithmic=True)
    y = Axis(0.5, 200.0, HEIGHT - BOTTOM, TOP, logarithmic=True)
    assert dots == f"M{round(x(1.0))} {round(y(100.0))}h0"
    assert crosses.startswith(f"M{round(x(100.0))} {round(y(1.0))}m")


def test_however_many_points_a_scatter_plot_has_at_most_one_dot_a_pixel() -> None:
    points = [(1.0 + k % 7, 1.0 + k % 5, True) for k in range(50_000)]
    [dots] = ElementTree.fromstring(scatter("t", "x", {"s": points})).iter(f"{_SVG}path")
    assert dots.get("d", "").count("M") == 35
