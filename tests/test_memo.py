"""A remembered function works once for each question, and forgets with its subject."""

import gc
import weakref

import pytest

from tfprof.memo import OnDemand, remembered, remembering


class Subject:
    """Something that can be asked about."""

    def __init__(self):
        self.memo = {}


@pytest.fixture
def asked():
    """The questions that were worked out, in order."""
    return []


@pytest.fixture
def answer(asked):
    @remembered
    def answer(subject, *args, **kwargs):
        """The answer."""
        asked.append((subject, args, kwargs))
        return len(asked)

    return answer


def test_a_question_is_worked_out_once(answer, asked):
    subject = Subject()

    assert [answer(subject), answer(subject)] == [1, 1]
    assert asked == [(subject, (), {})]


def test_another_subject_is_another_question(answer):
    first, second = Subject(), Subject()

    assert [answer(first), answer(second), answer(first)] == [1, 2, 1]


def test_other_arguments_are_another_question(answer):
    subject = Subject()

    assert [answer(subject, 1), answer(subject, 2), answer(subject, 1)] == [1, 2, 1]


def test_keywords_count_in_any_order(answer):
    subject = Subject()

    assert [answer(subject, a=1, b=2), answer(subject, b=2, a=1), answer(subject, a=1)] == [1, 1, 2]


def test_nothing_is_a_fine_answer_to_remember(asked):
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


def test_an_answer_goes_when_its_subject_does():
    @remembered
    def thing(_subject):
        return Subject()

    subject = Subject()
    result = weakref.ref(thing(subject))
    del subject
    gc.collect()

    assert result() is None


def test_an_answer_that_knows_its_subject_goes_with_it():
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


def test_the_function_keeps_its_name_and_words(answer):
    assert answer.__name__ == "answer"
    assert answer.__doc__ == "The answer."


def test_a_value_on_demand_is_worked_out_once_and_only_if_asked_for():
    worked_out = []
    values = OnDemand(["a", "b"], lambda name: worked_out.append(name) or name.upper())

    assert [values["b"], values["b"]] == ["B", "B"]
    assert worked_out == ["b"]


def test_values_on_demand_are_a_mapping_of_all_their_names():
    values = OnDemand(["a", "b"], str.upper)

    assert dict(values) == {"a": "A", "b": "B"}
    assert len(values) == 2
    assert "c" not in values
    with pytest.raises(KeyError):
        values["c"]


def test_only_the_latest_answers_are_kept(asked):
    subject = Subject()

    @remembering(2)
    def answer(subject, question):  # noqa: ARG001 -- a subject to keep the answers with
        asked.append(question)
        return question

    for question in ("a", "b", "a", "c", "a", "b"):
        answer(subject, question)

    assert asked == ["a", "b", "c", "b"]
