"""A remembered function computes each result once and frees it with its subject."""

import gc
import weakref

import pytest

from tfprof.memo import OnDemand, remembered, remembering


class Subject:
    """An object with a memo."""

    def __init__(self):
        self.memo = {}


@pytest.fixture
def asked():
    """The calls that were computed, in order."""
    return []


@pytest.fixture
def answer(asked):
    @remembered
    def answer(subject, *args, **kwargs):
        """The answer."""
        asked.append((subject, args, kwargs))
        return len(asked)

    return answer


def test_a_result_is_computed_once(answer, asked):
    subject = Subject()

    assert [answer(subject), answer(subject)] == [1, 1]
    assert asked == [(subject, (), {})]


def test_results_of_different_subjects_are_separate(answer):
    first, second = Subject(), Subject()

    assert [answer(first), answer(second), answer(first)] == [1, 2, 1]


def test_results_of_different_arguments_are_separate(answer):
    subject = Subject()

    assert [answer(subject, 1), answer(subject, 2), answer(subject, 1)] == [1, 2, 1]


def test_the_order_of_keywords_does_not_matter(answer):
    subject = Subject()

    assert [answer(subject, a=1, b=2), answer(subject, b=2, a=1), answer(subject, a=1)] == [1, 1, 2]


def test_none_is_remembered_like_any_result(asked):
    subject = Subject()

    @remembered
    def nothing(subject):
        asked.append(subject)

    nothing(subject)
    nothing(subject)

    assert asked == [subject]


def test_a_failure_is_not_remembered(asked):
    subject = Subject()

    @remembered
    def fails_once(subject):
        asked.append(subject)
        if len(asked) == 1:
            raise LookupError
        return "done"

    with pytest.raises(LookupError):
        fails_once(subject)

    assert fails_once(subject) == "done"


def test_a_result_is_freed_with_its_subject():
    @remembered
    def thing(_subject):
        return Subject()

    subject = Subject()
    result = weakref.ref(thing(subject))
    del subject
    gc.collect()

    assert result() is None


def test_a_result_that_refers_to_its_subject_is_freed_with_it():
    @remembered
    def thing(subject):
        result = Subject()
        result.about = subject
        return result

    subject = Subject()
    result = weakref.ref(thing(subject))
    del subject
    gc.collect()

    assert result() is None


def test_the_function_keeps_its_name_and_docstring(answer):
    assert answer.__name__ == "answer"
    assert answer.__doc__ == "The answer."


def test_a_value_on_demand_is_computed_once_and_only_on_access():
    computed = []
    values = OnDemand(["a", "b"], lambda name: computed.append(name) or name.upper())

    assert [values["b"], values["b"]] == ["B", "B"]
    assert computed == ["b"]


def test_values_on_demand_are_a_mapping_with_all_names():
    values = OnDemand(["a", "b"], str.upper)

    assert dict(values) == {"a": "A", "b": "B"}
    assert len(values) == 2
    assert "c" not in values
    with pytest.raises(KeyError):
        values["c"]


def test_only_the_most_recently_used_results_are_kept(asked):
    subject = Subject()

    @remembering(2)
    def answer(subject, question):  # noqa: ARG001 -- the subject stores the results
        asked.append(question)
        return question

    for question in ("a", "b", "a", "c", "a", "b"):
        answer(subject, question)

    assert asked == ["a", "b", "c", "b"]
