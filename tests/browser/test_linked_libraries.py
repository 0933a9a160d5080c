"""The vendored libraries work in the form that the page contains."""

from __future__ import annotations

import pytest

from report_pages import painted
from tfprof.page import assets

pytestmark = pytest.mark.browser


@pytest.fixture
def page(open_report, tmp_path):
    scripts = "".join(map(assets.script, ("vendor/uplot.js", "vendor/dagre.js")))
    path = tmp_path / "page.html"
    path.write_text(
        f"<!DOCTYPE html><meta charset=utf-8><style>{assets.style()}</style>"
        f"<body><script>{scripts}</script>",
        "utf-8",
    )
    return open_report(path)


def test_uplot_draws_a_curve(page):
    page.evaluate("""() => {
        const options = { width: 300, height: 200, scales: { x: { time: false } },
            series: [{}, { stroke: "#ff0000", width: 4 }] };
        window.plot = new $vendor_uplot.uPlot(options, [[0, 1, 2], [0, 5, 0]], document.body);
    }""")
    painted(page)

    assert page.evaluate("""() => {
        const { width, height } = plot.ctx.canvas;
        const { data } = plot.ctx.getImageData(0, 0, width, height);
        return data.some((value, i) => i % 4 === 0 && value === 255 && data[i + 1] === 0);
    }""")
    assert page.locator(".u-over").bounding_box()["width"] > 100


def test_dagre_puts_a_node_below_its_input(page):
    first, second = page.evaluate("""() => {
        const { Graph, layout } = $vendor_dagre;
        const graph = new Graph();
        graph.setGraph({});
        graph.setDefaultEdgeLabel(() => ({}));
        graph.setNode("a", { width: 10, height: 10 });
        graph.setNode("b", { width: 10, height: 10 });
        graph.setEdge("a", "b");
        layout(graph);
        return [graph.node("a").y, graph.node("b").y];
    }""")

    assert first < second
