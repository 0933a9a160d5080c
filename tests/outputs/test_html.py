"""Answers as HTML for notebooks: static, escaped, and limited in size."""

import re
from html.parser import HTMLParser
from pathlib import Path

import pytest

import tfprof
from build import op, profile, run
from tfprof.api import Profile
from tfprof.outputs import html_table
from tfprof.outputs.html_table import Amount, Column, Name
from tfprof.page import inline

GPU = Path(__file__).parent.parent / "samples" / "tensorflow" / "gpu_synth"
EVIL = '<script>alert("x")</script>&\'"'


class Parser(HTMLParser):
    """The elements, texts and attributes of a document; fails if elements are not nested."""

    VOID = ("input",)

    def __init__(self, text):
        super().__init__()
        self.open, self.tags, self.rows, self.attributes = [], [], [], []
        self.feed(text)
        self.close()
        assert not self.open

    def handle_starttag(self, tag, attrs):
        self.tags.append(tag)
        self.attributes += attrs
        if tag == "tr":
            self.rows.append([])
        if tag in ("td", "th"):
            self.rows[-1].append("")
        if tag not in self.VOID:
            self.open.append(tag)

    def handle_endtag(self, tag):
        if tag not in self.VOID:
            assert self.open.pop() == tag

    def handle_data(self, data):
        if "td" in self.open or "th" in self.open:
            self.rows[-1][-1] += data


def gpu():
    return tfprof.load(*(GPU / f"{name}.gz" for name in ("graph.pb", "run_meta_0", "tfprof_log")))


def answers():
    """An answer of each kind."""
    p = gpu()
    views = [p.scope(), p.graph(), p.code(), p.op(), p.layers()]
    return [*views, p.flops(), p.memory(), p.advise(), p.step_times()]


def without_frame(shown):
    """The answer as sites show it that remove frames."""
    return re.sub(r"<iframe .*?</iframe>", "", shown, flags=re.DOTALL)


@pytest.mark.parametrize("place", range(5))
def test_a_view_has_a_frame_that_cannot_reach_the_notebook_or_the_network(place):
    (frame,) = re.findall(r"<iframe (.*?)></iframe>", answers()[place]._repr_html_(), re.DOTALL)

    assert 'sandbox="allow-scripts"' in frame
    assert "default-src &#x27;none&#x27;" in frame


def test_a_view_of_very_many_rows_is_only_a_table(monkeypatch):
    monkeypatch.setattr(inline, "_MOST_ROWS", 3)

    assert "<iframe" not in gpu().scope()._repr_html_()


@pytest.mark.parametrize("place", range(9))
def test_an_answer_is_well_formed_and_static_outside_of_its_frame(place):
    shown = without_frame(answers()[place]._repr_html_())

    found = Parser(shown)
    assert "table" in found.tags
    assert "script" not in found.tags
    assert not [name for name, _ in found.attributes if name.startswith("on")]
    assert "url(" not in shown
    assert "http" not in shown


@pytest.mark.parametrize("kind", ["scope", "graph", "op", "layers"])
def test_names_are_escaped(kind):
    p = Profile(profile(op(EVIL, EVIL, shape=(2,)), run(EVIL, 3)))

    shown = getattr(p, kind)(select="params,micros,op_types")._repr_html_()

    assert "script" not in Parser(shown).tags
    assert "&lt;script&gt;" in shown


def test_the_ledger_and_its_notes_are_escaped():
    ledger = tfprof.FloatOpsLedger(
        Profile(profile(op("a", EVIL), op("b", EVIL, float_ops=3))).flops().ledger, [EVIL]
    )

    assert "script" not in Parser(ledger._repr_html_()).tags


def test_counts_that_add_up_to_nothing_have_no_shares():
    ledger = Profile(profile(op("a", "A", float_ops=3), op("b", "B", float_ops=-3))).flops()

    assert not any("%" in cell for row in Parser(ledger._repr_html_()).rows for cell in row)


def test_a_row_shows_its_total_with_its_share_and_its_own_number():
    p = Profile(profile(op("net", shape=(1,)), op("net/w", shape=(3,)), op("b", shape=(4,))))

    found = Parser(p.scope(select="params", order_by="name")._repr_html_())

    assert found.rows == [
        ["name", "shape", "parameters", "own"],
        ["_TFProfRoot", "", "8 100.0%", "--"],
        ["b", "(4,)", "4 50.0%", "4"],
        ["net", "(1,)", "4 50.0%", "1"],
        ["w", "(3,)", "3 37.5%", "3"],
    ]
    assert ("style", "--p:37.5%") in found.attributes
    assert ("title", "net/w") in found.attributes


def test_a_flat_view_shows_own_numbers_without_the_root():
    p = Profile(profile(op("a", "Mul", float_ops=3), op("b", "Add", float_ops=1)))

    found = Parser(p.op(select="float_ops", order_by="float_ops")._repr_html_())

    assert found.rows == [["name", "float_ops"], ["Mul", "3 75.0%"], ["Add", "1 25.0%"]]


def test_a_view_of_layers_shows_totals_and_their_parts():
    found = Parser(gpu().layers(select="params,float_ops,forward_float_ops")._repr_html_())

    assert found.rows[0] == ["name", "parameters", "FLOPs", "FLOPs forward"]
    assert found.rows[1][1] == "7,888 100.0%"


def test_columns_of_facts_that_are_empty_are_left_out():
    found = Parser(Profile(profile(op("a"))).scope(select="params,device")._repr_html_())

    assert found.rows[0] == ["name", "parameters", "own"]


@pytest.mark.parametrize("kind", ["scope", "op"])
@pytest.mark.parametrize(
    ("more", "remark"),
    [(0, ""), (1, "1 more row: print(view)"), (2, "2 more rows: print(view)")],
)
def test_at_most_200_rows_are_shown_and_the_rest_is_counted(kind, more, remark):
    root = 1 if kind == "scope" else 0
    p = Profile(profile(*(op(f"{i:04}", f"{i:04}") for i in range(200 - root + more))))

    shown = getattr(p, kind)(select="params", max_depth=1000)._repr_html_()

    assert len(Parser(shown).rows) == 1 + 200
    assert remark in shown
    assert (" more row" in shown) == bool(more)


def test_rows_near_the_root_are_shown_first_and_others_say_what_lies_below():
    ops = [op(f"{scope}/{i:03}") for scope in ("a", "b") for i in range(300)]

    found = Parser(Profile(profile(*ops)).scope(select="params", order_by="name")._repr_html_())

    names = [row[0] for row in found.rows[1:]]
    assert names[:3] == ["_TFProfRoot", "a", "000"]
    assert names[-1] == "b + 300 more"


def test_nested_rows_fold_by_a_box_in_the_row_above_them():
    rows = [[Name("a")], [Name("a/b")], [Name("a/b/c")], [Name("d")]]

    shown = html_table.table([Column("name")], rows, [1, 2, 3, 1])

    assert shown.count("<input") == 2
    assert ".tfprof table:has([name=f0]:not(:checked)) .b0{display:none}" in shown
    assert '<tr class="b0 b1">' in shown
    assert "f3" not in shown


def test_short_tables_start_unfolded_and_long_ones_at_the_second_level():
    few = html_table.table([Column("n")], [[Name("x")]] * 3, [1, 2, 3])
    depths = [1, *([2, 3] * 20)]
    many = html_table.table([Column("n")], [[Name("x")]] * len(depths), depths)

    assert few.count(" checked>") == 2
    assert many.count(" checked>") == 1


def test_a_bar_never_leaves_its_cell():
    shown = html_table.table([Column("n", is_number=True)], [[Amount("9", 2.5)], [Amount("-", -1)]])

    assert 'style="--p:100.0%"' in shown
    assert 'style="--p:0.0%"' in shown


def test_memory_has_a_curve_and_says_how_to_see_all_rows():
    shown = gpu().memory(max_rows=3)._repr_html_()

    assert shown.count("<svg") == len(gpu().memory())
    assert "rows not shown: max_rows=-1" in shown


def test_steps_have_a_bar_and_their_summary():
    found = gpu().step_times()._repr_html_()

    assert Parser(found).rows[0][:3] == ["recording", "step", "wall"]
    assert 'style="--p:100.0%"' in found
    assert "On average a step takes" in found


def test_bars_of_evidence_compare_rows_without_a_percentage():
    shown = gpu().advise(["ExpensiveOperationChecker"])._repr_html_()

    assert 'style="--p:100.0%"' in shown
    assert "<small>" not in shown


def test_advice_without_findings_says_so():
    shown = gpu().advise(["JobChecker"])._repr_html_()

    assert "found nothing to improve" in shown
