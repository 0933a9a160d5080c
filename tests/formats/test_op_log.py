"""An op log is read entry by entry, its code lines put together from its strings."""

import pytest

from sources.tf_files import content, op_log
from tfprof.errors import InputError
from tfprof.formats.op_log import StackReader, entries, strings
from tfprof.formats.records import Records

ONE_CALL = {"traces": [{"file_id": 1, "lineno": 7, "function_id": 2, "line_id": 3}]}


def log(*found, **named):
    return Records("tfprof_log", op_log(*found, **named))


def traces(code_def, texts, reader=None):
    (entry,) = entries(log({"name": "a", "code_def": code_def}))
    return (reader or StackReader("log", texts)).read(entry.code)


def test_an_entry_says_name_float_ops_and_types():
    (entry,) = entries(log({"name": "a", "float_ops": 5, "types": ["t", "u"]}))

    assert (entry.name, entry.float_ops, entry.types) == ("a", 5, ("t", "u"))


def test_an_entry_may_say_nothing_of_its_code():
    assert [entry.code for entry in entries(log({"name": "a"}))] == [None]


def test_an_entry_may_say_that_its_code_is_empty():
    assert [entry.code for entry in entries(log({"name": "a", "code_def": {}}))] == [b""]


def test_equal_stacks_are_equal_bytes():
    first, second = entries(
        log({"name": "a", "code_def": ONE_CALL}, {"name": "b", "code_def": ONE_CALL})
    )

    assert first.code == second.code


def test_strings_are_found_by_their_numbers():
    assert strings(log(strings={1: "x.py", 0: ""})) == {1: "x.py", 0: ""}


def test_a_trace_is_put_together_from_the_strings():
    found = traces(ONE_CALL, {1: "x.py", 2: "main", 3: "a = b"})

    assert found == [("x.py", 7, "main", "a = b", 0)]


def test_old_logs_have_the_strings_in_the_traces():
    old = {"file": "x.py", "lineno": 7, "function": "main", "line": "a = b", "func_start_line": 5}

    assert traces({"traces": [old]}, {}) == [("x.py", 7, "main", "a = b", 5)]


def test_a_file_or_function_without_a_string_is_called_unknown():
    reader = StackReader("log", {3: "a = b"})

    found = traces(ONE_CALL, {}, reader)

    assert found == [("unknown", 7, "unknown", "a = b", 0)]
    assert reader.unknown_ids == {1, 2}


def test_the_text_of_a_line_may_be_missing():
    reader = StackReader("log", {1: "x.py", 2: "main"})

    assert traces(ONE_CALL, {}, reader) == [("x.py", 7, "main", "", 0)]
    assert reader.unknown_ids == set()


def test_a_string_may_be_empty():
    reader = StackReader("log", {1: "x.py", 2: "", 3: ""})

    assert traces(ONE_CALL, {}, reader) == [("x.py", 7, "", "", 0)]
    assert reader.unknown_ids == set()


def test_traces_stay_outermost_first():
    calls = [{"file": "a.py", "function": "f"}, {"file": "b.py", "function": "g"}]

    assert [file for file, *_ in traces({"traces": calls}, {})] == ["a.py", "b.py"]


@pytest.mark.parametrize(
    ("name", "count", "with_code"),
    [("mlp_tiny/tfprof_log", 15, 15), ("gpu_synth/tfprof_log", 121, 121)],
)
def test_a_real_log_knows_the_code_of_its_ops(name, count, with_code):
    found = list(entries(Records(name, content(name))))
    reader = StackReader(name, strings(Records(name, content(name))))

    assert len(found) == count
    assert sum(1 for entry in found if reader.read(entry.code)) == with_code
    assert reader.unknown_ids == set()


def test_a_damaged_stack_is_told_when_it_is_read():
    with pytest.raises(InputError, match="tfprof_log: a call stack in it is damaged"):
        StackReader("tfprof_log", {}).read(b"\x0a\x09")
