# Everything runs in .venv. `make demo` sets up what the main job needs, `make test` adds the rest.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
PIP := $(BIN)/pip --quiet --disable-pip-version-check
DEMO_READY := $(VENV)/.ready-demo
DEV_READY := $(VENV)/.ready-dev
NATIVE := $(shell find native -name '*.[ch]pp')
ENGINE := $(filter native/engine/%.cpp native/moves/%.cpp native/passes/%.cpp,$(NATIVE))
SANITIZED := build/sanitized
CLANG := build/clang
# The system's clang, or the one of the ziglang package (make compilers).
CLANG_CXX = $(or $(shell command -v clang++),$(shell $(BIN)/python -c 'import ziglang' 2> /dev/null && \
    echo "$(CURDIR)/$(BIN)/python -m ziglang c++"))
# pytest takes what the sanitizers print for output of a test: they write files.
REPORTS := $(CURDIR)/build/sanitizer-report
# Real flights of the aircraft experiment; without them that part of reproduce-full is left out.
FLIGHTS := ../shared/data/sfo_swim
GIVEN := cre gas hotel insects kdd keystroke reuters squares surr tweets
# The versions in requirements/, checked by their hashes; LOCKED=no takes the newest ones.
LOCKED ?= $(shell $(PYTHON) -c 'import sys; print("yes" if sys.version_info < (3, 14) else "no")')
IS_LOCKED := $(filter yes,$(LOCKED))

.DEFAULT_GOAL := help
.PHONY: help demo test test-clang test-slow attack bench bench-check compare pages figure-2 reproduce reproduce-full check format docs commands stubs sanitize dist-check wasm wheels compilers platforms lock system-deps system-deps-arm clean

help:  ## This list.
	@grep -hE '^[a-z-]+:.*##' $(MAKEFILE_LIST) | sed -E 's/:[^#]*## */\t/' | \
	    awk -F '\t' '{ printf "make %-15s %s\n", $$1, $$2 }'

demo: $(DEMO_READY)  ## Follow simulated ships, write labels and a report, name it.
	$(BIN)/dynmeans demo

# Runs wait for the disk at each commit: in memory, where programs may lie and 4 GB are free, tests do not.
ROOMY := $(shell grep -q '^[^ ]* /dev/shm tmpfs' /proc/mounts 2> /dev/null && ! grep -q ' /dev/shm .*noexec' /proc/mounts && \
    test "$$(df --output=avail /dev/shm | tail -n 1)" -gt 4000000 && echo /dev/shm)
# More processes would each start their own brokers and browsers.
test: $(DEV_READY)  ## The tests that must always pass, on up to four cores; the last lines say what was skipped.
	TMPDIR=$(or $(ROOMY),$${TMPDIR:-/tmp}) $(BIN)/pytest --numprocesses logical --maxprocesses 4 --dist worksteal $(PYTEST_FLAGS)
	$(MAKE) test-clang

test-clang: $(DEV_READY)  ## The agreement streams on a build by clang, if there is one; a warning is an error.
	@if test -n "$(CLANG_CXX)"; then $(MAKE) $(CLANG)/.ready && \
	    PYTHONPATH=$(CURDIR)/$(CLANG) $(BIN)/python -S tools/test_build.py $(VENV) $(CLANG); \
	else echo "Skipped the build by clang: no clang++ here. Add one: make compilers, or make system-deps."; fi

test-slow: $(DEV_READY)  ## Also the long ones, and the compiled code under sanitizers.
	$(BIN)/pytest -m "not gpu"
	$(MAKE) sanitize

compilers: $(DEV_READY)  ## Add clang for this and other systems to .venv (ziglang, 100 MB).
	$(PIP) install --require-hashes -r requirements/platforms.txt

platforms: compilers  ## Compile the engine for macOS, Windows and ARM, and run what can run here.
	$(BIN)/pytest -m slow tests/engine/test_compilers.py -ra

attack: $(DEV_READY)  ## Ten minutes of damaged files, random streams and kills; resumes where it stopped.
	PYTHONPATH=tools $(BIN)/python -m attack

bench: $(DEV_READY)  ## Timings, each beside something that runs in the same process.
	$(BIN)/python -m benchmarks.engine.passes
	$(BIN)/python -m benchmarks.engine.sweep
	$(BIN)/python -m benchmarks.engine.vectors
	$(BIN)/python -m benchmarks.quality.alternatives
	$(BIN)/python -m benchmarks.pages.speed_figure
	$(BIN)/python -m benchmarks.engine.import_time
	$(BIN)/python -m benchmarks.quality.score_labels
	$(BIN)/python -m benchmarks.drawing.draw_plots
	$(BIN)/python -m benchmarks.engine.samplers
	$(BIN)/python -m benchmarks.streams.runs_throughput
	$(BIN)/python -m benchmarks.quality.tune
	$(BIN)/python -m benchmarks.scale.groups
	$(BIN)/python -m benchmarks.scale.dask_cluster
	$(BIN)/python -m benchmarks.scale.message_counts
	$(BIN)/python -m tools.fill_pages
	$(BIN)/python -m benchmarks.pages.age

compare: $(DEV_READY)  ## Measure what a change of defaults changes on How it compares and Real streams; resumes where it stopped.
	$(BIN)/python -m benchmarks.compare --again dynmeans
	$(BIN)/python -m benchmarks.quality.real_streams --only $(GIVEN) --again split label-free
	$(BIN)/python -m tools.fill_pages

pages: $(DEV_READY)  ## Fill the tables and numbers on all pages from the committed results.
	$(BIN)/python -m tools.fill_pages

reproduce: $(DEV_READY)  ## Figures and tables of the page on the paper, from the committed results.
	$(BIN)/python -m paper.pages.figures
	$(BIN)/python -m tools.fill_pages

figure-2: $(DEV_READY)  ## Figure 2 into docs/images, from the flows that reproduce-full drew.
	$(BIN)/python -m paper.pages.flow_figures

reproduce-full: $(DEV_READY)  ## Both experiments at the published size: resumes where it stopped, says how far it is.
	$(BIN)/python -m paper synthetic --full --noise isotropic --out paper/results
	$(BIN)/python -m paper synthetic --full --noise radial --out paper/results
	$(BIN)/python -m paper.studies.robustness
	$(BIN)/python -m paper.studies.handicap_search
	$(BIN)/python -m paper.studies.searches
	$(BIN)/python -m paper.studies.evolutionary
	$(BIN)/python -m paper.studies.low_variance_limit
	$(BIN)/python -m paper.studies.times
	$(BIN)/python -m paper.studies.vanishing
	$(BIN)/python -m paper.studies.mixing
	$(BIN)/python -m paper.studies.carried_cloud
	$(BIN)/python -m paper aircraft --window 0.5 --out paper/results
	test ! -d $(FLIGHTS) || $(BIN)/python -m paper aircraft --messages $(FLIGHTS)/points_2019-12.parquet \
	    --flights $(FLIGHTS)/flights_2019-12.parquet --scored od_ok --plain-noise-ratio 0.01 --out paper/results
	$(BIN)/python -m paper.studies.first_trials
	test ! -d $(FLIGHTS) || $(BIN)/python -m paper.studies.suggested_memory
	$(MAKE) reproduce
	$(BIN)/python -m paper.status

bench-check: $(DEV_READY)  ## Fail if a case that matters became more than 15 % slower (under two minutes).
	$(BIN)/python -m benchmarks.engine.check

check: $(DEV_READY)  ## Format, lint, types, layers, stub; changes nothing.
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/clang-format --dry-run --Werror $(NATIVE)
	$(BIN)/codespell
	$(BIN)/mypy
	$(BIN)/lint-imports
	$(BIN)/python -m nanobind.stubgen -q -m dynmeans._native -o build/_native.pyi
	diff src/dynmeans/_native.pyi build/_native.pyi

format: $(DEV_READY)  ## Format Python and C++, sort imports, fix what can be fixed.
	$(BIN)/ruff check --fix-only --quiet .
	$(BIN)/ruff format .
	$(BIN)/clang-format -i $(NATIVE)

docs: $(DEV_READY)  ## The site with its gallery, in build/site; a warning is an error.
	$(if $(IS_LOCKED),$(PIP) install --no-compile --require-hashes -r requirements/docs.txt,$(call install,docs,docs,all))
	$(BIN)/sphinx-build --quiet --fail-on-warning --keep-going docs build/site
	! grep -rlE '(src|<link[^>]*href)="https?://' build/site --include='*.html'
	@echo "The site: build/site/index.html"

commands: $(DEV_READY)  ## Write docs/commands.md, the page of all commands and options.
	$(BIN)/python tools/commands_page.py

stubs: $(DEV_READY)  ## Write the type stub of the compiled module.
	$(BIN)/python -m nanobind.stubgen -q -m dynmeans._native -o src/dynmeans/_native.pyi

sanitize: $(DEV_READY)  ## The compiled code under ThreadSanitizer, AddressSanitizer and UBSan.
	mkdir -p build
	g++ -std=c++17 -O1 -g -ffp-contract=off -fsanitize=thread -Inative tests/native/threads.cpp \
	    $(ENGINE) -pthread -o build/threads_tsan
	TSAN_OPTIONS=halt_on_error=1 build/threads_tsan
	rm -rf $(SANITIZED) $(REPORTS)*
	$(PIP) install --no-deps --no-build-isolation --target $(SANITIZED) . \
	    -C build-dir=build/sanitize -C cmake.define.DYNMEANS_SANITIZE=ON \
	    -C cmake.define.DYNMEANS_INSTRUCTION_SETS=native -C install.strip=false
	ASAN_OPTIONS=detect_leaks=0:log_path=$(REPORTS) PYTHONMALLOC=malloc \
	UBSAN_OPTIONS=print_stacktrace=1:log_path=$(REPORTS) \
	LD_PRELOAD="$$(g++ -print-file-name=libasan.so) $$(g++ -print-file-name=libubsan.so) $$(g++ -print-file-name=libstdc++.so.6)" \
	PYTHONPATH=$(CURDIR)/$(SANITIZED) $(BIN)/python -S tools/test_build.py $(VENV) $(SANITIZED) || \
	    { cat $(REPORTS)* 2>/dev/null; exit 1; }

dist-check: $(DEV_READY)  ## Build sdist and wheel, install each into an empty environment, try it.
	rm -rf dist
	$(BIN)/python -m build --quiet
	PYTHON=$(PYTHON) sh tools/check_dist.sh dist/*.tar.gz
	PYTHON=$(PYTHON) sh tools/check_dist.sh dist/*.whl

wasm: compilers  ## Compile the engine for browsers into the package; commit it with the sources it was made from.
	$(BIN)/python tools/wasm_module.py

wheels: compilers  ## Build a wheel for Linux, repair it, and try it where there is no compiler.
	rm -rf dist/wheels
	SKBUILD_CMAKE_DEFINE="DYNMEANS_INSTRUCTION_SETS=all" $(BIN)/python -m build --quiet --wheel --outdir build/wheels
	PATH=$(BIN):$$PATH $(BIN)/auditwheel repair --wheel-dir dist/wheels build/wheels/*.whl
	PYTHON=$(PYTHON) sh tools/check_dist.sh dist/wheels/*.whl

lock: $(DEMO_READY)  ## Write requirements/*.txt again: the newest versions, with their hashes.
	$(PIP) install uv
	PATH=$(BIN):$$PATH sh tools/lock.sh

system-deps:  ## Install the system's packages that some tests need (needs root).
	sh tools/install_system_packages.sh

system-deps-arm:  ## Install a compiler and an emulator for ARM, for one slow test (needs root).
	sh tools/install_system_packages.sh arm

clean:  ## Remove the environment and everything built.
	rm -rf $(VENV) build dist

# $(1): a file of requirements/, $(2): the extra that it locks, $(3): the instruction sets to build.
# The package is built in .venv, not in a throw-away environment: the next build compiles only
# what changed. Locked packages that only run it are installed meanwhile.
define install
	$(PIP) install --no-compile $(if $(IS_LOCKED),--require-hashes -r requirements/build.txt,-r requirements/build.in)
	@echo "Compiling C++ ..."
	$(if $(IS_LOCKED),$(PIP) install --no-compile --require-hashes -r requirements/$(1).txt & packages=$$!;) \
	SKBUILD_CMAKE_DEFINE="DYNMEANS_INSTRUCTION_SETS=$(3)" $(PIP) install --no-compile \
	    --no-build-isolation $(if $(IS_LOCKED),--no-deps --editable .,--editable ".[$(2)]"); \
	compiled=$$?; wait $$packages && exit $$compiled
endef

$(CLANG)/.ready: pyproject.toml CMakeLists.txt $(NATIVE) | $(DEV_READY)
	rm -rf $(CLANG)
	CXX="$(CLANG_CXX)" $(PIP) install --no-compile --no-deps --no-build-isolation --target $(CLANG) . \
	    -C build-dir=build/clang-objects -C cmake.define.CMAKE_CXX_FLAGS=-Werror \
	    -C cmake.define.DYNMEANS_INSTRUCTION_SETS=native
	touch $@

$(VENV):
	$(PYTHON) -m venv $(VENV)

$(DEMO_READY): pyproject.toml CMakeLists.txt requirements/demo.txt $(NATIVE) | $(VENV)
	$(call install,demo,runs,$(if $(wildcard $(DEV_READY)),all,native))
	touch $@

$(DEV_READY): pyproject.toml CMakeLists.txt requirements/dev.txt $(NATIVE) | $(VENV)
	$(call install,dev,dev,all)
	touch $(DEMO_READY) $@
