"""Which attribute of a model each module is, by the shapes of the parameters.

The calls and the attributes are two trees, which are matched from the root: the modules that a
module calls are attributes below its own. A module can be an attribute if its ops take parameters
of these shapes, and the modules inside it can be the attributes below. Where as many modules as
attributes fit, they are these attributes.

Attributes with the same shapes are taken in the order of the calls if they differ by a number, or
if the file lists them in the order of their definition and nothing contradicts that modules of
their class were called in that order. Otherwise none of them is named: any of them could be any.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import partial
from itertools import pairwise
from operator import itemgetter

from tfprof.sources.kineto.attribute_tree import Attribute, AttributeTree, Path, Shape
from tfprof.sources.kineto.module_calls import Called

# PyTorch's modules that always have parameters. Others, such as activations, may take a tensor that
# only happens to have the shape of a parameter.
_OWNERS = frozenset(
    (
        *("Linear", "Bilinear", "Embedding", "EmbeddingBag", "MultiheadAttention"),
        *("Conv1d", "Conv2d", "Conv3d"),
        *("ConvTranspose1d", "ConvTranspose2d", "ConvTranspose3d"),
        *("LSTM", "GRU", "RNN", "LSTMCell", "GRUCell", "RNNCell"),
    )
)
# Those that never have any, unless they call other modules.
_WITHOUT_PARAMETERS = frozenset(
    (
        *("Identity", "Flatten", "Unflatten", "Softmax", "LogSoftmax", "Upsample", "PixelShuffle"),
        *("Dropout", "Dropout1d", "Dropout2d", "Dropout3d", "AlphaDropout"),
        *("ReLU", "ReLU6", "LeakyReLU", "ELU", "SELU", "CELU", "GELU", "SiLU", "Mish", "GLU"),
        *("Sigmoid", "LogSigmoid", "Hardsigmoid", "Hardswish", "Hardtanh", "Tanh", "Softplus"),
        *("MaxPool1d", "MaxPool2d", "MaxPool3d", "AvgPool1d", "AvgPool2d", "AvgPool3d"),
        *("AdaptiveAvgPool1d", "AdaptiveAvgPool2d", "AdaptiveAvgPool3d", "AdaptiveMaxPool2d"),
        *("MSELoss", "L1Loss", "CrossEntropyLoss", "NLLLoss", "BCELoss", "BCEWithLogitsLoss"),
    )
)
_SEQUENCE = "Sequential"
_MOST_TRIALS, _TRIALS_PER_MODULE = 200_000, 50  # for hostile files
_MOST_DEPTH = 64  # of modules

# How much less likely a match is: for a list of modules that is not called, or a module that is no
# attribute; and for a parameter that no module takes, as it may be the same tensor as another one.
_SKIPPED, _UNTAKEN = 1, 1_000
_UNLIKELY = 100 * _UNTAKEN


@dataclass
class Matched:
    """The path of each instance that is known."""

    path: dict[int, Path] = field(default_factory=dict)
    twins: int = 0  # instances that could be exchanged with another one
    in_order: int = 0  # instances that only the order of the calls tells apart


@dataclass(frozen=True, slots=True)
class _Group:
    """As many modules as attributes that they can be."""

    rows: list[int]
    attributes: list[Attribute]


@dataclass
class _Plan:
    """What the modules are that a module calls, and how likely that is: 0 is the best."""

    groups: list[_Group] = field(default_factory=list)
    twins: set[int] = field(default_factory=set)
    cost: int = 0


class Matcher:
    """Matches the modules that were called with the attributes of the model."""

    def __init__(self, called: Called, tree: AttributeTree, *, is_in_order: bool) -> None:
        """`is_in_order` says whether the attributes are in the order of their definition."""
        self._called, self._tree, self.is_in_order = called, tree, is_in_order
        self._costs: dict[tuple[int, int], int | None] = {}
        self._depth = self.trials = 0
        self._most_trials = _MOST_TRIALS + _TRIALS_PER_MODULE * len(called.instances)

    def matched(self, root: int) -> Matched | None:
        """The paths of the modules inside of `root`, the whole model; None if they do not match."""
        if self.cost(root, self._tree.root) is None:
            return None
        found = Matched({root: ()})
        pending = [(root, self._tree.root)]
        while pending:
            for row, attribute in self._named(*pending.pop(), found):
                found.path[row] = attribute.path
                pending.append((row, attribute))
        return None if self.is_exhausted else found

    def cost(self, row: int, attribute: Attribute) -> int | None:
        """How unlikely it is that a module is this attribute; None if it cannot be."""
        if not self._may_be(row, attribute):
            return None
        key = (self._called.kind[row], attribute.kind)
        if key not in self._costs:
            self._costs[key] = None  # for those that are too deep, or too many
            if self._depth < _MOST_DEPTH and self._may_have(row, attribute):
                self._depth += 1
                plan = self._plan(row, attribute)
                self._depth -= 1
                self._costs[key] = self._with_list(row, attribute, plan.cost) if plan else None
        return self._costs[key]

    def _with_list(self, row: int, attribute: Attribute, cost: int) -> int | None:
        """The cost of a match, if the attribute may be a list: few but sequences call themselves.

        The only module of a list is rather that module than the list.
        """
        if not attribute.is_list or self._is_sequence(row):
            return cost
        inner = self.cost(row, attribute.only_child) if attribute.only_child else None
        is_inner = inner is not None and inner < cost
        return None if is_inner else cost + _SKIPPED

    @property
    def is_exhausted(self) -> bool:
        """Whether the search has taken too long."""
        return self.trials >= self._most_trials

    def _may_be(self, row: int, attribute: Attribute) -> bool:
        """Whether a module of its class may be this attribute.

        Models have classes of their own with the names of activations, that call modules.
        """
        if attribute.is_parametrizations:
            return False
        is_without = self._called.instances.class_name[row] in _WITHOUT_PARAMETERS
        return bool(self._called.inner[row]) or not (is_without or attribute.is_list)

    def _may_have(self, row: int, attribute: Attribute) -> bool:
        """Whether the ops inside a module take the shapes of all parameters, or all but one."""
        missing = attribute.shapes - self._called.shapes[row]
        return len(missing) <= 1 and all(self._tree.owners[shape] > 1 for shape in missing)

    def _named(
        self, row: int, attribute: Attribute, found: Matched
    ) -> Iterator[tuple[int, Attribute]]:
        """The modules that a module calls, if they cannot be exchanged, each with its attribute."""
        plan = self._plan(row, attribute)
        if plan is None:  # cannot be: it has a cost
            return
        found.twins += len(plan.twins)
        for group in plan.groups:
            if len(group.rows) > 1:
                if not _numbers(group.attributes) and not self._are_in_order(group, plan):
                    found.twins += len(group.rows)
                    continue
                found.in_order += len(group.rows)
            elif self._may_be_shared(group.rows[0], group.attributes[0]):
                found.twins += 1
                continue
            for one, at in zip(group.rows, group.attributes, strict=True):
                yield one, self._likeliest(one, at)

    def _may_be_shared(self, row: int, attribute: Attribute) -> bool:
        """Whether a module may take the weight of an embedding that is this attribute.

        Files have the weight once, under the name of the embedding or that of the other module.
        """
        own = attribute.own
        if attribute.children or self._called.is_embedding(row) or not own:
            return False
        is_only = all(self._tree.owners[shape] == 1 for shape in own)
        return is_only and self._called.embedded.issuperset(own)

    def _are_in_order(self, group: _Group, plan: _Plan) -> bool:
        """Whether modules are called in the order of their definition, as far as that is known.

        Only those of the same class count: a norm is often defined after the layers around it.
        """
        classes = self._called.instances.class_name
        placed = sorted(
            (row, attribute.place)
            for one in plan.groups
            for row, attribute in zip(one.rows, one.attributes, strict=True)
            if classes[row] == classes[group.rows[0]]
        )
        is_ascending = all(before <= after for (_, before), (_, after) in pairwise(placed))
        return self.is_in_order and is_ascending

    def _likeliest(self, row: int, attribute: Attribute) -> Attribute:
        """The attribute that a module is: this one, or one that has all of its parameters.

        Lists of modules are not called, except for sequences.
        """
        best, lowest = attribute, self.cost(row, attribute)
        inner: Attribute | None = attribute
        while lowest and inner is not None and (inner := inner.only_child) is not None:
            cost = self.cost(row, inner) if self._is_sequence(row) or not inner.is_list else None
            if cost is not None and cost < lowest:
                best, lowest = inner, cost
        return best

    def _is_sequence(self, row: int) -> bool:
        return _SEQUENCE in self._called.instances.class_name[row]

    def _plan(self, row: int, attribute: Attribute) -> _Plan | None:
        """The attributes of the modules that a module calls, if it is this attribute."""
        planning = partial(_Planning, self, self._called, self._tree, row, attribute)
        first = planning().plan(is_list=True)
        if first and not first.cost:
            return first
        plans = [plan for plan in (first, planning().plan(is_list=False)) if plan]
        return min(plans, key=lambda plan: plan.cost, default=None)


class _Planning:
    """Finds the attributes of the modules that one module calls."""

    def __init__(
        self, matcher: Matcher, called: Called, tree: AttributeTree, row: int, attribute: Attribute
    ) -> None:
        self._matcher, self._called, self._tree = matcher, called, tree
        self._row, self._attribute = row, attribute
        self._having: dict[Shape, set[int]] = {}  # the free modules with ops that take a shape
        self._free: list[int] = []
        self._add(0, self._inside(row))
        self._pending = list(attribute.children)
        self._found = _Plan()
        self._own = Counter(attribute.own)  # what the ops of the module itself take
        self._has_parameters = False  # the module, or one that it calls

    def plan(self, *, is_list: bool) -> _Plan | None:
        """What the modules are; None if they cannot be the attributes.

        `is_list` says whether attributes that no module is likely to be are rather lists.
        """
        opening = (
            (self._open, self._take_unlikely) if is_list else (self._take_unlikely, self._open)
        )
        others = (self._take_owners, self._skip, self._lend, self._leave)
        while self._pending:
            if self._found.cost >= _UNLIKELY or self._matcher.is_exhausted:
                return None
            if not any(step() for step in (self._take, self._take_likeliest, *opening, *others)):
                return None
        own = self._attribute.own
        if self._called.takes(self._row, own) or not own:
            self._has_parameters |= bool(own)
        elif self._is_taken(own, [self._row, *self._free]):
            self._has_parameters = True
            self._found.cost += _SKIPPED
        elif self._called.shapes[self._row].issuperset(own):
            self._found.cost += _UNTAKEN  # `head.bias` is also that of `head.decoder`
        else:
            return None
        return self._found if self._has_parameters else None

    def _add(self, place: int, rows: Sequence[int]) -> None:
        """Add free modules before the one at a place."""
        self._free[place:place] = rows
        for row in rows:
            for shape in self._called.shapes[row]:
                self._having.setdefault(shape, set()).add(row)

    def _inside(self, row: int) -> list[int]:
        return [one for one in self._called.inner[row] if self._called.shapes[one]]

    def _groups(self, limit: int = _UNTAKEN) -> Iterator[tuple[list[Attribute], list[int]]]:
        """Attributes that are pending with the same shapes, and the free modules that fit."""
        for group, costs in self._costs():
            yield group, [row for row, cost in costs.items() if cost < limit]

    def _costs(self) -> Iterator[tuple[list[Attribute], dict[int, int]]]:
        """Attributes that are pending with the same shapes, and how unlikely each module is."""
        groups: dict[int, list[Attribute]] = {}
        for one in self._pending:
            groups.setdefault(one.kind, []).append(one)
        for group in groups.values():
            rows = self._with(group[0].shapes)
            self._matcher.trials += 1 + len(rows)
            costs = {row: self._matcher.cost(row, group[0]) for row in rows}
            yield group, {row: cost for row, cost in costs.items() if cost is not None}

    def _with(self, shapes: frozenset[Shape]) -> list[int]:
        """The free modules with one of the two rarest of these shapes: at most one may be missing.

        Thousands of modules in a list are searched quickly in this way.
        """
        found = sorted((self._having.get(shape, set()) for shape in shapes), key=len)[:2]
        rows = set[int]().union(*found)
        return sorted(rows) if len(rows) < len(self._free) else self._free

    def _take(self, limit: int = _UNTAKEN) -> bool:
        """Take modules as the attributes that no others fit."""
        return self._take_fitting(self._groups(limit))

    def _take_likeliest(self) -> bool:
        """Take modules as the attributes that they are likelier to be than any others.

        The most parameters that a module may have are rarely there by chance.
        """
        groups = [
            (group, {row: (-group[0].size, cost) for row, cost in costs.items() if cost < _UNTAKEN})
            for group, costs in self._costs()
        ]
        best: dict[int, tuple[int, int]] = {}
        for _, costs in groups:
            best |= {row: min(cost, best.get(row, cost)) for row, cost in costs.items()}
        lowest = [min(costs.values(), default=(0, 0)) for _, costs in groups]
        return self._take_fitting(
            (group, [row for row, cost in costs.items() if best[row] == cost == least])
            for (group, costs), least in zip(groups, lowest, strict=True)
        )

    def _take_fitting(self, groups: Iterable[tuple[list[Attribute], list[int]]]) -> bool:
        """Take modules as attributes if as many fit, which fit no others."""
        together: dict[tuple[int, ...], list[Attribute]] = {}
        for group, fits in groups:  # attributes that the same modules fit
            together.setdefault(tuple(fits), []).extend(group)
        fitting = [(group, rows) for rows, group in together.items() if len(group) == len(rows)]
        claims = Counter(row for _, rows in fitting for row in rows)
        clear = [(group, rows) for group, rows in fitting if all(claims[row] == 1 for row in rows)]
        for group, rows in clear:
            self._settle(group, rows)
        return bool(clear)

    def _take_unlikely(self) -> bool:
        """Take modules that lack a parameter, which may be shared."""
        return self._take(_UNLIKELY)

    def _take_owners(self) -> bool:
        """Take modules that have parameters for sure, where others only might."""
        classes = self._called.instances.class_name
        return self._take_fitting(
            (group, [row for row in fits if classes[row] in _OWNERS])
            for group, fits in self._groups()
        )

    def _settle(self, group: Sequence[Attribute], rows: Sequence[int]) -> None:
        numbers = [] if self._matcher.is_in_order else _numbers(group)
        places = numbers or [one.place for one in group]
        ordered = [one for _, one in sorted(zip(places, group, strict=True), key=itemgetter(0))]
        self._found.groups.append(_Group(list(rows), ordered))
        pairs = zip(rows, ordered, strict=True)
        self._found.cost += sum(self._matcher.cost(*pair) or 0 for pair in pairs)
        self._has_parameters = True
        self._remove(group, rows)

    def _remove(self, group: Sequence[Attribute], rows: Sequence[int]) -> None:
        gone, taken = {id(one) for one in group}, set(rows)
        self._pending = [one for one in self._pending if id(one) not in gone]
        self._free = [one for one in self._free if one not in taken]
        for row in rows:
            for shape in self._called.shapes[row]:
                self._having[shape].discard(row)

    def _open(self) -> bool:
        """Look for the attributes inside of one that is not called, as lists of modules are.

        `MultiheadAttention` uses the weight of `out_proj`, but does not call it.
        """
        for group, fits in self._groups():
            own = group[0].own
            is_taken = self._is_taken(own, [self._row])
            if fits or not (is_taken or group[0].children):
                continue
            self._remove(group, [])
            self._has_parameters |= is_taken
            for one in group:
                self._pending += one.children
                self._own += one.own
                is_enough = not own or self._called.takes_all(self._row, self._own)
                self._found.cost += _SKIPPED if is_enough else _UNTAKEN
            return True
        return False

    def _skip(self) -> bool:
        """Look for the attributes in the modules that a module calls which is no attribute."""
        wanted = _shapes(self._pending)
        for at, row in enumerate(self._free):
            if self._called.inner[row] and wanted & self._called.shapes[row]:
                self._remove([], [row])
                self._add(at, self._inside(row))
                self._found.cost += _SKIPPED
                return True
        return False

    def _lend(self) -> bool:
        """Let a module without a name have the parameters of an attribute that is not called.

        Files may lack `head.decoder.bias` if it is the same tensor as `head.bias`.
        """
        for group, fits in self._groups():
            if not fits and self._is_taken(group[0].own, self._free):
                self._found.cost += _SKIPPED
                self._has_parameters = True
                self._remove(group, [])
                return True
        return False

    def _leave(self) -> bool:
        """Leave attributes without a module if more modules fit, or fewer of shared parameters."""
        for group, fits in self._groups():
            if len(fits) > len(group) or self._called.embedded.issuperset(group[0].own):
                self._found.twins.update(fits)
                self._found.cost += _UNTAKEN
                self._has_parameters |= bool(fits)
                self._remove(group, fits)
                return True
        return False

    def _is_taken(self, shapes: Counter[Shape], rows: Sequence[int]) -> bool:
        """Whether ops of a module, or of one that it calls, take parameters of these shapes."""
        if not shapes:
            return False
        pending = list(rows)
        for row in pending:
            if self._called.own[row].issuperset(shapes):
                return True
            pending += self._called.inner[row] if row != self._row else []
        return False


def _shapes(attributes: Sequence[Attribute]) -> frozenset[Shape]:
    return frozenset[Shape]().union(*(one.shapes for one in attributes))


def _numbers(attributes: Sequence[Attribute]) -> list[int]:
    """What attributes differ by: 0 and 1 of `layers.0` and `layers.1`, 1 and 2 of `conv1`, `conv2`.

    Nothing if they differ by something else.
    """
    numbered = [one.number for one in attributes if one.number is not None]
    numbers = [number for _, number in numbered]
    is_one_stem = len({stem for stem, _ in numbered}) == 1
    return numbers if is_one_stem and len(set(numbers)) == len(attributes) else []
