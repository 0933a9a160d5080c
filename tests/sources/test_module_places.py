"""A module that several others call has a place, and a path, in each of them."""

from tfprof.sources.module_places import NOWHERE, ModulePlaces, paths_of

NET, FIRST, SECOND, SHARED, INNER = range(5)


def called(*chains):
    """The places of modules that were called in these chains, outermost first."""
    places = ModulePlaces()
    found = []
    for chain in chains:
        place = NOWHERE
        for module in chain:
            place = places.called(place, module)
        found.append(place)
    return places, found


def test_a_module_has_a_place_for_each_caller():
    places, (one, other) = called((NET, FIRST, SHARED), (NET, SECOND, SHARED))

    assert one != other
    assert places.module == [NET, FIRST, SHARED, SECOND, SHARED]
    assert places.caller == [NOWHERE, 0, 1, 0, 3]


def test_a_module_that_one_calls_again_has_one_place():
    _, (one, again) = called((NET, FIRST), (NET, FIRST))

    assert one == again


def test_a_module_inside_a_shared_one_has_as_many_places():
    places, _ = called((NET, FIRST, SHARED, INNER), (NET, SECOND, SHARED, INNER))

    assert places.module.count(INNER) == 2


def test_a_module_that_is_called_outside_of_modules_is_where_it_was_first():
    _, (inside, outside) = called((NET, FIRST), (FIRST,))

    assert outside == inside


def test_a_module_that_calls_itself_has_one_place():
    _, (outer, inner, innermost) = called((NET,), (NET, FIRST, NET), (NET, FIRST, NET, FIRST))

    assert inner == outer
    assert innermost == 1


def test_chains_without_end_have_few_places():
    places, _ = called(range(10_000), [1, 0, *range(2, 10_000)])

    assert len(places.module) < 10_100


def test_a_shared_module_has_the_name_of_the_attribute_by_which_each_caller_has_it():
    held = {
        NET: ["Net"],
        FIRST: ["Net/layers/0"],
        SECOND: ["Net/layers/1"],
        SHARED: ["Net/layers/0/rotary", "Net/layers/1/parts/rope"],
        INNER: ["Net/layers/0/rotary/sin"],
    }
    places, _ = called((NET, FIRST, SHARED, INNER), (NET, SECOND, SHARED, INNER))
    names = ["Net", "Layer_0", "Layer_1", "Rotary", "Sin"]
    own = [names[one] for one in places.module]

    assert paths_of(places.module, places.caller, own, held) == [
        "Net",
        "Net/layers/0",
        "Net/layers/0/rotary",
        "Net/layers/0/rotary/sin",
        "Net/layers/1",
        "Net/layers/1/parts/rope",
        "Net/layers/1/parts/rope/sin",
    ]
    assert paths_of(places.module, places.caller, own, {})[-1] == "Net/Layer_1/Rotary/Sin"


def test_a_shared_module_that_is_no_attribute_of_its_callers_has_its_own_name():
    held = {NET: ["Net"], FIRST: ["Net/a"], SECOND: ["Net/b"], SHARED: ["Net/rotary"]}
    places, _ = called((NET, FIRST, SHARED), (NET, SECOND, SHARED))
    own = ["", "", "Rotary", "", "Rotary"]

    found = paths_of(places.module, places.caller, own, held)

    assert [found[2], found[4]] == ["Net/a/Rotary", "Net/b/Rotary"]


def test_the_attribute_of_another_module_that_was_called_is_not_that_of_the_caller():
    held = {NET: ["Net"], FIRST: ["Net/a"], SHARED: ["Net/a/norm"]}
    places, _ = called((NET, FIRST, SHARED), (NET, SHARED))

    found = paths_of(places.module, places.caller, ["", "", "", "Norm"], held)

    assert found == ["Net", "Net/a", "Net/a/norm", "Net/Norm"]


def test_a_module_keeps_its_path_in_a_wrapper_that_is_no_part_of_the_model():
    wrapper, other = FIRST, SECOND
    held = {NET: ["Net"], INNER: ["Net/head"]}
    places, _ = called((wrapper, NET, INNER), (other, NET, INNER))

    found = paths_of(places.module, places.caller, ["A", "Net", "I", "B", "Net", "I"], held)

    assert found == ["A", "Net", "Net/head", "B", "B/Net", "B/Net/head"]
