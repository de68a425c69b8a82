# Each target sets up what it needs: a fresh clone plus one command is enough.
PYTHON ?= python3.11
VENV := .venv
BIN := $(VENV)/bin
READY := $(VENV)/.ready
OUT ?= out/demo

.PHONY: help setup demo test check lock corpus bench clean
help: ## list the targets
	@grep -hE '^[a-z-]+:.*##' $(MAKEFILE_LIST) | sed 's/:.*## /\t/' | expand -t 16

setup: $(READY) ## make .venv with everything in it (quick when nothing changed)

# uv is fetched from the package index where it is absent; it then installs the pinned set and the checkout itself.
$(READY): requirements.txt setup.py pyproject.toml
	@command -v $(PYTHON) >/dev/null || { echo "sottovoce needs Python 3.11. Install it with: apt-get install python3.11 python3.11-venv (or set PYTHON=...)"; exit 1; }
	@test -x $(BIN)/python || $(PYTHON) -m venv $(VENV) || { echo "venv is missing. Install it with: apt-get install python3.11-venv"; exit 1; }
	@command -v uv >/dev/null || test -x $(BIN)/uv || $(BIN)/python -m pip install --quiet uv
	@UV=$$(command -v uv || echo $(BIN)/uv); \
	  $$UV pip install --quiet --python $(BIN)/python -r requirements.txt && \
	  $$UV pip install --quiet --python $(BIN)/python --no-deps -e .
	@touch $(READY)
