"""Ahead: threads that do the heavy work of coming cases before it is asked for; they decide nothing.

A session goes through its cases one by one, whatever the number of jobs. Heavy work, such as a search, is a
function of its key (`Knowledge.work`), so it does not matter who does it. Helpers play the coming cases
through in labs of their own, which begin with what is known at the moment and are thrown away, and leave the
results of heavy work on a shelf. Where things turn out otherwise than a helper thought, its work was in vain:
that costs time, but never changes a result.
"""

import math
import signal
import sys
import threading
from collections import deque
from collections.abc import Callable, Container, Hashable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import islice
from typing import Any, Protocol, TypeVar, cast

from misstep._core import Abstraction, PolicyGraph, Run, SearchResult, State
from misstep.bound import Bound
from misstep.budget import Budget
from misstep.claim import Claim
from misstep.explain.fault import localise
from misstep.judge import Verdict
from misstep.lab import Known, Lab
from misstep.oracle import Case, GuessPanel, Oracle, OraclePart, Panel, open_case
from misstep.pool import PoolEntry
from misstep.proof import Never, Prover, Surrounded

T = TypeVar("T")
# So many cases for each helper lie between the one that is tested and the last one that is played through.
_WINDOW = 8
# When a round has no more to do, helpers prepare these after it. What they need changes every second round. Most
# tests have no round with more than the oracles' own effort, so the first of these is prepared when it is there.
_ROUNDS_AHEAD = (1, 2)
# How often somebody who waits for a result looks whether that still makes sense.
_LOOK_SECONDS = 0.05
# A thread that comes back from native code waits up to so long for one that is at work in Python. The usual five
# milliseconds are as long as many a search.
_SWITCH_SECONDS = 0.0005
# Work that ended so has another result when it is done alone.
_UNFINISHED = ("memory", "stopped")


# How often a helper looks whether somebody else has left a place to it.
_PLACE_SECONDS = 0.2


class Places(Protocol):
    """Room for helpers where several tests share the processors: a semaphore."""

    def acquire(self, block: bool = True, timeout: float | None = None) -> bool:
        """Takes a place; False where there was none for so long."""
        ...

    def release(self) -> None:
        """Gives it back."""
        ...


class _InVain(Exception):
    """What a helper does is of no use any more."""


@dataclass(slots=True, eq=False)
class _Work:
    """Something that somebody is at, or has done."""

    owner: int | None
    """The case that a helper does it for."""
    done: threading.Event = field(default_factory=threading.Event)
    is_good: bool = False
    """Whether there is a result that others may use."""
    result: Any = None


@dataclass(frozen=True, slots=True)
class _Coming:
    """A case that is going to be tested."""

    place: int
    """In the order of the round."""
    entry: PoolEntry
    run: Run | None
    """None where the helper runs the policy itself."""
    case: Case | None
    """None in the first round: then it is opened when its turn comes."""
    round: int
    scale: float
    is_bug: bool
    """Whether it is one already, and its fault looked for."""


@dataclass(frozen=True, slots=True)
class _Preparation:
    """Something that all cases of a round need."""

    number: int
    """Among all that is prepared."""
    round: int
    scale: float


class Ahead:
    """Helpers of one test. `take` is for the thread that tests; `close` ends them all."""

    def __init__(
        self,
        lab: Lab,
        panel: Panel[Any, Case],
        parts: Sequence[OraclePart],
        *,
        jobs: int,
        budget: Budget,
        faults: bool,
        places: Places | None = None,
    ) -> None:
        """`budget` is for the helpers and has a stop flag of its own; `panel` asks the oracles of `parts`.

        Where there are `places`, helpers begin only when there is one for them.
        """
        self.lab, self.panel, self.parts, self.places = lab, panel, parts, places
        self.budget, self.faults, self.jobs = budget, faults, jobs
        self.used = 0
        """Results that were there before they were asked for."""
        self.failures: list[Exception] = []
        """Errors of helpers. Where they mean anything, the test itself comes upon them."""
        self._shelf: dict[Hashable, _Work] = {}
        self._coming: deque[_Coming] = deque()
        self._preparations: deque[_Preparation] = deque()
        self._early: deque[_Preparation] = deque()
        """For rounds that may come; nobody has to wait then."""
        self._places: dict[int, int] = {}
        """Of all cases that were expected in this round."""
        self._place, self._size = 0, 0
        """The first case of this round that was not begun yet, and how many there are."""
        self._changed = threading.Condition()
        """Also guards the shelf."""
        self._is_closed = False
        self._is_helped = threading.Event()
        """Whether there is any place but that of the thread that tests."""
        self._threads: list[threading.Thread] = []
        self._switch_seconds = sys.getswitchinterval()
        self._graphs = [lab.graph.ahead() for _ in range(jobs)]
        _ = lab.prover  # it is made now: later two threads might make one each

    @property
    def run_policy(self) -> bool:
        """Whether helpers run the policy themselves: then they need not wait for runs."""
        return None not in self._graphs

    @property
    def among(self) -> int:
        """How many cases each helper shares the time with."""
        return max(1, (self._size - self._place) // self.jobs)

    def expect_again(self, cases: Sequence[Any], *, bugs: Container[int]) -> None:
        """Another round begins, with these cases; `bugs` are known to be bugs already."""
        with self._changed:
            self._preparations.clear()
            self._early.clear()
            self._coming.clear()
            # What belongs to no case holds in every round.
            self._shelf = {key: work for key, work in self._shelf.items() if work.owner is None}
            self._places.clear()
            self._place = 0
        self.expect(cases, size=len(cases), bugs=bugs)

    def expect(
        self, cases: Sequence[Case | tuple[PoolEntry, Run | None]], *, size: int, bugs: Container[int] = ()
    ) -> None:
        """These are tested next, in this order, in a round of so many; `bugs` are known to be bugs already.

        A state without its run can be expected only where helpers run the policy.
        """
        lab = self.lab
        with self._changed:
            self._size = size
            if not self._places:
                things = sum(1 for _ in _preparations(self.panel.oracles))
                self._preparations.extend(_Preparation(n, lab.round, lab.scale) for n in range(things))
                self._early.extend(
                    _Preparation(n, lab.round + more, lab.scale * 2**more)
                    for more in _ROUNDS_AHEAD
                    for n in range(things)
                    if lab.scale * 2**more <= 1 or lab.scale > 1
                )
            for each in cases:
                entry, run, case = (each.entry, each.run, each) if isinstance(each, Case) else (*each, None)
                place = self._places[entry.id] = len(self._places)
                is_bug = entry.id in bugs
                self._coming.append(_Coming(place, entry, run, case, lab.round, lab.scale, is_bug))
            self._changed.notify_all()
        if not self._threads and not self._is_closed:
            self._start()

    def begin(self, case: int) -> None:
        """The case is tested now: nobody needs to begin with it any more."""
        with self._changed:
            self._place = self._places.get(case, self._place) + 1
            while self._coming and self._coming[0].place < self._place:
                self._coming.popleft()
            self._changed.notify_all()

    def end(self, case: int) -> None:
        """The case was tested: what is left of the work for it is of no use."""
        with self._changed:
            for key in [key for key, work in self._shelf.items() if work.owner == case]:
                del self._shelf[key]

    def close(self) -> None:
        """Ends all helpers and waits for that."""
        stop = self.budget.stop
        assert stop is not None
        stop.set()
        with self._changed:
            self._is_closed = True
            self._preparations.clear()
            self._early.clear()
            self._coming.clear()
            self._shelf.clear()
            self._changed.notify_all()
        self._is_helped.set()
        for thread in self._threads:
            thread.join()
        if self._threads:
            sys.setswitchinterval(self._switch_seconds)
        self._threads.clear()
        self._graphs.clear()
        self.lab.graph.end_ahead()

    def take(self, key: Hashable, make: Callable[[], T], /, *, is_fixed: bool = False) -> T:
        """The result of the work: that of a helper, where one has it or is at it, else it is done now."""
        work, is_mine = self._claim(key, None)
        if is_mine:
            return self._do(key, work, make, keep=is_fixed)
        while not work.done.wait(_LOOK_SECONDS):
            if self.lab.budget.is_over:
                return make()
        if not work.is_good:
            return make()
        self.used += 1
        return cast(T, work.result)

    def take_ahead(self, key: Hashable, make: Callable[[], T], /, *, place: float, owner: int | None) -> T:
        """The same for a helper who is at a case of this place; ends it where that was begun meanwhile."""
        if self._is_closed or place < self._place:
            raise _InVain
        work, is_mine = self._claim(key, owner)
        if is_mine:
            return self._do(key, work, make, keep=True)
        while not work.done.wait(_LOOK_SECONDS):
            if self._is_closed:
                raise _InVain
        if not work.is_good:
            raise _InVain
        return cast(T, work.result)

    def next(self) -> _Coming | _Preparation | None:
        """The next thing to do; waits for one. None where there will be no more."""
        with self._changed:
            while not self._is_closed:
                if self._preparations and not self._is_recalling:
                    return self._preparations.popleft()
                is_near = self._coming and self._coming[0].place < self._place + _WINDOW * self.jobs
                if is_near and not self._is_recalling:
                    return self._coming.popleft()
                is_whole = len(self._places) == self._size and not self._coming
                if is_whole and self._early and not self._is_recalling:
                    return self._early.popleft()
                self._changed.wait()
        return None

    @property
    def _is_recalling(self) -> bool:
        """Whether the test repeats what it did before it was stopped: then there is nothing to work on."""
        return self.lab.memory is not None and len(self.lab.memory.answers) > 0

    def _claim(self, key: Hashable, owner: int | None) -> tuple[_Work, bool]:
        """The work with this key, and whether it is the caller's to do."""
        with self._changed:
            work = self._shelf.get(key)
            if work is not None:
                return work, False
            work = self._shelf[key] = _Work(owner)
            return work, True

    def _do(self, key: Hashable, work: _Work, make: Callable[[], T], *, keep: bool) -> T:
        try:
            result = make()
            is_whole = getattr(result, "limit", None) not in _UNFINISHED
            work.is_good, work.result = is_whole and not self._is_closed, result
            return result
        finally:
            if not (keep and work.is_good):
                with self._changed:
                    if self._shelf.get(key) is work:
                        del self._shelf[key]
            work.done.set()

    def _start(self) -> None:
        self._switch_seconds = sys.getswitchinterval()
        sys.setswitchinterval(min(self._switch_seconds, _SWITCH_SECONDS))
        for args in enumerate(self._graphs):
            thread = threading.Thread(target=self._serve, args=args, name=f"ahead-{args[0]}", daemon=True)
            thread.start()
            self._threads.append(thread)

    def _serve(self, number: int, graph: PolicyGraph | None) -> None:
        """The life of a helper. Signals are for the thread that tests.

        That thread has a place anyway and waits for helpers most of the time, so the first one needs none of
        its own; it begins with the second one.
        """
        signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT, signal.SIGTERM})
        if self.places is None:
            _Helper(self, graph).serve()
        elif number == 0:
            self._is_helped.wait()
            _Helper(self, graph).serve()
        elif self._take_place(self.places):
            self._is_helped.set()
            try:
                _Helper(self, graph).serve()
            finally:
                self.places.release()

    def _take_place(self, places: Places) -> bool:
        while not self._is_closed:
            if places.acquire(timeout=_PLACE_SECONDS):
                return True
        return False


@dataclass(slots=True, kw_only=True)
class _Guess(Lab):
    """A helper's lab: what the session's lab knows, and what the helper finds out about one case."""

    main: Lab

    def known(self, state: State) -> Known[State]:
        found = self._known.get(state)
        if found is None:
            main = self.main
            found = self._known[state] = Known(main.best(state), main.upper(state), main.lower(state))
        return found

    def best(self, state: State) -> Bound:
        return self.known(state).bound

    def upper(self, state: State) -> Claim[State] | None:
        return self.known(state).upper

    def lower(self, state: State) -> Claim[State] | None:
        return self.known(state).lower

    def shared(self, key: Hashable, make: Callable[[], T], *, is_fixed: bool = False) -> T:
        if is_fixed and key in self.main._shared:
            return cast(T, self.main._shared[key])
        # Without arguments, super() does not work in a class with slots that a decorator made.
        return Lab.shared(self, key, make, is_fixed=is_fixed)

    def check(self, claim: Claim[State]) -> None:
        """Nothing is checked twice: what comes of it goes no further."""

    def forget(self) -> None:
        """Begins again with what the session knows."""
        self._known.clear()
        self._cuts.clear()
        self.changed.clear()


@dataclass(slots=True)
class _Guesser(Prover):
    """Says what can be proven without writing the proof down, which takes its place among all others'."""

    main: Lab | None = None

    def __post_init__(self) -> None:
        """Needs no library of its own."""

    def frontier(self, found: SearchResult, *, abstraction: Abstraction | None = None) -> Surrounded | None:
        return None if found.frontier is None else Surrounded(found.frontier.bound, ())

    def looked_up(self, abstraction: Abstraction, state: State) -> Surrounded | None:
        value = abstraction(state)
        return Surrounded(value, ()) if value > 0 else None

    def dead_end(self, state: State, *, find: Callable[[], Never | None] | None = None) -> Surrounded | None:
        known = self.known_dead_end(state)
        if known is not None or find is None:
            return known
        return None if find() is None else Surrounded(math.inf, ())

    def known_dead_end(self, state: State) -> Surrounded | None:
        assert self.main is not None
        return Surrounded(math.inf, ()) if self.main.prover.is_known_dead_end(state) else None


class _Silent:
    """Stands for an oracle that helpers cannot ask."""

    def claims(self, case: Case, /) -> Iterable[Claim[Any]]:
        return ()


def _preparations(oracles: Iterable[tuple[str, object]]) -> Iterator[Callable[[], object]]:
    """What oracles need for all cases of a round."""
    for _, oracle in oracles:
        if (prepare := getattr(oracle, "prepare", None)) is not None:
            yield from prepare()


class _Helper:
    """One thread with its lab, its oracles and its panel."""

    def __init__(self, ahead: Ahead, graph: PolicyGraph | None) -> None:
        """`graph` is for this thread alone; where there is none, it cannot ask the policy."""
        self.ahead, self.graph = ahead, graph
        self.coming: _Coming | None = None
        main = ahead.lab
        self.lab = _Guess(
            main=main,
            task=main.task,
            graph=graph or main.graph,
            budget=ahead.budget,
            max_steps=main.max_steps,
            seed=main.seed,
            entries=main.entries,
            is_extended=main.is_extended,
            helpers=self,
        )
        self.lab.shared("prover", lambda: _Guesser(main.task, main=main))
        asked = zip(ahead.parts, ahead.panel.oracles, strict=True)
        oracles = [(name, self._bound(part, oracle)) for part, (name, oracle) in asked]
        self.panel = GuessPanel(ahead.panel, self.lab, oracles)

    def _bound(self, part: OraclePart, oracle: Oracle[Case]) -> Oracle[Case]:
        can_help = getattr(oracle, "works_ahead", False) and (
            self.graph is not None or not getattr(oracle, "asks_policy", False)
        )
        return part.bind(self.lab) if can_help else _Silent()

    def serve(self) -> None:
        """Does one thing after the other, as long as there are any."""
        while (coming := self.ahead.next()) is not None:
            try:
                if isinstance(coming, _Coming):
                    self._play(coming)
                else:
                    self._prepare(coming)
            except _InVain:
                continue
            except Exception as error:
                self.ahead.failures.append(error)

    def take(self, key: Hashable, make: Callable[[], T], /, *, is_fixed: bool = False) -> T:
        """The result of the work, for the case that is played through."""
        coming = self.coming
        if coming is not None and coming.round != self.ahead.lab.round:
            raise _InVain
        place = math.inf if coming is None else coming.place
        owner = None if coming is None or is_fixed else coming.entry.id
        return self.ahead.take_ahead(key, make, place=place, owner=owner)

    def _prepare(self, thing: _Preparation) -> None:
        self.coming, lab = None, self.lab
        lab.round, lab.scale = thing.round, thing.scale
        make = next(islice(_preparations(self.panel.oracles), thing.number, None))
        make()

    def _play(self, coming: _Coming) -> None:
        self.coming, lab = coming, self.lab
        lab.forget()
        if self.graph is not None:
            self.graph.forget()
        lab.round, lab.scale = coming.round, coming.scale
        case = coming.case or self._opened(coming)
        judgement, _ = self.panel.test(case, among=self.ahead.among)
        if judgement.verdict is Verdict.BUG and self.ahead.faults and not coming.is_bug:
            localise(lab, case, exact=self.ahead.panel.seeks_exact)

    def _opened(self, coming: _Coming) -> Case:
        lab, entry = self.lab, coming.entry
        runs = lab.run([entry.state]) if coming.run is None else [coming.run]
        if not runs:  # the time is up
            raise _InVain
        return open_case(lab, entry, runs[0])
