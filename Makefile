# Every target sets up what it needs inside this checkout; only Python >= 3.11 and a C++20 compiler are assumed.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
CPP := $(shell find native -name '*.cpp' -o -name '*.hpp' -o -name '*.inc')
NATIVE := $(filter-out native/tests/%,$(CPP)) CMakeLists.txt
PIP := $(BIN)/python -m pip --disable-pip-version-check --quiet
PYTEST := $(BIN)/python -m pytest -q
JOBS ?= 2
# Where the editable install built the core; newest first, should there be several.
CORE = $(firstword $(shell ls -dt build/cp*/ 2>/dev/null))

.PHONY: demo test test-all native-test check docs tidy bench ledger mutation mutation-map sanitize fuzz mutants torture soundness format build clean golden
.DEFAULT_GOAL := test

# All that is installed from elsewhere; what comes after it compiles.
PROJECT = import tomllib; all = tomllib.load(open("pyproject.toml", "rb")); project = all["project"]
$(VENV)/.tools: pyproject.toml
	test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	$(BIN)/python -c '$(PROJECT); print(*all["build-system"]["requires"], *project["dependencies"], *project["optional-dependencies"]["dev"], sep="\n")' \
	    >$(VENV)/requirements.txt
	$(PIP) install "cmake>=3.25" ninja -r $(VENV)/requirements.txt
	touch $@

# Editable: Python files are live, the native core is rebuilt when one of its files changes.
$(VENV)/.built: $(VENV)/.tools $(NATIVE)
	$(PIP) install --no-build-isolation --no-deps --editable .
	$(BIN)/python -m nanobind.stubgen -q -m misstep._core -o src/misstep/_core.pyi
	touch $@

# Without extras and peers every other test still runs (theirs skip and say so). Peers are large.
$(VENV)/.extras: $(VENV)/.built
	$(PIP) install "grpcio>=1.66" "onnxruntime>=1.20" || echo "extras of policies are not available here"
	touch $@

$(VENV)/.peers: $(VENV)/.extras
	$(PIP) install $$($(BIN)/python -c '$(PROJECT); print(*project["optional-dependencies"]["peers"])') \
	    || echo "peers are not available here"
	touch $@

$(VENV)/.docs: $(VENV)/.built
	$(PIP) install $$($(BIN)/python -c '$(PROJECT); print(*project["optional-dependencies"]["docs"])')
	touch $@

build: $(VENV)/.built

demo: $(VENV)/.built
	$(BIN)/misstep demo

# What a change needs while one works on it: the core, everything in process, the doors and the screens of commands.
# That so many tests pass at least guards against folders that are no longer collected.
QUICK := tests/unit tests/property $(wildcard tests/doors tests/integration/test_doors*.py) tests/integration/test_screens.py
test: native-test $(VENV)/.extras
	MISSTEP_RANDOM_TASKS=200 $(PYTEST) -n $(JOBS) --minutes --passed-at-least 2500 $(QUICK)

# And whatever starts programs: commands, terminals, browsers, kills, pages of documentation, a sample of the peers'
# tasks, slices of the long campaigns. Of the property tests those that grow with the number of tasks run once more.
GROWING := $(addprefix tests/property/test_,random_tasks.py dominance.py jani_reference.py safety_deciders.py safety_mutations.py)
REST := tests/integration tests/golden tests/peers tests/mutants tests/torture
test-all: $(VENV)/.peers
	@begin=$$(date +%s); $(MAKE) --no-print-directory test && echo "== make test: $$(( ($$(date +%s) - begin + 30) / 60 )) minutes"
	$(PYTEST) -n $(JOBS) --minutes --passed-at-least 700 $(REST) $(GROWING) $(addprefix --ignore=,$(filter tests/integration/%,$(QUICK)))

# The documentation site, in build/docs: warnings are errors, links and anchors are checked, nothing is loaded from the network.
docs: $(VENV)/.docs
	$(BIN)/python -m sphinx -q -W --keep-going -d build/docs-trees -c docs/site docs build/docs
	$(BIN)/python docs/site/check.py build/docs

# The screens of all commands once more; look at what changed before you commit it.
golden: $(VENV)/.built
	MISSTEP_UPDATE_GOLDEN=1 $(PYTEST) tests/integration/test_screens.py tests/unit/test_live.py
	git diff --stat tests/golden

# The C++ unit tests, linked with the object files of the core.
native-test: $(VENV)/.built
	@$(BIN)/cmake --build $(CORE) --target native_tests --parallel $(JOBS) >build/native_tests.log || { cat build/native_tests.log; exit 1; }
	@$(CORE)native_tests

# Many more random tasks than `make test-all`, from a fresh seed; repeat with SEED=... TASKS=...
fuzz: $(VENV)/.built
	@seed=$${SEED:-$$($(BIN)/python -c 'import secrets; print(secrets.randbelow(10**9))')}; \
	tasks=$${TASKS:-20000}; echo "make fuzz SEED=$$seed TASKS=$$tasks"; \
	MISSTEP_RANDOM_SEED=$$seed MISSTEP_RANDOM_TASKS=$$tasks $(PYTEST) -n $(JOBS) tests/property

# Damaged files of every input format, given to the real commands; with the core of `make sanitize` where that was built.
mutants: $(VENV)/.built
	$(BIN)/python -m tests.mutants $(or $(SECONDS),600) $(SEED) $(if $(wildcard $(SANITIZED)/_core.*so),--sanitized $(SANITIZED))

# Small changes of the most trusted modules: does a test notice? Those that were made by hand, and MUTANTS drawn with SEED.
# The same command goes on after Ctrl-C. The map says which tests reach which lines; without it, each module has a usual list.
mutation: $(VENV)/.built
	$(BIN)/python -m tests.mutation --mutants $(or $(MUTANTS),400) --seed $(or $(SEED),1) --jobs $(JOBS)

mutation-map: $(VENV)/.built
	$(BIN)/python -m tests.mutation --map --jobs $(JOBS)

# Random PDDL with an interpreter and a Dijkstra of its own: everything that misstep says is compared. SECONDS=36000 for a night.
torture: $(VENV)/.built
	$(BIN)/python -m tests.torture $(or $(SECONDS),180) $(SEED)

# The same on many small worlds, until there are so many and so many verdicts: by their rate some twenty minutes of CPU.
soundness: $(VENV)/.built
	$(BIN)/python -m tests.torture $(or $(SECONDS),36000) $(SEED) --worlds $(or $(WORLDS),10000) --verdicts $(or $(VERDICTS),3000000) \
	    --flat 0.99 --small 0.8 --states 600 --bare 3 --recorded 0.3 --tests 1 --whole 0.9 --verify 0.4

# Searches side by side with Fast Downward, fuzzing, networks; QUICK=1 for rough numbers, JSON=FILE to keep them.
bench: $(VENV)/.built $(VENV)/.peers
	$(BIN)/python -m benchmarks $(if $(QUICK),--quick) $(if $(JSON),--json $(JSON))
	$(BIN)/python -m benchmarks.fuzzing
	$(BIN)/python -m benchmarks.asnet
	$(BIN)/python -m benchmarks.gnn
	$(BIN)/python -m benchmarks.dominance
	$(BIN)/python -m benchmarks.peer_pools
	$(BIN)/python -m benchmarks.isolation

# Instructions of fixed commands beside those that were kept: 3 % more in one of them fails. KEEP=1 keeps the counts,
# with REASON='...' where a command may take more from now on. ONLY='verify show' REPEAT=3 for some, several times.
ledger: $(VENV)/.built
	$(BIN)/python -m benchmarks.ledger --jobs $(JOBS) $(if $(ONLY),--only $(ONLY)) $(if $(REPEAT),--repeat $(REPEAT)) \
	    $(if $(KEEP),--keep) $(if $(REASON),--reason '$(REASON)')

check: $(VENV)/.built
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/mypy
	$(BIN)/lint-imports
	$(BIN)/vulture
	$(BIN)/clang-format --dry-run --Werror $(CPP)
	@$(MAKE) --no-print-directory --jobs $(JOBS) tidy

# clang-tidy, one stamp a source file. A header may matter to any of them. Kernels are left out: they are one
# file that is included with different vector types, and GCC's vector extensions are beyond clang-tidy.
TIDY := $(patsubst %.cpp,build/tidy/%.ok,$(filter-out %_avx2.cpp %_generic.cpp,$(filter %.cpp,$(CPP))))
tidy: $(TIDY)
build/tidy/%.ok: %.cpp .clang-tidy $(filter-out %.cpp,$(CPP)) $(VENV)/.built
	@mkdir -p $(@D)
	@echo "clang-tidy $<"; $(BIN)/clang-tidy -p $(CORE) --quiet $< 2>$(@:.ok=.log) || { cat $(@:.ok=.log); exit 1; }
	@touch $@

# The native core and its tests with address and undefined-behaviour sanitizers. The library paths are asked of the
# compiler; leaks are not looked for, since the interpreter has its own. Checked frames are large, so the stack is too.
SANITIZED := build/sanitize
sanitize: $(VENV)/.built
	$(BIN)/cmake -S . -B $(SANITIZED) -G Ninja -DMISSTEP_SANITIZE=ON \
	    -DPython_EXECUTABLE=$(abspath $(BIN)/python) -DCMAKE_MAKE_PROGRAM=$(abspath $(BIN)/ninja) >/dev/null
	$(BIN)/cmake --build $(SANITIZED) --target _core native_tests
	ulimit -s 65536; $(SANITIZED)/native_tests
	ulimit -s 65536; LD_PRELOAD="$$(gcc -print-file-name=libasan.so) $$(gcc -print-file-name=libubsan.so)" ASAN_OPTIONS=detect_leaks=0:malloc_context_size=3 \
	    MISSTEP_SANITIZED=$(abspath $(SANITIZED)) MISSTEP_RANDOM_TASKS=200 MISSTEP_RANDOM_GAMES=1000 \
	    $(PYTEST) -n $(JOBS) --timeout 900 -o faulthandler_timeout=1200 --passed-at-least 2500 tests/unit tests/property

format: $(VENV)/.built
	$(BIN)/ruff format .
	$(BIN)/ruff check --fix .
	$(BIN)/clang-format -i $(CPP)

clean:
	rm -rf $(VENV) build dist src/misstep/_core.pyi
