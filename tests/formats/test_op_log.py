"""An op log is read entry by entry; its code lines refer to a table of strings."""

import pytest

from sources.tf_files import content, op_log
from tfprof.errors import InputError
from tfprof.formats.op_log import StackReader, decode
from tfprof.formats.records import Records

ONE_CALL = {"traces": [{"file_id": 1, "lineno": 7, "function_id": 2, "line_id": 3}]}


def log(*found, **named):
    return decode(Records("tfprof_log", op_log(*found, **named)))


def traces(code_def, texts, reader=None):
    (stack,) = log({"name": "a", "code_def": code_def}).stacks
    (found,) = (reader or StackReader("log", texts)).read([stack])
    return list(found)


def test_an_entry_has_a_name_float_ops_and_types():
    found = log({"name": "a", "float_ops": 5, "types": ["t", "u"]})

    assert list(found.name) == ["a"]
    assert found.float_ops.tolist() == [5]
    assert found.type_entry.tolist() == [0, 0]
    assert [found.type[0], found.type[1]] == ["t", "u"]


def test_an_entry_may_have_no_code():
    assert log({"name": "a"}).stack.tolist() == [-1]


def test_an_entry_may_have_empty_code():
    found = log({"name": "a", "code_def": {}})

    assert (found.stack.tolist(), found.stacks) == ([0], [b""])


def test_equal_stacks_are_stored_once():
    calls = [{"name": name, "code_def": ONE_CALL} for name in "ab"]

    assert log(*calls).stack.tolist() == [0, 0]


def test_strings_are_found_by_id():
    assert log(strings={1: "x.py", 0: "", -1: "é"}).strings == {1: "x.py", 0: "", -1: "é"}


def test_a_trace_refers_to_the_strings_by_id():
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
def test_a_real_log_has_the_code_of_its_ops(name, count, with_code):
    found = decode(Records(name, content(name)))
    reader = StackReader(name, found.strings)
    has_code = [bool(list(stack)) for stack in reader.read(found.stacks)]

    assert len(found.name) == count
    assert sum(has_code[stack] for stack in found.stack.tolist()) == with_code
    assert reader.unknown_ids == set()


def test_stacks_that_are_not_ascii_are_read_too():
    assert traces({"traces": [{"file": "é.py", "function": "f"}]}, {}) == [("é.py", 0, "f", "", 0)]


def test_a_damaged_stack_is_reported_when_it_is_read():
    with pytest.raises(InputError, match="tfprof_log: contains a damaged call stack"):
        next(StackReader("tfprof_log", {}).read([b"\x0a\x09"]))
