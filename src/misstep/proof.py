"""Proofs of lower bounds: bounding functions that hold for all states, and the frontiers of searches."""

import base64
import bisect
import contextlib
import hashlib
import itertools
import json
import math
import zlib
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, TypeAlias

from misstep._core import (
    Abstraction,
    ChargesLibrary,
    Frontier,
    Heuristic,
    SearchResult,
    State,
    Task,
    find_invariant,
)
from misstep.bound import Bound, cost_as_json
from misstep.reference.packing import packed_lines, packed_states, unpacked_lines

Never: TypeAlias = list[list[tuple[int, int]]]
"""Facts (variable, value) and pairs of them that never come true from a state on, as `find_invariant` says."""


def _digest(written: Mapping[str, Any]) -> str:
    text = json.dumps(written, sort_keys=True, separators=(",", ":"))
    return hashlib.sha256(text.encode()).hexdigest()[:12]


@dataclass(frozen=True)
class BoundingFunction:
    """A lower bound on h* that is checked once and looked up for every state, as JSON (docs/proofs.md)."""

    written: Mapping[str, Any]
    parts: "tuple[BoundingFunction, ...]" = ()
    """What it refers to, which is written too."""

    @cached_property
    def name(self) -> str:
        """A digest of what is written: functions with the same name are the same."""
        return _digest(self.written)

    def as_json(self) -> dict[str, Any]:
        """A line of the evidence."""
        return {"name": self.name, **self.written}


@dataclass(frozen=True)
class Surrounded:
    """A lower bound: all ways out of some states lead to where bounding functions prove what is missing.

    Without such states it says what one of the functions says of the state itself.
    """

    bound: float
    functions: tuple[BoundingFunction, ...]
    inside: Mapping[str, Any] = field(default_factory=lambda: packed_states(()))
    """The states that a search expanded, as certificates write them."""

    @property
    def kind(self) -> str:
        """`frontier`."""
        return "frontier"

    def further_on(self, cost: float) -> "Surrounded":
        """What it proves of a state that a path of this cost leads to: the rest, by the same evidence.

        That all functions are consistent (no action costs less than the difference that it makes) is why the
        checker agrees. As long as the path stays inside, ways from its end are at most its cost shorter. Where
        it leaves the inside, a function proves what is missing, and so it does in every state from there on.
        """
        return Surrounded(self.bound - cost, self.functions, self.inside)

    def needs(self) -> dict[str, BoundingFunction]:
        """All functions that it rests on, by name; each stands after those that it refers to."""
        return {part.name: part for function in self.functions for part in (*function.parts, function)}

    @cached_property
    def name(self) -> str:
        """A digest of all but the bound; certificates refer to the proof by it."""
        return _digest(self._written())

    def lines(self) -> dict[str, dict[str, Any]]:
        """What the checker needs to know beside the certificates, by name."""
        found = {name: function.as_json() for name, function in self.needs().items()}
        return {**found, self.name: {"name": self.name, **self._written()}}

    def as_json(self, bound: Bound, /) -> dict[str, Any]:
        """What it proves, even where less is claimed; the proof stands elsewhere, once for all."""
        return {"kind": self.kind, "bound": cost_as_json(self.bound), "proof": self.name}

    def _written(self) -> dict[str, Any]:
        functions = [function.name for function in self.functions]
        return {"kind": self.kind, "functions": functions, "inside": dict(self.inside)}


@dataclass(slots=True)
class ProofLog:
    """The proofs of a record, each in one line of its evidence, with the functions that no earlier one needs.

    There, functions go by numbers, which take less room than digests. Proofs go by their digests: what refers
    to them is the same whatever else was proven before.
    """

    append: Callable[[Mapping[str, Any]], None] = lambda line: None
    """Takes a new line."""
    _numbers: dict[str, int] = field(default_factory=dict)
    _functions: dict[int, BoundingFunction] = field(default_factory=dict)
    _read: dict[str, tuple[tuple[BoundingFunction, ...], Mapping[str, Any]]] = field(default_factory=dict)
    _known: set[str] = field(default_factory=set)
    _next: int = 0

    def take_in(self, lines: Iterable[Mapping[str, Any]]) -> None:
        """These are there already; a damaged one is as good as none."""
        for line in unpacked_lines(lines):
            with contextlib.suppress(KeyError, TypeError, ValueError):
                self._take(line)

    def __contains__(self, name: object) -> bool:
        return name in self._known

    def keep(self, proof: Surrounded) -> None:
        """Writes a proof, unless that was done before."""
        if proof.name in self._known:
            return
        new, numbers = [], dict[str, int]()

        def numbered(name: str) -> int:
            return self._numbers[name] if name in self._numbers else numbers[name]

        for line in proof.lines().values():
            name = line["name"]
            if name != proof.name:
                if name in self._numbers:
                    continue
                numbers[name] = self._next + len(numbers)
                name = numbers[name]
            new.append({**_renamed(line, numbered), "name": name})
        self.append(packed_lines(new))
        self._numbers |= numbers
        self._next += len(numbers)
        self._known.add(proof.name)

    def read(self, evidence: Mapping[str, Any]) -> Surrounded:
        """The proof that a certificate or an answer refers to; KeyError where the log had none when opened."""
        functions, inside = self._read[evidence["proof"]]
        return Surrounded(math.inf if evidence["bound"] is None else evidence["bound"], functions, inside)

    def _take(self, line: Mapping[str, Any]) -> None:
        content = _renamed(line, lambda number: self._functions[number].name)
        name = content.pop("name")
        if content["kind"] == "frontier":
            functions = tuple(self._functions[number] for number in line["functions"])
            self._read[name] = functions, content["inside"]
            self._known.add(name)
            return
        referred = [self._functions[number] for number in _names(line)]
        parts = tuple(part for function in referred for part in (*function.parts, function))
        self._functions[name] = BoundingFunction(content, parts)
        self._numbers[self._functions[name].name] = name
        self._next = max(self._next, name + 1)


def _names(line: Mapping[str, Any]) -> list[Any]:
    """What a line of evidence refers to."""
    return [*line.get("functions", ()), *(name for _, cuts in line.get("shares", ()) for name in cuts)]


def _renamed(line: Mapping[str, Any], rename: Callable[[Any], Any]) -> dict[str, Any]:
    """A line of evidence in which everything that it refers to has another name."""
    changed = dict(line)
    if "functions" in line:
        changed["functions"] = [rename(name) for name in line["functions"]]
    if "shares" in line:
        changed["shares"] = [[share, [rename(name) for name in cuts]] for share, cuts in line["shares"]]
    return changed


@dataclass(slots=True)
class _Invariant:
    never: list[dict[int, int]]
    function: BoundingFunction

    def holds(self, values: tuple[int, ...]) -> bool:
        return not any(all(values[v] == x for v, x in facts.items()) for facts in self.never)


@dataclass(slots=True)
class _Region:
    states: frozenset[tuple[int, ...]]
    function: BoundingFunction

    def holds(self, values: tuple[int, ...]) -> bool:
        return values in self.states


def _region(inside: tuple[tuple[int, ...], ...], functions: tuple[BoundingFunction, ...]) -> BoundingFunction:
    """States without a plan; the functions show the same of all that lies around them."""
    names = [function.name for function in functions]
    parts = tuple(part for function in functions for part in (*function.parts, function))
    return BoundingFunction({"kind": "region", "inside": packed_states(inside), "functions": names}, parts)


@dataclass(slots=True)
class Prover:
    """Turns what native code found into proofs; their functions are shared by all states of a task."""

    task: Task
    _library: ChargesLibrary = field(init=False)
    _charges: dict[int, BoundingFunction] = field(default_factory=dict)
    _cuts: dict[tuple[int, ...], BoundingFunction] = field(default_factory=dict)
    _abstractions: dict[int, BoundingFunction] = field(default_factory=dict)
    _dead_ends: list[_Invariant | _Region] = field(default_factory=list)
    """Those that were of use last come first."""
    _first_fact: list[int] = field(default_factory=list)

    def __post_init__(self) -> None:
        self._library = ChargesLibrary(self.task)
        self._first_fact = [0, *itertools.accumulate(self.task.domain_sizes)]

    def frontier(self, found: SearchResult, *, abstraction: Abstraction | None = None) -> Surrounded | None:
        """Why the lower bound of an A* search with LM-cut, an abstraction or both holds.

        None where the search was not asked to keep its frontier, or that is too large.
        """
        frontier: Frontier | None = found.frontier
        if frontier is None:
            return None
        known: Heuristic | None = None if abstraction is None else abstraction.heuristic()
        covered = self._library.cover(frontier, known)
        if covered is None:
            return None
        indices, is_abstraction_used = covered
        functions = [self._charged(index) for index in indices]
        if abstraction is not None and is_abstraction_used:
            functions.insert(0, self.abstraction(abstraction))
        inside = tuple(map(tuple, frontier.expanded.values.tolist()))
        if frontier.bound < math.inf or not inside:
            return Surrounded(frontier.bound, tuple(functions), packed_states(inside))
        region = _Region(frozenset(inside), _region(inside, tuple(functions)))
        self._dead_ends.insert(0, region)
        return Surrounded(math.inf, (region.function,))

    def remember(self, proof: Surrounded) -> None:
        """Takes in what a stopped test had proven, so that the next proof is the one it would have made."""
        for function in proof.functions:
            self._remember(function)

    def _remember(self, function: BoundingFunction) -> None:
        written = function.written
        parts = {part.name: part for part in function.parts}
        if written["kind"] == "charges":
            named = [(parts[name], share) for share, cuts in written["shares"] for name in cuts]
            index = self._library.use([(list(cut.written["facts"]), share) for cut, share in named])
            self._charges.setdefault(index, function)
        elif written["kind"] == "region":
            for name in written["functions"]:
                self._remember(parts[name])
            self._put_first(_Region(frozenset(self._states(written["inside"])), function))
        elif written["kind"] == "invariant":
            pairs = [[self._fact(number) for number in facts] for facts in written["never"]]
            self._put_first(_Invariant([dict(facts) for facts in pairs], function))

    def _states(self, inside: Mapping[str, Any]) -> Iterator[tuple[int, ...]]:
        """What `packed_states` wrote."""
        data = zlib.decompress(base64.b85decode(inside["values"]))
        numbers = memoryview(data).cast("B" if inside["width"] == 1 else "I").tolist()
        count = inside["count"]
        columns = (numbers[at * count : (at + 1) * count] for at in range(len(self._first_fact) - 1))
        return zip(*columns, strict=True)

    def _fact(self, number: int) -> tuple[int, int]:
        variable = bisect.bisect_right(self._first_fact, number) - 1
        return variable, number - self._first_fact[variable]

    def _put_first(self, known: _Invariant | _Region) -> None:
        names = [each.function.name for each in self._dead_ends]
        if known.function.name in names:
            known = self._dead_ends.pop(names.index(known.function.name))
        self._dead_ends.insert(0, known)

    def looked_up(self, abstraction: Abstraction, state: State) -> Surrounded | None:
        """What an abstraction says of a state; None where that is nothing."""
        value = abstraction(state)
        return Surrounded(value, (self.abstraction(abstraction),)) if value > 0 else None

    def dead_end(self, state: State, *, find: Callable[[], Never | None] | None = None) -> Surrounded | None:
        """Why a state has no plan, by what was shown of another or by h^2; None where neither shows it.

        `find` looks for what never comes true; by default it takes all the time that it needs.
        """
        known = self.known_dead_end(state)
        if known is not None:
            return known
        never = find_invariant(self.task, state) if find is None else find()
        if never is None:
            return None
        facts = [[self._first_fact[variable] + value for variable, value in pairs] for pairs in never]
        function = BoundingFunction({"kind": "invariant", "never": facts})
        self._dead_ends.insert(0, _Invariant([dict(pairs) for pairs in never], function))
        return Surrounded(math.inf, (function,))

    def is_known_dead_end(self, state: State) -> bool:
        """Whether there is such a proof; any thread may ask."""
        values = tuple(state.values)
        return any(known.holds(values) for known in tuple(self._dead_ends))

    def known_dead_end(self, state: State) -> Surrounded | None:
        """Why a state has no plan, where that was shown together with another state's."""
        values = tuple(state.values)
        for place, known in enumerate(self._dead_ends):
            if known.holds(values):
                self._dead_ends.insert(0, self._dead_ends.pop(place))
                return Surrounded(math.inf, (known.function,))
        return None

    def abstraction(self, abstraction: Abstraction) -> BoundingFunction:
        """How an abstraction was made, and its distances."""
        if id(abstraction) not in self._abstractions:
            steps = [
                {"factor": factor, "partner": partner, "table": table}
                for factor, partner, table in abstraction.steps
            ]
            distances = [[factor, values] for factor, values in abstraction.distances]
            written = {"kind": "abstraction", "steps": steps, "distances": distances}
            self._abstractions[id(abstraction)] = BoundingFunction(written)
        return self._abstractions[id(abstraction)]

    def _charged(self, index: int) -> BoundingFunction:
        if index not in self._charges:
            cuts: dict[int | None, list[BoundingFunction]] = {}
            for facts, share in self._library.charges(index):
                cut = self._cuts.setdefault(tuple(facts), BoundingFunction({"kind": "cut", "facts": facts}))
                cuts.setdefault(share, []).append(cut)
            shares = [[share, [cut.name for cut in charged]] for share, charged in cuts.items()]
            parts = tuple(cut for charged in cuts.values() for cut in charged)
            self._charges[index] = BoundingFunction({"kind": "charges", "shares": shares}, parts)
        return self._charges[index]
