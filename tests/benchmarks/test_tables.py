import pytest
from tables import difference


@pytest.fixture
def compare(tmp_path):
    def written(ours, original):
        (tmp_path / "ours").write_text(ours)
        (tmp_path / "original").write_text(original)
        return difference(tmp_path / "ours", tmp_path / "original")

    return written


def test_what_stands_before_the_legend_does_not_matter(compare):
    assert compare("Doc:\nnode name | micros\na (1us)\n", "node name | micros\na (1us)\n") is None


def test_the_first_row_that_differs_is_shown(compare):
    found = compare("node name |\na (1us)\nb (2us)\n", "node name |\na (1us)\nb (3us)\n")

    assert found == "row 3: tfprof 'b (2us)', original 'b (3us)'"


def test_a_row_too_many_is_a_difference(compare):
    found = compare("node name |\na (1us)\n", "node name |\n")

    assert found == "row 2: tfprof 'a (1us)', original '(nothing)'"


def test_a_missing_table_is_a_difference(compare):
    assert compare("node name |\n", "an error\n") is not None


def test_two_missing_tables_are_no_agreement(compare):
    assert compare("an error\n", "an error\n") == "neither wrote a table"
