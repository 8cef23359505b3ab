# graphmem: what a developer types. `make help` lists it.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
DATA ?= ../shared/data
export PYTHONUNBUFFERED := 1
# else each of our processes compiles all its modules anew
unexport PYTHONDONTWRITEBYTECODE

TESTS := $(BIN)/pytest -n 2 --dist loadfile --no-loadscope-reorder
SMOKE := \
	tests/end_to_end/test_up.py::test_the_examples_of_the_readme_give_what_it_says \
	tests/integration/test_gateway.py \
	tests/integration/test_jobs.py \
	tests/api/test_recall.py \
	tests/api/test_openapi.py \
	tests/api/test_walls.py

.DEFAULT_GOAL := help

help: ## list these commands
	@awk -F ':.*## ' '/^[a-z-]+:.*## / {printf "  make %-10s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

$(VENV)/.ready: requirements-dev.lock pyproject.toml
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || { echo "graphmem needs Python 3.11 or newer; say which: make run PYTHON=python3.12"; exit 1; }
	@echo "Installing into $(VENV), once …"
	@$(PYTHON) -m venv $(VENV)
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check "$$(sed -n 's/^\(uv==[0-9.]*\).*/\1/p' requirements-dev.lock)"
	@VIRTUAL_ENV=$(CURDIR)/$(VENV) $(BIN)/uv pip install --quiet --require-hashes -r requirements-dev.lock \
		|| $(BIN)/python -m pip install --quiet --disable-pip-version-check --require-hashes -r requirements-dev.lock
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check --no-deps --no-build-isolation --no-index -e .
	@touch $@

setup: $(VENV)/.ready ## install everything into .venv

run: setup ## run the service: Neo4j, API and jobs; Ctrl-C stops it all
	@exec $(BIN)/graphmem up

demo: setup ## add a conversation and ask eight questions (starts a service of its own)
	@exec $(BIN)/graphmem demo

check: setup ## format, lint, import rule, types, density
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/lint-imports
	$(BIN)/mypy graphmem api jobs
	$(BIN)/python -m benchmarks.density

test: setup ## all tests, on two real Neo4j
	$(TESTS)

test-unit: setup ## the tests that need nothing
	$(BIN)/pytest tests/unit

smoke: setup ## the most telling minute: write, recall, walls, jobs, API, one whole service
	$(TESTS) $(SMOKE)

coverage: setup ## all tests, and which lines they run; slower than `make test`
	$(TESTS) --cov=graphmem --cov=api --cov=jobs --cov-report=term:skip-covered

fuzz: setup ## the tests that make up their own cases, for a long time
	$(TESTS) -m hypothesis --hypothesis-profile=fuzz
	$(BIN)/pytest -m fuzz -s

torture: setup ## kill everything again and again: starts, migrations, writes; for about an hour
	$(BIN)/pytest -m torture -p no:xdist

browser: setup ## look at the graph in Chromium: log in, three saved queries, a picture; no other host
	$(BIN)/pytest -m browser -p no:xdist -s

bench: setup ## quality and speed, as tables (DATA=../shared/data)
	$(BIN)/python -m benchmarks --data $(DATA)

lock: setup ## make the lock files anew
	$(BIN)/uv pip compile --universal --python-version 3.11 --generate-hashes --quiet --no-header pyproject.toml -o requirements.lock
	$(BIN)/uv pip compile --universal --python-version 3.11 --generate-hashes --quiet --no-header pyproject.toml --group dev -o requirements-dev.lock

format: setup ## format and mend what can be mended
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

.PHONY: help setup run demo check test test-unit smoke coverage fuzz torture browser bench lock format
