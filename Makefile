# make demo, make test: everything they need is created here, from Python 3.11+, pip and a C compiler.

PYTHON ?= python3
VENV ?= .venv
BIN := $(VENV)/bin

.PHONY: demo test lint types doctest check bench clean

$(VENV)/.installed: pyproject.toml setup.py src/skarce/searches/_climb.c src/skarce/basis/_rbf.c
	@test -d $(VENV) || $(PYTHON) -m venv $(VENV)
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check --upgrade pip setuptools
	@echo "Installing skarce and what it needs into $(VENV) ..."
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable ".[dev]"
	@touch $@

demo: $(VENV)/.installed  ## compare all methods on the diabetes data that come with scikit-learn
	@$(BIN)/skarce compare

test: $(VENV)/.installed  ## run the tests, one process per core
	$(BIN)/python -m pytest -n auto

lint: $(VENV)/.installed
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .

types: $(VENV)/.installed
	$(BIN)/mypy

doctest: $(VENV)/.installed
	$(BIN)/python -m pytest --doctest-modules src/skarce --doctest-glob='*.md' README.md docs

check: lint types doctest test

$(VENV)/.bench: $(VENV)/.installed
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable ".[bench]"
	@touch $@

bench: $(VENV)/.bench  ## beside fastrvm, SVR and GaussianProcessRegressor; let nothing else run meanwhile
	$(BIN)/python -m benchmarks --out results/benchmarks
	$(BIN)/python -m benchmarks.forward --out results/benchmarks
	$(BIN)/python -m benchmarks.searches --out results/benchmarks
	$(BIN)/python -m benchmarks.widths --out results/benchmarks
	$(BIN)/python -m benchmarks.variational --out results/benchmarks
	$(BIN)/python -m benchmarks.classification --out results/benchmarks
	$(BIN)/python -m benchmarks.elimination --out results/benchmarks
	$(BIN)/python -m benchmarks.priors --out results/benchmarks
	$(BIN)/python -m benchmarks.choices --out results/benchmarks
	$(BIN)/python -m benchmarks.many_rows --out results/benchmarks

clean:
	rm -rf $(VENV) build dist src/*.egg-info src/skarce/*/*.so .pytest_cache .mypy_cache .ruff_cache
