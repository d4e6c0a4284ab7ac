"""The tasks that an ASNet is trained and validated on, and the labelled states of its pool."""

from abc import ABC, abstractmethod
from collections import defaultdict
from collections.abc import Callable, Hashable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from typing import Generic, TypeAlias, TypeVar

from misstep import _core
from misstep._core import AsnetTrainer, Budget, StopFlag
from misstep.errors import InputError, LimitReached
from misstep.formats.asnet_model import AsnetModel, Floats
from misstep.plugins import make_part
from misstep.policies.asnet import ground_net, network_arguments
from misstep.task import Task
from misstep.training.asnet_config import AsnetConfig, Variant
from misstep.training.asnet_init import configured_model
from misstep.training.gnn_config import GnnConfig
from misstep.training.gnn_trainer import GnnTrainer
from misstep.training.labels import Labeller, Regrets, Sample
from misstep.training.teacher_cache import TeacherCache

_MOST_WAITING = 5
"""A task that teachers fail on is asked about again after at most 2 to the power of this many epochs."""


class TimeUp(LimitReached):
    """The time was up in the middle of an epoch, which is dropped."""

    def __init__(self) -> None:
        super().__init__("the time for training was up; allow more --seconds", "seconds")


@dataclass(frozen=True, slots=True)
class PoolEntry:
    """A labelled state of the pool as it is kept on disk: facts and action names, never numbers."""

    task: int
    facts: tuple[str, ...]
    regrets: tuple[tuple[str, float | None], ...]
    """Empty where the teachers had no answer: kept so that a later session does not ask again."""


TrainerT = TypeVar("TrainerT", AsnetTrainer, GnnTrainer)
ConfigT = TypeVar("ConfigT", AsnetConfig, GnnConfig)


@dataclass
class LabelledTasks(ABC, Generic[TrainerT, ConfigT]):
    """One trainer with all tasks: those to train on come first, then those to validate on."""

    trainer: TrainerT
    tasks: Sequence[Task]
    num_training: int
    config: ConfigT
    cache: TeacherCache | None = None
    report: Callable[[str], None] = lambda _: None
    budget: Budget = field(default_factory=Budget)
    """Where it is used up TimeUp is raised: teachers are not asked, and an epoch ends in its middle."""
    entries: list[PoolEntry] = field(default_factory=list)
    """What teachers labelled, in order; enumerated states are not among them."""
    enumerated: list[int | None] = field(default_factory=list)
    """By training task the number of states labelled exactly, None where there are too many states."""
    _seen: defaultdict[int, set[_core.State]] = field(default_factory=lambda: defaultdict(set))
    _failures: defaultdict[int, int] = field(default_factory=lambda: defaultdict(int))
    """By training task how many states in a row the teachers had no answer for."""
    _labellers: dict[int, Labeller] = field(default_factory=dict)

    @property
    def size(self) -> int:
        """The number of labelled states."""
        return sum(self.trainer.num_samples(task) for task in range(self.num_training))

    def require_labels(self) -> None:
        """InputError where no teacher could say anything about any state."""
        if self.size == 0:
            raise InputError(
                "no training task could be solved by a teacher, so there is nothing to learn from; give smaller tasks, "
                "other teachers (`--teacher`), or more expansions for a call (`--expansions`)"
            )

    @property
    def judging(self) -> range:
        """The tasks that models are judged by: those to validate on; those to train on where there are none."""
        return range(self.num_training, len(self.tasks)) or range(self.num_training)

    def check_time(self) -> None:
        """TimeUp where the budget is used up."""
        if self.budget.is_over:
            raise TimeUp

    def visit(self, task: int, states: Sequence[_core.State], *, most: int, turn: int = 0) -> int:
        """Asks teachers about states that are new, at most so many; returns how many were asked about.

        With `back_off` a task is left alone in more and more turns while its teachers fail: calls that reach
        their limit are the dearest and teach nothing.
        """
        waits = self.config.back_off and turn % 2 ** min(self._failures[task], _MOST_WAITING) != 0
        if self.enumerated[task] is not None or waits:
            return 0
        asked = 0
        for state in states:
            if asked >= most:
                break
            if state in self._seen[task] or self.tasks[task].is_goal(state):
                continue
            self.check_time()
            asked += 1
            self._seen[task].add(state)
            labeller = self._labeller(task)
            ask = labeller.along_plan if self.config.labels == "plan" else labeller.by_successors
            samples = ask(state)
            for sample in samples:
                self._add(task, sample, is_new=sample.state == state or sample.state not in self._seen[task])
            if not samples:
                self._fail(task, state)
                if self.config.back_off:
                    break
        return asked

    def restore(self, entry: PoolEntry) -> None:
        """Adds an entry of an earlier session, as it was added then."""
        sample = self._sample(entry)
        if sample.regrets:
            self._add(entry.task, sample, is_new=True)
        else:
            self._fail(entry.task, sample.state)

    def _sample(self, entry: PoolEntry) -> Sample:
        """The entry with the numbers of its task; without regrets where it has none."""
        task = self.tasks[entry.task]
        state = task.state(entry.facts)
        numbers: dict[str, list[int]] = {}
        for action in task.applicable(state):
            numbers.setdefault(action.name, []).append(action.index)
        # The translator may split an action into several of the same name: they were written in order.
        regrets: Regrets = [(numbers[name].pop(0), regret) for name, regret in entry.regrets]
        return Sample(state, regrets)

    def _fail(self, task: int, state: _core.State) -> None:
        self._seen[task].add(state)
        self._failures[task] += 1
        self.entries.append(PoolEntry(task, tuple(state.facts), ()))

    def _add(self, task: int, sample: Sample, *, is_new: bool) -> None:
        self._seen[task].add(sample.state)
        self._failures[task] = 0
        if not is_new:
            return
        self._learn(task, sample)
        names = tuple((self.tasks[task].actions[action].name, regret) for action, regret in sample.regrets)
        self.entries.append(PoolEntry(task, tuple(sample.state.facts), names))

    def _learn(self, task: int, sample: Sample) -> None:
        """Tells whoever is trained of a new sample."""
        self.trainer.add_sample(task, sample.state, sample.regrets)

    def use(self, layers: int) -> None:
        """From here on `trainer` is that of networks of this depth; there is only one unless a subclass has more."""

    def _labeller(self, task: int) -> Labeller:
        if task not in self._labellers:
            config = self.config
            self._labellers[task] = Labeller(
                self.tasks[task], config.teachers, config.teacher_expansions, self.cache, self.report
            )
        return self._labellers[task]

    @abstractmethod
    def train(self, variant: Hashable, *, rate: float) -> float:
        """One epoch of minibatches with the loss of a variant; the mean loss."""

    @abstractmethod
    def policy(self, task: int, parameters: Floats) -> _core.AsnetPolicy | _core.GnnPolicy:
        """The policy with these parameters on one of the tasks."""

    def run(self, parameters: Floats, tasks: Sequence[int]) -> list[_core.Run]:
        """How the policy with these parameters fares from the initial states of some tasks; TimeUp as elsewhere."""
        stop = StopFlag()
        budget = Budget(seconds=self.budget.seconds_left, stop=stop)

        def run_one(number: int) -> _core.Run:
            task = self.tasks[number]
            graph = _core.PolicyGraph(task, self.policy(number, parameters), dead_ends=False, recheck=False)
            starts = task.batch([task.initial_state])
            runs = graph.run(starts, max_steps=self.config.max_steps, budget=budget)
            if not runs:
                raise TimeUp
            return runs[0]

        with ThreadPoolExecutor(self.config.threads) as threads:
            try:
                return list(threads.map(run_one, tasks))
            except BaseException:  # A limit that rings here: the threads do not hear it.
                stop.set()
                raise


AnyData: TypeAlias = LabelledTasks[AsnetTrainer, AsnetConfig] | LabelledTasks[GnnTrainer, GnnConfig]


@dataclass(kw_only=True)
class TrainingData(LabelledTasks[AsnetTrainer, AsnetConfig]):
    """The tasks of an ASNet's training."""

    model: AsnetModel
    """An untrained network of the trainer's depth."""
    others: dict[int, tuple[AsnetModel, AsnetTrainer]] = field(default_factory=dict)
    """By depth the models and trainers that are not in use now; they learn of all labelled states, too."""

    def use(self, layers: int) -> None:
        """Goes on with networks of this depth, for which all states that were labelled so far count as well."""
        if layers == self.model.num_layers:
            return
        coming = self.others.pop(layers, None) or self._of_depth(layers)
        self.others[self.model.num_layers] = self.model, self.trainer
        self.model, self.trainer = coming

    def _of_depth(self, layers: int) -> tuple[AsnetModel, AsnetTrainer]:
        view = self.tasks[0].pddl
        assert view is not None
        model = configured_model(view, self.config, seed=self.config.seed, layers=layers)
        trainer = _make_trainer(model, self.tasks, self.config)
        for number, count in enumerate(self.enumerated):
            if count is not None:
                self._add_space(trainer, number)
        for entry in self.entries:
            if entry.regrets:  # others are states that teachers had no answer for
                sample = self._sample(entry)
                trainer.add_sample(entry.task, sample.state, sample.regrets)
        return model, trainer

    def _learn(self, task: int, sample: Sample) -> None:
        for trainer in (self.trainer, *(each for _, each in self.others.values())):
            trainer.add_sample(task, sample.state, sample.regrets)

    def enumerate(self) -> None:
        """Labels the states of all training tasks that are small enough exactly."""
        for number in range(self.num_training):
            self.enumerated.append(
                self._add_space(self.trainer, number) if self.config.max_states > 0 else None
            )

    def _add_space(self, trainer: AsnetTrainer, number: int) -> int | None:
        return trainer.add_state_space(
            number,
            max_states=self.config.max_states,
            max_samples=self.config.max_samples,
            seed=self.config.seed,
            budget=self.budget,
        )

    def train(self, variant: Hashable, *, rate: float) -> float:
        """One epoch of minibatches with the loss of a variant; the mean loss."""
        assert isinstance(variant, Variant)
        config = self.config
        return self.trainer.train(
            config.batches,
            loss=variant.loss,
            max_regret=variant.max_regret,
            batch=config.batch,
            rate=rate,
            dropout=config.dropout,
            weight_decay=config.weight_decay,
            task_power=config.task_power,
            budget=self.budget,
        )

    def policy(self, task: int, parameters: Floats) -> _core.AsnetPolicy:
        """The policy with these parameters on one of the tasks."""
        return self.trainer.policy(task, parameters)


def make_data(
    model: AsnetModel,
    training: Sequence[Task],
    validation: Sequence[Task],
    config: AsnetConfig,
    *,
    cache: TeacherCache | None = None,
    report: Callable[[str], None] = lambda _: None,
) -> TrainingData:
    """A trainer with the tasks' networks; the model gives the shapes of the modules and the first weights."""
    if not training:
        raise InputError("training an ASNet needs at least one task")
    for text in config.teachers:
        make_part("teacher", text)  # An unknown one is told before any work is done.
    tasks = (*training, *validation)
    trainer = _make_trainer(model, tasks, config)
    return TrainingData(trainer, tasks, len(training), config, cache, report, model=model)


def _make_trainer(model: AsnetModel, tasks: Sequence[Task], config: AsnetConfig) -> AsnetTrainer:
    nets = [ground_net(model, task, source=task.source) for task in tasks]
    arguments = network_arguments(model, nets[0])
    shape = {
        key: arguments[key] for key in ("hidden", "predicate_slots", "action_modules", "predicate_modules")
    }
    trainer = AsnetTrainer(**shape, threads=config.threads, seed=config.seed)
    for task, net in zip(tasks, nets, strict=True):
        trainer.add_task(task, **network_arguments(model, net))
    return trainer
