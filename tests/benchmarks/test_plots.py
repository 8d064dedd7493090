"""A plot is a picture that any browser shows."""

from __future__ import annotations

from xml.etree import ElementTree as ET

from benchmarks.plots import Curve, log_log


def test_each_curve_has_its_line_its_points_and_its_name() -> None:
    curves = [Curve("one", [10, 100], [1, 5]), Curve("two", [10, 100], [0.2, 70])]
    plot = ET.fromstring(log_log(curves, "episodes", "ms"))  # noqa: S314 - our own
    texts = [element.text for element in plot.iter("{http://www.w3.org/2000/svg}text")]
    assert {"one", "two", "episodes", "ms", "10", "100", "0.1"} <= set(texts)
    lines = list(plot.iter("{http://www.w3.org/2000/svg}polyline"))
    assert [len(line.attrib["points"].split()) for line in lines] == [2, 2]


def test_what_grows_faster_is_drawn_steeper() -> None:
    plot = ET.fromstring(log_log([Curve("up", [1, 10], [1, 10])], "x", "y"))  # noqa: S314 - our own
    (line,) = plot.iter("{http://www.w3.org/2000/svg}polyline")
    first, last = (point.split(",") for point in line.attrib["points"].split())
    assert float(first[0]) < float(last[0])
    assert float(first[1]) > float(last[1])
