# The two commands are `make play` and `make test`; both set up .venv by themselves.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
STAMP := $(VENV)/.installed
PEERS := $(VENV)/.peers

# The browser in which the table is tested; nothing else needs one.
BROWSER := $(VENV)/.browser

# Hundreds of processes import the same modules: what they are compiled to is kept, whatever the shell says.
export PYTHONDONTWRITEBYTECODE :=

.PHONY: all play test lint types tests bench docs clean distclean

all: $(STAMP)

# Of what is installed most is never imported: the rest is compiled when it is.
INSTALL := $(BIN)/python -m pip install --quiet --disable-pip-version-check --no-compile -c constraints.txt

$(STAMP): pyproject.toml constraints.txt
	$(PYTHON) -m venv $(VENV)
	@# The pip that comes with Python 3.11 asks each file of an index about a thousand platforms in turn.
	$(INSTALL) pip
	$(INSTALL) -e '.[dev]'
	touch $@

$(PEERS): $(STAMP)
	$(INSTALL) -e '.[dev,peers]'
	touch $@

$(BROWSER): $(STAMP)
	command -v chromium chromium-browser google-chrome >/dev/null || { command -v apt-get >/dev/null && \
	  (apt-get update -qq && apt-get install -y -qq chromium || \
	   sudo -n sh -c 'apt-get update -qq && apt-get install -y -qq chromium') >/dev/null 2>&1; } || \
	  echo "no Chromium here and none installed: tests of the table will say so"
	touch $@

play: $(STAMP)
	$(BIN)/equipoise web --browser

test: lint types tests

lint: $(STAMP)
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .

types: $(STAMP)
	$(BIN)/mypy

# What the tests of a file share, a server or a blueprint, is made by one worker.
tests: $(STAMP) $(BROWSER)
	$(BIN)/python -m pytest -n 2 --dist loadfile

bench: $(PEERS)
	$(BIN)/equipoise bench cards

docs: $(STAMP)
	$(BIN)/python -m pytest -q README.md docs

# Caches, compiled kernels among them; `distclean` also throws the environment away.
clean:
	rm -rf .pytest_cache .mypy_cache .ruff_cache .hypothesis
	find src tests -name __pycache__ -type d -prune -exec rm -rf {} +

distclean: clean
	rm -rf $(VENV)
