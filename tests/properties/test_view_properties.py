"""Properties of the views of any profile, for any question.

To try more examples per test:

    TFPROF_PROPERTY_EXAMPLES=1000 python -m pytest tests/properties
"""

from collections import Counter

from hypothesis import assume, given
from hypothesis import strategies as st

from asking import ROOT, ask
from build import profile
from profile_strategies import accounts, facts, filters, often, orders, profiles
from tfprof.measures.numbers import per_op
from tfprof.metrics import NUMBERS
from tfprof.model.recordings import Chosen

TREES = ("scope", "graph", "code")
VIEWS = (*TREES, "op")

# No filter: nothing is nested deeper.
WHOLE = {"max_depth": 100}


def root_total(view):
    """The totals of the root."""
    return {key: int(view.total[key][0]) for key in NUMBERS}


def rows(view, *tables):
    """The number of rows with each name and numbers of these tables."""
    columns = [table[key].tolist() for table in tables for key in NUMBERS]
    return Counter(zip(view.name, *columns, strict=True))


def nesting(view):
    """The number of rows with each pair of own and parent name; code rows may share names."""
    names = list(view.name)
    above = view.tree.parents.tolist()
    return Counter((name, names[above[row]]) for row, name in enumerate(names) if row)


def parents(view):
    """The name of the row above each row."""
    above = view.tree.parents.tolist()
    return {name: view.name[above[row]] for row, name in enumerate(view.name) if row}


def everything(view):
    """All parts of a view, in a form that can be compared."""
    return (
        view.name,
        view.tree.end.tolist(),
        view.is_accounted.tolist(),
        [view.members[row].tolist() for row in range(len(view))],
        {key: column.tolist() for key, column in view.own.items()},
        {key: column.tolist() for key, column in view.total.items()},
        (view.hidden.ops, dict(view.hidden.numbers)),
    )


# Totals.


@often
@given(profiles(), st.sampled_from(TREES), accounts())
def test_a_total_is_the_own_number_plus_the_totals_of_the_children(p, kind, account):
    view = ask(kind, p, **account, **WHOLE)

    above = view.tree.parents
    for key in NUMBERS:
        below = [int(view.total[key][above == row].sum()) for row in range(len(view))]
        assert (view.own[key] + below).tolist() == view.total[key].tolist()
    assume(len(view) > 1)


@often
@given(profiles(), st.sampled_from(["scope", "graph"]), accounts(), filters())
def test_a_total_of_displayed_rows_is_the_own_number_plus_the_totals_of_the_children(
    p, kind, account, filter_
):
    view = ask(kind, p, **account, **filter_, account_displayed_op_only=True)

    above = view.tree.parents
    for key in set(NUMBERS) - {"definitions"}:
        below = [int(view.total[key][above == row].sum()) for row in range(len(view))]
        assert (view.own[key] + below).tolist() == view.total[key].tolist()
    assume(len(view) > 1)


@often
@given(profiles(), accounts(), orders())
def test_a_total_of_the_op_view_is_the_own_number_plus_the_next_total(p, account, order):
    view = ask("op", p, **account, **WHOLE, order_by=order)

    for key in NUMBERS:
        following = [*view.total[key][2:].tolist(), 0]
        own, total = view.own[key][1:], view.total[key][1:]
        assert (own + following[: len(own)]).tolist() == total.tolist()
    assume(len(view) > 2)


@often
@given(profiles(), st.sampled_from(["scope", "op"]), st.sampled_from([-1, 0, 5]))
def test_the_total_of_the_root_is_the_sum_over_all_ops(p, kind, step):
    view = ask(kind, p, step=step, **WHOLE)

    scopes = sum(not len(view.members[row]) for row in range(1, len(view)))
    expected = {key: int(column.sum()) for key, column in per_op(p, Chosen(step)).items()}
    assert root_total(view) == expected | {"definitions": len(p.ops) + scopes}


@often
@given(profiles(), st.sampled_from(["graph", "code"]))
def test_the_total_of_the_root_is_the_sum_over_the_ops_with_a_row(p, kind):
    view = ask(kind, p, **WHOLE)

    found = view.members.values
    assert root_total(view) == {
        key: int(column[found].sum()) for key, column in per_op(p, Chosen()).items()
    }


@often
@given(profiles(), st.sampled_from(VIEWS), accounts(), filters())
def test_no_op_has_two_rows(p, kind, account, filter_):
    view = ask(kind, p, **account, **filter_)

    assert len(set(view.members.values.tolist())) == len(view.members.values)
    assume(len(view.members.values) > 1)


# Filters.


@often
@given(profiles(), st.sampled_from(VIEWS), accounts(), filters(), orders())
def test_a_filter_removes_rows_and_does_not_change_the_others(p, kind, account, filter_, order):
    whole = ask(kind, p, **account, **WHOLE, order_by=order)
    filtered = ask(kind, p, **account, **filter_, order_by=order)

    assert rows(filtered, filtered.own, filtered.total) <= rows(whole, whole.own, whole.total)
    assert root_total(filtered) == root_total(whole)
    assume(len(filtered) > 1)


@often
@given(profiles(), st.sampled_from(["scope", "graph", "op"]), accounts(), filters())
def test_counting_only_displayed_rows_increases_no_total_except_definitions_of_the_root(
    p, kind, account, filter_
):
    whole = ask(kind, p, **account, **WHOLE)
    filtered = ask(kind, p, **account, **filter_, account_displayed_op_only=True)

    place = {name: row for row, name in enumerate(whole.name)}
    for key in NUMBERS:
        for row, name in enumerate(filtered.name):
            extra = int(key == "definitions" and row == 0 and kind != "op")
            assert filtered.total[key][row] <= whole.total[key][place[name]] + extra
    assume(len(filtered) > 1)


@often
@given(profiles(), st.sampled_from(VIEWS), accounts(), filters(), orders())
def test_shown_and_hidden_ops_add_up_to_all_ops_that_count(p, kind, account, filter_, order):
    whole = ask(kind, p, **account, **WHOLE)
    filtered = ask(kind, p, **account, **filter_, order_by=order)

    hidden = filtered.hidden
    assert len(filtered.members.values) + hidden.ops == len(whole.members.values)
    assert {
        key: int(filtered.own[key].sum()) + hidden.numbers[key] for key in NUMBERS
    } == root_total(whole)
    assume(filtered.hidden.ops > 0)


@often
@given(profiles(), st.sampled_from(["scope", "graph"]), accounts(), filters())
def test_the_parent_of_a_row_is_its_nearest_shown_ancestor(p, kind, account, filter_):
    above = parents(ask(kind, p, **account, **WHOLE))
    filtered = ask(kind, p, **account, **filter_)

    for name, parent in parents(filtered).items():
        nearest = above[name]
        while nearest not in filtered.name:
            nearest = above[nearest]
        assert parent == nearest
    assume(len(filtered) > 1)


@often
@given(profiles(), st.sampled_from(VIEWS), accounts(), filters(), st.sampled_from([*range(6)]))
def test_a_greater_depth_shows_at_least_the_same_rows(p, kind, account, filter_, depth):
    shallow = ask(kind, p, **account, **filter_ | {"max_depth": depth})
    deep = ask(kind, p, **account, **filter_ | {"max_depth": depth + 1})

    assert rows(shallow, shallow.own) <= rows(deep, deep.own)
    assume(len(shallow) > 1)


@often
@given(profiles(), st.sampled_from(VIEWS), accounts())
def test_fewer_account_regexes_increase_no_total(p, kind, account):
    more = ask(kind, p, **account, **WHOLE)
    fewer = ask(
        kind,
        p,
        **account | {"account_type_regexes": more.options.account_type_regexes[1:]},
        **WHOLE,
    )

    assert all(root_total(fewer)[key] <= root_total(more)[key] for key in NUMBERS)
    assume(root_total(fewer) != root_total(more))


# Order.


@often
@given(profiles(), st.sampled_from(TREES), accounts(), filters(), orders())
def test_sorting_does_not_change_rows_and_their_parents(p, kind, account, filter_, order):
    by_name = ask(kind, p, **account, **filter_)
    ordered = ask(kind, p, **account, **filter_, order_by=order)

    assert rows(ordered, ordered.own, ordered.total) == rows(by_name, by_name.own, by_name.total)
    assert nesting(ordered) == nesting(by_name)
    assume(len(ordered) > 2)


@often
@given(profiles(), accounts(), orders())
def test_sorting_the_op_view_does_not_change_its_rows(p, account, order):
    by_name = ask("op", p, **account, **WHOLE)
    ordered = ask("op", p, **account, **WHOLE, order_by=order)

    assert rows(ordered, ordered.own) == rows(by_name, by_name.own)
    assume(len(ordered) > 2)


@often
@given(
    profiles(),
    st.sampled_from(TREES),
    filters(),
    orders().filter(lambda key: key in NUMBERS),
    st.booleans(),
)
def test_siblings_are_sorted_by_total_in_descending_order(p, kind, filter_, key, only_shown):
    view = ask(kind, p, **filter_, order_by=key, account_displayed_op_only=only_shown)

    above = view.tree.parents
    for row in range(len(view)):
        siblings = view.total[key][above == row].tolist()
        assert siblings == sorted(siblings, reverse=True)
    assume(len(view) > 2)


@often
@given(profiles(), st.sampled_from(["scope", "graph"]), filters())
def test_siblings_are_sorted_by_name(p, kind, filter_):
    view = ask(kind, p, **filter_)

    above = view.tree.parents.tolist()
    for row in range(len(view)):
        siblings = [name for place, name in enumerate(view.name) if above[place] == row]
        assert siblings == sorted(siblings)
    assume(len(view) > 2)


# Independence of questions.


@often
@given(
    facts(),
    st.sampled_from(VIEWS),
    st.lists(st.tuples(accounts(), filters(), orders(), st.booleans()), min_size=2, max_size=2),
)
def test_an_answer_does_not_depend_on_earlier_questions(found, kind, questions):
    first, second = (
        {**account, **filter_, "order_by": order, "account_displayed_op_only": only_shown}
        for account, filter_, order, only_shown in questions
    )
    p = profile(*found)

    answer = everything(ask(kind, p, **first))
    ask(kind, p, **second)

    assert everything(ask(kind, p, **first)) == answer
    assert everything(ask(kind, profile(*found), **first)) == answer


@often
@given(facts(), st.sampled_from(VIEWS), accounts(), st.randoms())
def test_answers_do_not_depend_on_the_order_of_definitions(found, kind, account, shuffler):
    ops = [fact for fact in found if hasattr(fact, "code")]
    runs = [fact for fact in found if not hasattr(fact, "code")]
    shuffled = ops.copy()
    shuffler.shuffle(shuffled)

    answers = (ask(kind, profile(*given_, *runs), **account, **WHOLE) for given_ in (ops, shuffled))

    first, second = map(everything, answers)
    assert first == second


@often
@given(profiles(), filters())
def test_the_root_is_always_shown(p, filter_):
    assert ask("scope", p, **filter_).name[0] == ROOT
