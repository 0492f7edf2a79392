# Everything a fresh machine needs is Python 3.11 or later and make; `make demo` is a good first step.

.DEFAULT_GOAL := help
SHELL := /bin/sh
CHROMIUM ?= /usr/bin/chromium
HOST ?= 127.0.0.1
PORT ?= 8000
VENV := .venv
RUN := $(VENV)/bin/python
MANAGE := $(RUN) manage.py
RUNTIME := $(VENV)/.installed-runtime
DEV := $(VENV)/.installed-dev
FRESH := import sys; sys.exit(sys.version_info < (3, 11))

.PHONY: help setup demo serve worker test test-long machine browser bench faults mutants lint lock db-start db-stop clean

help: ## Show this list
	@grep -E '^[a-z-]+:.*## ' $(MAKEFILE_LIST) | sed -E 's/:.*## /\t/' | awk -F '\t' '{printf "  make %-10s %s\n", $$1, $$2}'

setup: $(RUNTIME) ## Install, start the embedded database, make its tables
	$(MANAGE) migrate --verbosity 0
	$(MANAGE) db status

demo: setup ## Set up, fill a small example team and serve it (PORT)
	$(MANAGE) demo --port $(PORT)

serve: $(RUNTIME) db-start ## Serve the web, REST and MCP doors with a worker (HOST, PORT)
	$(MANAGE) serve --with-worker --host $(HOST) --port $(PORT)

worker: $(RUNTIME) db-start ## Run one more background worker
	$(MANAGE) qcluster

test: $(DEV) browser ## Run all checks and tests on a throw-away database
	$(MANAGE) verify

test-long: $(DEV) ## Run the tests of benchmarks and faults that start servers of their own
	$(RUN) -m pytest -m long -n 1

machine: $(DEV) ## Live 300 random lives beside a model (MACHINE="--machine-examples 20000 --machine-steps 100")
	$(RUN) -m pytest tests/functional/test_state_machine.py -n 2 --machine-identities --machine-examples 300 $(MACHINE)

browser: ## Find Chromium for the browser tests; root on Debian gets it installed
	@if [ -x "$(CHROMIUM)" ]; then \
	  echo "Chromium: $(CHROMIUM)"; \
	elif [ "$$(id -u)" = 0 ] && command -v apt-get >/dev/null; then \
	  apt-get -q update && DEBIAN_FRONTEND=noninteractive apt-get -q install -y --no-install-recommends chromium; \
	else \
	  echo "Chromium is absent, and the browser tests need it: install the package chromium," >&2; \
	  echo "or give its path: make test CHROMIUM=/path/to/chromium" >&2; \
	  exit 1; \
	fi

bench: $(RUNTIME) ## Measure how much the memory holds, on a database of its own (BENCH="intake --seconds 60")
	$(MANAGE) bench $(BENCH)

faults: $(RUNTIME) ## Kill, stop, break and race, and see that the laws hold (FAULTS="F1 F4 --rounds 200")
	$(MANAGE) faults $(FAULTS)

mutants: $(DEV) ## Break the rules one by one and see the unit tests notice (MUTANTS="relationships.policy.compare*")
	$(VENV)/bin/mutmut run $(MUTANTS)
	$(RUN) -m tests.mutation.report

lint: $(DEV) ## Check format, style, types and imports
	$(RUN) -m ruff format --check .
	$(RUN) -m ruff check .
	$(RUN) -m mypy
	$(VENV)/bin/lint-imports

lock: $(DEV) ## Write the lock files anew from pyproject.toml
	$(RUN) -m pip install --quiet uv
	$(RUN) -m uv pip compile --quiet --universal --no-header --no-emit-index-url --python-version 3.11 \
	  pyproject.toml -o requirements.lock
	$(RUN) -m uv pip compile --quiet --universal --no-header --no-emit-index-url --python-version 3.11 \
	  --extra dev --constraint requirements.lock pyproject.toml -o requirements-dev.lock

db-start: $(RUNTIME) ## Start the embedded database
	$(MANAGE) db start

db-stop: $(RUNTIME) ## Stop the embedded database; its data stays
	$(MANAGE) db stop

clean: ## Remove caches and reports; data and environment stay
	rm -rf .pytest_cache .mypy_cache .ruff_cache .hypothesis .import_linter_cache reports mutants
	find . -name __pycache__ -not -path './$(VENV)/*' -prune -exec rm -rf {} +

export PYTHON

$(RUN):
	@for python in "$${PYTHON:-python3}" python3.13 python3.12 python3.11; do \
	  if command -v "$$python" >/dev/null && "$$python" -c '$(FRESH)'; then \
	    echo "Making $(VENV) with $$python"; exec "$$python" -m venv $(VENV); \
	  fi; \
	done; \
	echo "Dense-Mem needs Python 3.11 or later, and python3 here is" \
	  "$$(python3 --version 2>/dev/null || echo absent). Give another: make setup PYTHON=/path/to/python" >&2; \
	exit 1

$(RUNTIME): requirements.lock | $(RUN)
	$(RUN) -m pip install --quiet --disable-pip-version-check -r requirements.lock
	@touch $@

$(DEV): requirements-dev.lock | $(RUN)
	$(RUN) -m pip install --quiet --disable-pip-version-check -r requirements-dev.lock
	@touch $@ $(RUNTIME)
