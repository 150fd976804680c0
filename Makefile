# Needs Python 3.11 or newer, make and pip; everything else goes into $(VENV).
# Written for GNU make 3.81, which macOS still ships.

SHELL := /bin/bash
.DEFAULT_GOAL := help
.SUFFIXES:

VENV ?= .venv
ARGS ?=
PY   := $(VENV)/bin/python
BIN  := $(VENV)/bin

# The folders runtime/, workflows/ ... lie at the root: with the current directory on sys.path they would
# be importable under the wrong names.
export PYTHONSAFEPATH := 1
# Pyright runs from its wheel; without this it asks a registry for the newest version first.
export PYRIGHT_PYTHON_IGNORE_WARNINGS := 1
export PIP_DISABLE_PIP_VERSION_CHECK := 1

ROOMS   := facade workflows activities runtime
CHECKED := $(ROOMS) tests examples benchmarks
# Absent folders are left out, so that a checkout without them can still be checked.
PRESENT  = $(wildcard $(CHECKED))

# mypy reads the package as a user has it, through the link tree; its messages name the files themselves.
PACKAGES = $(addprefix -p ,temperance $(notdir $(wildcard tests examples/support_desk benchmarks)))
LINKS    = build/__editable__[^/]*/temperance
SOURCES  = s,^$(LINKS)/(workflows|activities|runtime)/,\1/,; s,^$(LINKS)/,facade/,

.PHONY: help
help: ## Show this list
	@printf 'usage: make VERB [ARGS="..."]\n\n'
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  %-11s %s\n", $$1, $$2 }' $(firstword $(MAKEFILE_LIST))
	@printf '\nVariables: PYTHON (the interpreter that makes %s), VENV, ARGS.\n' '$(VENV)'

# ---- installing ------------------------------------------------------------

.PHONY: install
install: $(VENV)/.installed ## Make .venv with the locked dependencies and the package itself

$(PY):
	@python='$(PYTHON)'; \
	if [ -z "$$python" ]; then \
	    for name in python3 python3.14 python3.13 python3.12 python3.11 python; do \
	        if "$$name" -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null; then \
	            python=$$name; break; \
	        fi; \
	    done; \
	fi; \
	if [ -z "$$python" ]; then \
	    echo 'temperance needs Python 3.11 or newer, and none is on PATH. Install one, or say where' \
	         'it is: make install PYTHON=/path/to/python3' >&2; exit 1; \
	fi; \
	if ! "$$python" -c 'import sys; sys.exit(sys.version_info < (3, 11))'; then \
	    echo "temperance needs Python 3.11 or newer; PYTHON=$$python is not that." >&2; exit 1; \
	fi; \
	if ! "$$python" -c 'import ensurepip, venv' 2>/dev/null; then \
	    echo "$$python has no venv or ensurepip module. On Debian and Ubuntu they are in the package" \
	         'python3-venv.' >&2; exit 1; \
	fi; \
	echo "creating $(VENV) with $$("$$python" --version)"; \
	"$$python" -m venv --clear '$(VENV)'

$(VENV)/.locked: requirements.lock $(PY)
	@echo 'installing the locked dependencies (about 250 MB the first time)'
	@$(PY) -m pip install -qq --require-hashes -r requirements.lock
	@touch $@

# The editable install is a tree of links, one for each file that was there when it was made. So it is
# made again when a file in the rooms appears or goes: this list is rewritten only when it changes.
.PHONY: force
$(VENV)/.rooms: force | $(PY)
	@find $(ROOMS) -type f \( -name '*.py' -o -name 'py.typed' -o -name '*.html' -o -name '*.css' \) \
	    | LC_ALL=C sort > $@.new
	@if cmp -s $@.new $@; then rm $@.new; else mv $@.new $@; fi

$(VENV)/.installed: $(VENV)/.locked $(VENV)/.rooms pyproject.toml
	@echo 'installing temperance (editable)'
	@$(PY) -m pip install -qq --no-deps --no-build-isolation \
	    --config-settings editable_mode=strict --editable .
	@touch $@

# ---- running ---------------------------------------------------------------

.PHONY: demo
demo: install ## Run the support desk example on an embedded Temporal server
	@PYTHONPATH=examples $(PY) -m support_desk $(ARGS)

.PHONY: test
test: install ## Run the tests, a server per process; ARGS="-k name" picks some
	$(PY) -m pytest -q -n auto --maxprocesses 4 --dist loadfile $(ARGS)

.PHONY: fuzz
fuzz: install ## Throw anything at it for a while; ARGS="--minutes 60 --examples 500 -k name"
	@PYTHONPATH=.:examples $(PY) -m tests.fuzz $(ARGS)

.PHONY: mutations
mutations: install ## Switch off every guard in turn: a test of its guarantee must fail (minutes)
	MUTATIONS=all $(PY) -m pytest -q -p no:xdist tests/mutations $(ARGS)

.PHONY: bench
bench: install ## Measure against hand-written activities
	@PYTHONPATH=.:examples $(PY) -m benchmarks $(ARGS)

# The agent plugins that it measures against are in an environment of their own, from their own lock.
PEERS := $(VENV)-peers
PEERS_LOCK := benchmarks/peers/requirements.lock

$(PEERS)/.installed: $(PEERS_LOCK) $(VENV)/.rooms pyproject.toml | $(PY)
	@echo 'creating $(PEERS) with the agent plugins to measure against'
	@$(PY) -m venv --clear '$(PEERS)'
	@$(PEERS)/bin/python -m pip install -qq --require-hashes -r $(PEERS_LOCK)
	@$(PEERS)/bin/python -m pip install -qq --no-deps --no-build-isolation \
	    --config-settings editable_mode=strict --editable .
	@touch $@

.PHONY: bench-peers
bench-peers: $(PEERS)/.installed ## Measure an agent's tool calls against other agent plugins
	@PYTHONPATH=. $(PEERS)/bin/python -m benchmarks.peers $(ARGS)

.PHONY: soak
soak: install ## Load a worker and a server for half an hour, and see whether they grow
	@PYTHONPATH=.:examples $(PY) -m benchmarks.soak $(ARGS)

.PHONY: chaos
chaos: install ## Kill, suspend and rewind under load; CHAOS_EXECUTIONS=10000 CHAOS_SEED=n
	@PYTHONPATH=.:examples $(PY) -m tests.chaos $(ARGS)

# ---- checking --------------------------------------------------------------

# Each tool runs even when one before it has failed, so that one run tells all.
.PHONY: check
check: install ## Check style, import arrows and types: ruff, import-linter, mypy, pyright
	@set -o pipefail; failed=; \
	run() { \
	    name=$$1; shift; printf '\n== %s\n' "$$name"; "$$@" || failed="$$failed, $$name"; \
	}; \
	mypy() { $(BIN)/mypy $(PACKAGES) | sed -E '$(SOURCES)'; }; \
	run 'ruff check'    $(BIN)/ruff check --output-format concise $(PRESENT); \
	run 'ruff format'   $(BIN)/ruff format --check $(PRESENT); \
	run 'import-linter' $(BIN)/lint-imports --no-logo; \
	run 'mypy'          mypy; \
	run 'pyright'       $(BIN)/pyright --pythonpath $(PY) $(PRESENT); \
	if [ -n "$$failed" ]; then printf '\ncheck failed: %s\n' "$${failed#, }" >&2; exit 1; fi; \
	printf '\ncheck passed\n'

.PHONY: format
format: install ## Rewrite the code in the house format and apply the safe fixes
	$(BIN)/ruff check --fix-only --quiet $(PRESENT)
	$(BIN)/ruff format $(PRESENT)

.PHONY: lock
lock: ## Pin the dependencies again in requirements.lock (needs uv); ARGS="--upgrade" for the newest
	@command -v uv >/dev/null || { echo 'make lock needs uv on PATH (pip install uv).' >&2; exit 1; }
	uv pip compile pyproject.toml --all-extras --group dev --universal --python-version 3.11 \
	    --generate-hashes --no-emit-index-url --no-emit-find-links \
	    --custom-compile-command 'make lock' --quiet --output-file requirements.lock $(ARGS)
	uv pip compile pyproject.toml --extra cli --extra embedded --group peers --universal \
	    --python-version 3.11 --generate-hashes --no-emit-index-url --no-emit-find-links \
	    --custom-compile-command 'make lock' --quiet --output-file $(PEERS_LOCK) $(ARGS)
	@! grep -nE '://|^--' requirements.lock $(PEERS_LOCK) || { echo 'an address got into requirements.lock' >&2; exit 1; }

.PHONY: audit
audit: ## Ask an advisory service about the locked dependencies (needs pip-audit and a network)
	@command -v pip-audit >/dev/null || { echo 'make audit needs pip-audit on PATH.' >&2; exit 1; }
	pip-audit --strict --disable-pip --require-hashes --requirement requirements.lock $(ARGS)

.PHONY: clean
clean: ## Remove .venv, builds and caches
	rm -rf '$(VENV)' '$(PEERS)' build dist temperance.egg-info
	rm -rf .pytest_cache .mypy_cache .ruff_cache .import_linter_cache .hypothesis
	find $(PRESENT) -type d -name __pycache__ -prune -exec rm -rf {} +
