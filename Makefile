# Everything runs in .venv, which the first command sets up.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
READY := $(VENV)/.ready
SANITIZED := build/sanitized

.PHONY: demo test test-slow bench check docs stubs sanitize dist-check clean

demo: $(READY)  ## Make a stream, follow its clusters, write labels and a report, name it.
	$(BIN)/dynmeans demo

test: $(READY)  ## The tests that must always pass.
	$(BIN)/pytest

test-slow: $(READY)  ## Also the long ones.
	$(BIN)/pytest -m "not gpu"

bench: $(READY)  ## Timings, each beside something that runs in the same process.
	$(BIN)/python benchmarks/engine.py
	$(BIN)/python benchmarks/sweep.py
	$(BIN)/python benchmarks/alternatives.py
	$(BIN)/python benchmarks/speed_figure.py
	$(BIN)/python benchmarks/speed_tables.py
	$(BIN)/python benchmarks/import_time.py
	$(BIN)/python benchmarks/score_labels.py
	$(BIN)/python benchmarks/draw_plots.py
	$(BIN)/python benchmarks/samplers.py
	$(BIN)/python benchmarks/runs_throughput.py
	$(BIN)/python benchmarks/tune.py
	$(BIN)/python benchmarks/groups.py
	$(BIN)/python benchmarks/dask_cluster.py
	$(BIN)/python benchmarks/message_counts.py

check: $(READY)  ## Format, lint, types, layers, stub.
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/clang-format --dry-run --Werror native/*/*.hpp native/*/*.cpp
	$(BIN)/codespell
	$(BIN)/mypy
	$(BIN)/lint-imports
	$(BIN)/python -m nanobind.stubgen -q -m dynmeans._native -o build/_native.pyi
	diff src/dynmeans/_native.pyi build/_native.pyi

docs: $(READY)  ## The site with its gallery, in build/site; a warning is an error.
	$(BIN)/pip install --quiet --editable ".[docs]"
	$(BIN)/sphinx-build --quiet --fail-on-warning --keep-going docs build/site
	! grep -rlE '(src|<link[^>]*href)="https?://' build/site --include='*.html'
	@echo "The site: build/site/index.html"

stubs: $(READY)  ## Write the type stub of the compiled module.
	$(BIN)/python -m nanobind.stubgen -q -m dynmeans._native -o src/dynmeans/_native.pyi

sanitize: $(READY)  ## The compiled code under ThreadSanitizer, AddressSanitizer and UBSan.
	mkdir -p build
	g++ -std=c++17 -O1 -g -ffp-contract=off -fsanitize=thread -Inative tests/native/threads.cpp \
	    -pthread -o build/threads_tsan
	TSAN_OPTIONS=halt_on_error=1 build/threads_tsan
	rm -rf $(SANITIZED)
	$(BIN)/pip install --quiet --no-deps --target $(SANITIZED) . \
	    -C build-dir=build/sanitize -C cmake.define.DYNMEANS_SANITIZE=ON -C install.strip=false
	ASAN_OPTIONS=detect_leaks=0 UBSAN_OPTIONS=print_stacktrace=1 PYTHONMALLOC=malloc \
	LD_PRELOAD="$$(g++ -print-file-name=libasan.so) $$(g++ -print-file-name=libubsan.so) $$(g++ -print-file-name=libstdc++.so.6)" \
	PYTHONPATH=$(CURDIR)/$(SANITIZED) $(BIN)/python -S tools/run_sanitized.py $(VENV)

dist-check: $(READY)  ## Build sdist and wheel, install each into an empty environment, try it.
	rm -rf dist
	$(BIN)/python -m build --quiet
	PYTHON=$(PYTHON) sh tools/check_dist.sh dist/*.tar.gz
	PYTHON=$(PYTHON) sh tools/check_dist.sh dist/*.whl

clean:
	rm -rf $(VENV) build dist

$(READY): pyproject.toml CMakeLists.txt $(wildcard native/*/*)
	test -d $(VENV) || $(PYTHON) -m venv $(VENV)
	$(BIN)/pip install --quiet --upgrade pip
	$(BIN)/pip install --quiet --editable ".[dev]"
	touch $@
