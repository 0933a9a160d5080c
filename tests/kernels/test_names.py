"""Names are found, sorted and split into scopes, compiled or not."""

from types import SimpleNamespace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tfprof.columns import Strings, ints
from tfprof.kernels import plain_names

try:
    from tfprof.kernels import name_order, name_scopes, name_search, name_table
except ImportError:
    compiled_names = None
else:
    compiled_names = SimpleNamespace(
        **{
            name: getattr(module, name)
            for module in (name_order, name_scopes, name_search, name_table)
            for name in module.__all__
        }
    )

KERNELS = [
    pytest.param(plain_names, id="plain"),
    pytest.param(
        compiled_names,
        id="compiled",
        marks=pytest.mark.skipif(compiled_names is None, reason="the kernels are not compiled"),
    ),
]

# Few letters, so that names share prefixes; slashes, and letters that sort before and after them.
NAMES = st.lists(st.text("a/.0\0é", max_size=30).map(lambda name: name * 3), max_size=80)


def spans(names):
    column = Strings(names)
    return column.data, column.starts, column.ends


@pytest.fixture(params=KERNELS)
def kernel(request):
    return request.param


each_kernel = pytest.mark.parametrize("kernel", KERNELS)


@pytest.mark.skipif(compiled_names is None, reason="the kernels are not compiled")
def test_plain_and_compiled_kernels_have_the_same_functions():
    assert sorted(plain_names.__all__) == sorted(vars(compiled_names))


@each_kernel
@given(rounds=st.lists(NAMES, max_size=4), wanted=NAMES)
def test_names_are_numbered_in_the_order_in_which_they_are_added(kernel, rounds, wanted):
    table, numbers = kernel.SpanTable(), {}

    for names in rounds:
        expected = [numbers.setdefault(name, len(numbers)) for name in names]
        assert table.add(*spans(names)).tolist() == expected

    assert table.find(*spans(wanted)).tolist() == [numbers.get(name, -1) for name in wanted]
    assert list(Strings.of_spans(*table.spans())) == list(numbers)
    assert len(table) == len(numbers)


def test_many_names_get_different_numbers(kernel):
    table = kernel.SpanTable()
    names = [f"tower/unit_{number}" for number in range(20_000)]

    assert table.add(*spans(names)).tolist() == list(range(20_000))
    assert table.find(*spans(names[::-1])).tolist() == list(range(20_000))[::-1]


@each_kernel
@given(NAMES)
def test_rows_are_sorted_by_the_bytes_of_their_names(kernel, names):
    order = kernel.order(*spans(names)).tolist()

    assert order == sorted(range(len(names)), key=lambda row: names[row].encode())


@each_kernel
@given(NAMES)
def test_with_slashes_first_rows_are_sorted_by_the_parts_of_their_names(kernel, names):
    order = kernel.order(*spans(names), slash_first=True).tolist()

    assert order == sorted(range(len(names)), key=lambda row: names[row].encode().split(b"/"))


def test_many_names_with_a_common_prefix_are_sorted(kernel):
    random = np.random.default_rng(1)
    names = [f"tower/unit_{n % 97}/{'x' * (n % 11)}{n}" for n in random.integers(0, 9999, 3000)]

    assert kernel.order(*spans(names)).tolist() == sorted(range(3000), key=lambda row: names[row])


@each_kernel
@given(st.sets(st.text("a/.é", max_size=9)))
def test_scopes_are_rows_and_each_is_followed_by_its_contents(kernel, names):
    names = sorted(names)
    data, starts, ends = spans(names)
    rows = kernel.order(data, starts, ends, slash_first=True)

    first, end, depth, whole = kernel.scope_rows(data, starts, ends, rows)

    scopes = {
        "/".join(name.split("/")[:parts])
        for name in names
        for parts in range(1, 2 + name.count("/"))
    }
    shown = sorted(scopes, key=lambda name: name.encode().split(b"/"))
    assert list(Strings.of_spans(data, starts[first], end)) == shown
    assert depth.tolist() == [1 + name.count("/") for name in shown]
    assert whole.tolist() == [names.index(name) if name in names else -1 for name in shown]


@each_kernel
@given(NAMES, st.text("a/.é", max_size=3))
def test_the_first_occurrence_of_a_text_is_found(kernel, names, text):
    found = kernel.find_first(*spans(names), text.encode()).tolist()

    assert found == [name.encode().find(text.encode()) for name in names]


@each_kernel
@given(NAMES, st.text("a/.é", min_size=1, max_size=3))
def test_the_last_occurrence_of_a_text_is_found(kernel, names, text):
    found = kernel.find_last(*spans(names), text.encode()).tolist()

    assert found == [name.encode().rfind(text.encode()) for name in names]


@each_kernel
@given(NAMES, st.text("a/.é", min_size=1, max_size=3))
def test_names_are_split_at_a_text(kernel, names, text):
    data, starts, ends = spans(names)

    counts, begins, stops = kernel.split(data, starts, ends, text.encode())

    parts = [name.split(text) for name in names]
    assert counts.tolist() == [len(name) for name in parts]
    assert list(Strings.of_spans(data, begins, stops)) == [part for name in parts for part in name]


def test_an_empty_text_is_refused(kernel):
    for function in (kernel.find_last, kernel.split):
        with pytest.raises(ValueError, match="empty text"):
            function(*spans(["a"]), b"")


@each_kernel
@given(NAMES, st.text("a/.é", max_size=3))
def test_a_text_is_found_at_the_start_or_the_end(kernel, names, text):
    data, starts, ends = spans(names)
    encoded = text.encode()

    at_start = kernel.stands_at(data, starts, ends, starts, encoded).tolist()
    at_end = kernel.stands_at(data, starts, ends, ends - len(encoded), encoded).tolist()

    assert at_start == [name.startswith(text) for name in names]
    assert at_end == [name.endswith(text) for name in names]


@pytest.mark.parametrize(("starts", "ends"), [([-1], [1]), ([0], [4]), ([2], [1]), ([0, 1], [2])])
def test_a_name_outside_its_data_is_refused(kernel, starts, ends):
    for function in (
        kernel.SpanTable().add,
        kernel.SpanTable().find,
        kernel.order,
        lambda *names: kernel.find_first(*names, b"a"),
        lambda *names: kernel.find_last(*names, b"a"),
        lambda *names: kernel.split(*names, b"a"),
        lambda *names: kernel.stands_at(*names, names[1], b"a"),
        lambda *names: kernel.scope_rows(*names, ints([0])),
    ):
        with pytest.raises(ValueError, match=r"text|begin"):
            function(b"abc", ints(starts), ints(ends))
