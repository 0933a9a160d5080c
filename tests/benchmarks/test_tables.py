import pytest
from tables import byte_difference, difference

pytestmark = pytest.mark.dist


@pytest.fixture
def compare(tmp_path):
    def written(ours, original):
        (tmp_path / "ours").write_text(ours)
        (tmp_path / "original").write_text(original)
        return difference(tmp_path / "ours", tmp_path / "original")

    return written


@pytest.fixture
def compare_bytes(tmp_path):
    def written(ours, original):
        (tmp_path / "ours").write_bytes(ours)
        (tmp_path / "original").write_bytes(original)
        return byte_difference(tmp_path / "ours", tmp_path / "original")

    return written


def test_equal_files_do_not_differ(compare_bytes):
    assert compare_bytes(b"[1,2]", b"[1,2]") is None


@pytest.mark.parametrize("original", [b"[1,3]", b"[1,"])
def test_the_first_different_byte_is_reported(compare_bytes, original):
    assert compare_bytes(b"[1,2]", original) == "byte 3"


def test_two_empty_files_do_not_count_as_equal(compare_bytes):
    assert compare_bytes(b"", b"") == "both are empty"


def test_text_before_the_legend_is_ignored(compare):
    assert compare("Doc:\nnode name | micros\na (1us)\n", "node name | micros\na (1us)\n") is None


def test_the_first_different_row_is_reported(compare):
    found = compare("node name |\na (1us)\nb (2us)\n", "node name |\na (1us)\nb (3us)\n")

    assert found == "row 3: tfprof 'b (2us)', original 'b (3us)'"


def test_an_additional_row_is_a_difference(compare):
    found = compare("node name |\na (1us)\n", "node name |\n")

    assert found == "row 2: tfprof 'a (1us)', original '(nothing)'"


def test_a_missing_table_is_a_difference(compare):
    assert compare("node name |\n", "an error\n") is not None


def test_two_missing_tables_do_not_count_as_equal(compare):
    assert compare("an error\n", "an error\n") == "neither wrote a table"
