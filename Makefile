# make demo, make test: everything they need is created here, from Python 3.11+, pip and a C compiler.

PYTHON ?= python3
VENV ?= .venv
BIN := $(VENV)/bin

.PHONY: demo test test-clients lint types doctest check sanitize bench clean

$(VENV)/.installed: pyproject.toml setup.py src/skarce/_boundary.h src/skarce/searches/_climb.c src/skarce/basis/_rbf.c
	@test -d $(VENV) || $(PYTHON) -m venv $(VENV)
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check --upgrade pip setuptools
	@echo "Installing skarce and what it needs into $(VENV) ..."
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable ".[dev]"
	@touch $@

demo: $(VENV)/.installed  ## compare all methods on the diabetes data that come with scikit-learn
	@$(BIN)/skarce compare

test: $(VENV)/.installed  ## run the tests, one process per core
	$(BIN)/python -m pytest -n auto

# Other packages that use our models. They have an environment of their own, because they ask for other versions. Spark needs Java.
CLIENTS := $(VENV)-clients

$(CLIENTS)/.installed: $(VENV)/.installed
	@test -d $(CLIENTS) || $(PYTHON) -m venv $(CLIENTS)
	@echo "Installing skarce and the packages that use it into $(CLIENTS) ..."
	@$(CLIENTS)/bin/python -m pip install --quiet --disable-pip-version-check --editable ".[test,clients]"
	@touch $@

test-clients: $(CLIENTS)/.installed  ## run the tests against pysindy, sysidentpy, chaospy, shap, Spark, Ray and other packages that use our models
	$(CLIENTS)/bin/python -m pytest tests/clients

lint: $(VENV)/.installed
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .

types: $(VENV)/.installed
	$(BIN)/mypy

doctest: $(VENV)/.installed
	$(BIN)/python -m pytest --doctest-modules src/skarce --doctest-glob='*.md' README.md docs

check: lint types doctest test

# A copy of the package with compiled parts that stop at the first read or write outside an array and at undefined arithmetic.
# Python itself is not built this way, so the library of the sanitizer is loaded before it, and its own leaks do not count.
SANITIZED := build/sanitized
SANITIZERS := -fsanitize=address,undefined -fno-sanitize-recover=all -fno-wrapv -fno-omit-frame-pointer
COMPILED_TESTS := tests/searches/test_climb_boundary.py tests/basis/test_rbf_boundary.py tests/basis/test_fused.py \
	tests/criteria/test_gcv.py tests/criteria/test_individual_evidence.py

sanitize: $(VENV)/.installed  ## run the tests of the compiled parts under the address and undefined-behavior sanitizers (gcc)
	@rm -rf $(SANITIZED)
	CC=gcc CFLAGS="$(SANITIZERS)" LDFLAGS="-fsanitize=address,undefined" $(BIN)/python setup.py --quiet \
		build --build-lib $(SANITIZED)/lib --build-temp $(SANITIZED)/temp
	export PYTHONPATH=$(SANITIZED)/lib LD_PRELOAD="$$(gcc -print-file-name=libasan.so) $$(gcc -print-file-name=libubsan.so)" \
		ASAN_OPTIONS=detect_leaks=0:halt_on_error=1 UBSAN_OPTIONS=halt_on_error=1:print_stacktrace=1 && \
		$(BIN)/python -c "from skarce.basis import _rbf; assert '$(SANITIZED)' in _rbf.__file__, _rbf.__file__" && \
		$(BIN)/python -m pytest -p no:cacheprovider $(COMPILED_TESTS)

$(VENV)/.bench: $(VENV)/.installed
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable ".[bench]"
	@touch $@

bench: $(VENV)/.bench  ## beside fastrvm, SVR and GaussianProcessRegressor; let nothing else run meanwhile
	$(BIN)/python -m benchmarks --out results/benchmarks
	$(BIN)/python -m benchmarks.forward --out results/benchmarks
	$(BIN)/python -m benchmarks.searches --out results/benchmarks
	$(BIN)/python -m benchmarks.exhaustive --out results/benchmarks
	$(BIN)/python -m benchmarks.widths --out results/benchmarks
	$(BIN)/python -m benchmarks.defaults --out results/benchmarks
	$(BIN)/python -m benchmarks.probabilities --out results/benchmarks
	$(BIN)/python -m benchmarks.variational --out results/benchmarks
	$(BIN)/python -m benchmarks.classification --out results/benchmarks
	$(BIN)/python -m benchmarks.primal_svm --out results/benchmarks
	$(BIN)/python -m benchmarks.elimination --out results/benchmarks
	$(BIN)/python -m benchmarks.priors --out results/benchmarks
	$(BIN)/python -m benchmarks.choices --out results/benchmarks
	$(BIN)/python -m benchmarks.many_rows --out results/benchmarks
	$(BIN)/python -m benchmarks.accuracy
	$(BIN)/python -m benchmarks.interpolation --out results/benchmarks
	$(BIN)/python -m benchmarks.starts --searches forward floating best-action --out results/benchmarks
	$(BIN)/python -m benchmarks.cliffs --out results/benchmarks
	$(BIN)/python -m benchmarks.chaos --out results/benchmarks
	$(BIN)/python -m benchmarks.dependent_rows --out results/benchmarks

clean:
	rm -rf $(VENV) $(CLIENTS) build dist src/*.egg-info src/skarce/*/*.so .pytest_cache .mypy_cache .ruff_cache
