# Two commands on a fresh machine: `make demo`, `make test`. README.md says what they do.
SHELL := /bin/sh
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
# Modules are compiled when they are first imported: most of what the packages bring never is.
PIP := $(BIN)/pip install --quiet --disable-pip-version-check --no-compile -c constraints.txt

export VALUESASSETS_STUDY ?= demo_survey
export VALUESASSETS_STORAGE ?= $(CURDIR)/storage
export DAGSTER_HOME ?= $(CURDIR)
export TOKENIZERS_PARALLELISM ?= false
# Each of the many processes would compile our sources anew.
unexport PYTHONDONTWRITEBYTECODE
PORT = 3000
SEED = 1
# Whose torch `make gpu-check` uses: this environment's, or that of a cluster's module.
GPU_PYTHON ?= $(BIN)/python

.PHONY: demo test browser slurm published job-faults test-benchmarks rest real real-studies mutations slurm-faults ui-faults test-all coverage bench gpu-check slurm-scale simulations worlds ui check docs env release pythons clean help

help:  ## this list
	@awk -F ':.*## ' '/^[a-z-]+:.*## / {printf "  make %-12s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

$(VENV)/installed: pyproject.toml constraints.txt
	@$(PYTHON) -c 'import sys; sys.exit("make: $(PYTHON) is Python %d.%d, 3.11 or newer is needed; name another: make demo PYTHON=python3.12" % sys.version_info[:2] if sys.version_info < (3, 11) else 0)'
	@echo 'Setting up $(VENV), once: two to five minutes, 470 MB of packages (more where pip takes torch for CUDA), 1.7 GB on the disk.'
	@$(PYTHON) -m venv $(VENV)
	@echo '  1 of 2: torch'
	@$(PIP) torch
	@echo '  2 of 2: Dagster, transformers and all else'
	@$(PIP) -e '.[all]'
	@touch $@

$(VENV)/installed-dev: $(VENV)/installed
	@echo 'Installing what tests and checks need, once.'
	@$(PIP) -e '.[dev]'
	@touch $@

$(VENV)/installed-bench: $(VENV)/installed
	@echo 'Installing what the benchmarks compare with, once.'
	@$(PIP) -e '.[bench]'
	@touch $@

demo: $(VENV)/installed  ## the demonstration study, from questionnaire to map
	@$(BIN)/valuesassets demo

test: $(VENV)/installed-dev  ## the tests that take minutes: what is pure, and one way through each instrument
	@$(BIN)/python -m valuesassets_tests

browser: $(VENV)/installed-dev  ## what a user does in the UI and on the pages, in a real browser (Debian's chromium)
	@$(BIN)/python -m valuesassets_tests browser

slurm: $(VENV)/installed-dev  ## jobs of a cluster, on a real one (Debian's slurm-wlm and munge)
	@$(BIN)/python -m valuesassets_tests slurm

published: $(VENV)/installed-dev  ## published questionnaires, answers and scores, where they lie in ../shared
	@$(BIN)/python -m valuesassets_tests published

job-faults: $(VENV)/installed-dev  ## kills and stops jobs and commands anywhere: no answer may be lost, no file half-written
	@$(BIN)/python -m valuesassets_tests job-faults

test-benchmarks: $(VENV)/installed-dev  ## the benchmarks themselves, on a tiny model
	@$(BIN)/python -m valuesassets_tests test-benchmarks

real: $(VENV)/installed-dev  ## readings, spans and texts on small models that people use, beside plain transformers
	@$(BIN)/python -m valuesassets_tests real

real-studies: $(VENV)/installed  ## the five instruments on the two small models of the index, as docs/real_models.md shows them
	@$(BIN)/valuesassets run first_real
	@$(BIN)/python -m valuesassets_tests.real.instruments

mutations: $(VENV)/installed-dev  ## breaks the sources on purpose, in hundreds of ways: the calibration or a test must see each
	@$(BIN)/python -m valuesassets_tests mutations

slurm-faults: $(VENV)/installed-dev  ## what a cluster can do to a cell, done on a real one; some of it: FAULTS='words of their names'
	@$(BIN)/python -m valuesassets_tests slurm-faults $(if $(FAULTS),-k '$(FAULTS)')

ui-faults: $(VENV)/installed-dev  ## kills the UI, its servers and its runs: nothing may be lost or left behind
	@$(BIN)/python -m valuesassets_tests ui-faults

test-all: $(VENV)/installed-dev  ## every test there is: make test, then what it leaves out
	@$(BIN)/python -m valuesassets_tests all

# What `make test` leaves out.
rest: $(VENV)/installed-dev
	@$(BIN)/python -m valuesassets_tests rest

coverage: $(VENV)/installed-dev  ## nearly all tests; fails where less than 90 % of a package's lines are run
	@$(BIN)/coverage erase
	@$(BIN)/coverage run -m valuesassets_tests pool -m 'not mutations and not slurm_faults and not ui_faults and not real'
	@$(BIN)/coverage combine --quiet
	@failed=0; for package in measure answers people comparing reporting instruments models; do echo; echo "valuesassets/$$package"; \
	  $(BIN)/coverage report --include "valuesassets/$$package/*" --fail-under 90 || failed=1; done; exit $$failed

bench: $(VENV)/installed-bench  ## speed, memory and scaling of the engine; options in BENCH, as BENCH='--only 5m'
	@$(BIN)/python -m valuesassets_tests.benchmarks $(BENCH)

gpu-check: $(if $(filter $(BIN)/%,$(GPU_PYTHON)),$(VENV)/installed-dev)  ## what a GPU does with the engine: a table, and storage/evidence/gpu.json; with a site's own torch: GPU_PYTHON=python3
	@$(GPU_PYTHON) -m valuesassets_tests.benchmarks.gpu_check

slurm-scale: $(VENV)/installed-dev  ## 1,000 jobs in one array; 44 cells at once and one by one; parts in SCALE, as SCALE=array
	@$(BIN)/python -m valuesassets_tests.slurm_scale $(SCALE)

simulations: $(VENV)/installed  ## simulated data with a known truth: intervals, tests and claims; SEED=7 for others, ESTIMATORS='--count 500' and CLAIMS='--only B' for options
	@$(BIN)/python -m valuesassets_tests.simulations estimators --seed $(SEED) --output $(VALUESASSETS_STORAGE)/evidence/estimators.json $(ESTIMATORS)
	@$(BIN)/python -m valuesassets_tests.simulations claims --seed $(SEED) --output $(VALUESASSETS_STORAGE)/evidence/claims.json $(CLAIMS)

worlds: simulations

ui: $(VENV)/installed  ## web UI on 127.0.0.1:3000, pages on 3001; PORT=3010 for others, READ_ONLY=1 to look on beside it
	@exec $(BIN)/valuesassets ui --port '$(PORT)' $(if $(READ_ONLY),--read-only) $(if $(MIGRATE),--migrate)

check: $(VENV)/installed-dev  ## format, lint, types, import contracts, docs, plain words, repeated code
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/pyright
	$(BIN)/lint-imports
	$(BIN)/python -m valuesassets.studies.questionnaires.render --check
	$(BIN)/python -m pytest -q valuesassets_tests/test_docs.py
	$(BIN)/mkdocs build --strict --site-dir "$$(mktemp -d)"  # site/ is being read
	$(BIN)/python -m valuesassets_tests.plain_words
	$(BIN)/python -m valuesassets_tests.repeated_code
	$(BIN)/python -m valuesassets_tests.costs

# Without --quiet: it would keep the warnings from --strict.
docs: $(VENV)/installed  ## the documentation as a site, in site/; a broken link fails
	@$(BIN)/mkdocs build --strict
	@echo 'built site/index.html'

env: $(VENV)/installed  ## write .env, so that plain dagster commands find their folders
	@$(BIN)/python -m valuesassets.desk.ui_settings > .env
	@echo 'wrote .env'

$(VENV)/installed-release: $(VENV)/installed-dev
	@echo 'Installing what makes a release, once.'
	@$(PIP) -e '.[release]'
	@touch $@

release: $(VENV)/installed-release  ## the package, built twice and compared, its packages, licences and vulnerabilities, in dist/
	@$(BIN)/python -m valuesassets_tests.release

pythons: $(VENV)/installed-dev  ## the package without extras on Python 3.11, 3.12 and 3.13, where they are: what its commands do there
	@$(BIN)/python -m valuesassets_tests.pythons

clean:  ## remove the virtual environment and all that was stored
	rm -rf $(VENV) site dist storage/*/
