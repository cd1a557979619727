# make demo, make test, make docs: everything they need is created here, from Python 3.11+, pip and a C compiler.

PYTHON ?= python3
VENV ?= .venv
BIN := $(VENV)/bin

.PHONY: demo test test-clients test-export test-device test-embedded test-oldest test-browser lint types doctest check docs sanitize cross wheel test-wheel bench bench-check clean

COMPILED := setup.py $(shell find src -name "*.c" -o -name "*.h")

$(VENV)/.installed: pyproject.toml $(COMPILED)
	@test -d $(VENV) || $(PYTHON) -m venv $(VENV)
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check --upgrade pip setuptools
	@echo "Installing skarce and what it needs into $(VENV) ..."
	@rm -f src/skarce/*/*.so src/skarce/*/*/*.so
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable ".[dev]"
	@touch $@

demo: $(VENV)/.installed  ## compare all methods on the diabetes data that come with scikit-learn
	@$(BIN)/skarce compare

test: $(VENV)/.installed  ## run the tests, one process per core
	$(BIN)/python -m pytest -n auto

# How packages of Debian and Ubuntu are installed.
AS_ROOT := $(shell [ "$$(id -u)" = 0 ] || echo sudo)

# Other packages that use our models. They have an environment of their own, because they ask for other versions. Spark needs Java:
# Debian and Ubuntu have a package for it; elsewhere, install it yourself.
CLIENTS := $(VENV)-clients

$(CLIENTS)/.installed: $(VENV)/.installed
	@test -d $(CLIENTS) || $(PYTHON) -m venv $(CLIENTS)
	@echo "Installing skarce and the packages that use it into $(CLIENTS) ..."
	@$(CLIENTS)/bin/python -m pip install --quiet --disable-pip-version-check --editable ".[test,clients]"
	@touch $@

test-clients: $(CLIENTS)/.installed  ## run the tests against pysindy, sysidentpy, chaospy, shap, Spark, Ray and other packages that use our models
	@[ -n "$$JAVA_HOME" ] || command -v java >/dev/null || \
		{ $(AS_ROOT) apt-get update --quiet && $(AS_ROOT) apt-get install --yes --quiet default-jre-headless; }
	$(CLIENTS)/bin/python -m pytest tests/clients

# Exported models. ONNX and its runtime are too large to be installed for all tests.
EXPORT := $(VENV)-export

$(EXPORT)/.installed: $(VENV)/.installed
	@test -d $(EXPORT) || $(PYTHON) -m venv $(EXPORT)
	@echo "Installing skarce, ONNX and its runtime into $(EXPORT) ..."
	@$(EXPORT)/bin/python -m pip install --quiet --disable-pip-version-check --editable ".[test,export-test]"
	@touch $@

# Debian and Ubuntu have packages for clang and for what its sanitizers link; elsewhere, install them yourself.
test-export: $(EXPORT)/.installed  ## run every kind of model as ONNX, and as C by gcc and clang, as C++, and under the sanitizers
	@echo 'int main(void) { return 0; }' | clang -x c -fsanitize=address,undefined - -o /dev/null 2>/dev/null || \
		{ $(AS_ROOT) apt-get update --quiet && $(AS_ROOT) apt-get install --yes --quiet clang && \
		$(AS_ROOT) apt-get install --yes --quiet libclang-rt-$$(clang -dumpversion | cut -d. -f1)-dev; }
	SKARCE_EXPORT=all $(EXPORT)/bin/python -m pytest tests/export tests/cli/test_cli_export.py tests/cli/test_cli_export_onnx.py

# Arrays on devices. PyTorch is too large to be installed for all tests, which have array-api-strict. On a GPU these tests run there.
DEVICE := $(VENV)-device

$(DEVICE)/.installed: $(VENV)/.installed
	@test -d $(DEVICE) || $(PYTHON) -m venv $(DEVICE)
	@echo "Installing skarce and PyTorch into $(DEVICE) ..."
	@$(DEVICE)/bin/python -m pip install --quiet --disable-pip-version-check --editable ".[test,device-test]"
	@touch $@

test-device: $(DEVICE)/.installed  ## run the tests of arrays on devices with PyTorch, on a GPU if there is one
	$(DEVICE)/bin/python -m benchmarks.gpu --tests

# The oldest versions that pyproject.toml asks for; Python 3.11 has all of them.
OLDEST := $(VENV)-oldest

$(OLDEST)/.installed: pyproject.toml .ci/oldest.txt $(COMPILED)
	@test -d $(OLDEST) || $(PYTHON) -m venv $(OLDEST)
	@echo "Installing skarce and the oldest versions of what it needs into $(OLDEST) ..."
	@$(OLDEST)/bin/python -m pip install --quiet --disable-pip-version-check --upgrade pip
	@$(OLDEST)/bin/python -m pip install --quiet --disable-pip-version-check --constraint .ci/oldest.txt --editable ".[test]"
	@touch $@

test-oldest: $(OLDEST)/.installed  ## run the tests with the oldest versions of NumPy, SciPy, scikit-learn and the others
	$(OLDEST)/bin/python -m pytest -n auto

# Reports are opened in a headless Chromium. Debian and Ubuntu have a package for it; elsewhere, install it and its driver yourself.
$(VENV)/.browser: $(VENV)/.installed
	@{ command -v chromium || command -v google-chrome; } >/dev/null && command -v chromedriver >/dev/null || \
		{ $(AS_ROOT) apt-get update --quiet && $(AS_ROOT) apt-get install --yes --quiet chromium chromium-driver; }
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable ".[browser]"
	@touch $@

test-browser: $(VENV)/.browser  ## run the tests of reports in a real browser: no errors, no requests, sorting, widths, themes
	$(BIN)/python -m pytest tests/browser

# Debian and Ubuntu have packages for the compiler and the emulator; elsewhere, install them yourself.
test-embedded: $(VENV)/.installed  ## run exported models on a Cortex-M0 and a Cortex-M4, under QEMU
	@command -v arm-none-eabi-gcc >/dev/null && command -v qemu-system-arm >/dev/null || \
		{ $(AS_ROOT) apt-get update --quiet && $(AS_ROOT) apt-get install --yes --quiet gcc-arm-none-eabi qemu-system-arm; }
	$(BIN)/python -m pytest tests/embedded

lint: $(VENV)/.installed
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .

types: $(VENV)/.installed
	$(BIN)/mypy

doctest: $(VENV)/.installed
	$(BIN)/python -m pytest --doctest-modules src/skarce --doctest-glob='*.md' README.md docs

check: lint types doctest test

# The website has an environment of its own. Nothing is fetched while it is built.
DOCS := $(VENV)-docs

$(DOCS)/.installed: pyproject.toml $(COMPILED)
	@test -d $(DOCS) || $(PYTHON) -m venv $(DOCS)
	@$(DOCS)/bin/python -m pip install --quiet --disable-pip-version-check --upgrade pip setuptools
	@echo "Installing skarce and what the website needs into $(DOCS) ..."
	@$(DOCS)/bin/python -m pip install --quiet --disable-pip-version-check --editable ".[docs]"
	@touch $@

docs: $(DOCS)/.installed  ## build the website into build/site, run its examples, and check its links
	$(DOCS)/bin/python website/build.py

# A copy of the package with compiled parts that stop at the first read or write outside an array and at undefined arithmetic.
# Python itself is not built this way, so the library of the sanitizer is loaded before it, and its own leaks do not count.
SANITIZED := build/sanitized
SANITIZERS := -fsanitize=address,undefined -fno-sanitize-recover=all -fno-wrapv -fno-omit-frame-pointer
COMPILED_TESTS := tests/test_compiled.py tests/searches/test_climb_boundary.py tests/basis/test_rbf_boundary.py tests/basis/test_fused.py \
	tests/basis/test_columns.py tests/methods/latent/test_mode_boundary.py tests/methods/latent/test_compiled_steps.py \
	tests/criteria/test_gcv.py tests/criteria/test_individual_evidence.py tests/methods/lwpr

sanitize: $(VENV)/.installed  ## run the tests of the compiled parts under the address and undefined-behavior sanitizers (gcc)
	@rm -rf $(SANITIZED)
	CC=gcc CFLAGS="$(SANITIZERS)" LDFLAGS="-fsanitize=address,undefined" $(BIN)/python setup.py --quiet \
		build --build-lib $(SANITIZED)/lib --build-temp $(SANITIZED)/temp
	export PYTHONPATH=$(SANITIZED)/lib LD_PRELOAD="$$(gcc -print-file-name=libasan.so) $$(gcc -print-file-name=libubsan.so)" \
		ASAN_OPTIONS=detect_leaks=0:halt_on_error=1 UBSAN_OPTIONS=halt_on_error=1:print_stacktrace=1 && \
		$(BIN)/python -c "from skarce.basis import _rbf; assert '$(SANITIZED)' in _rbf.__file__, _rbf.__file__" && \
		$(BIN)/python -m pytest -p no:cacheprovider $(COMPILED_TESTS)

RELEASE := $(VENV)-release
SYSTEMS := x86_64-linux-musl aarch64-linux-gnu aarch64-macos x86_64-macos

cross: $(RELEASE)/.installed  ## compile the C files for other systems (zig, from its Python package)
	@$(RELEASE)/bin/python -m pip install --quiet --disable-pip-version-check ziglang
	@mkdir -p build/cross
	@for system in $(SYSTEMS); do for file in $(filter %.c,$(COMPILED)); do \
		$(RELEASE)/bin/python -m ziglang cc -target $$system -O2 -Wall -Wextra -Wno-unused-parameter -Werror -DPy_LIMITED_API=0x030B0000 \
			-I$$($(RELEASE)/bin/python -c "import sysconfig; print(sysconfig.get_path('include'))") \
			-c $$file -o build/cross/$$(basename $$file .c)-$$system.o || exit 1; done; echo "compiled for $$system"; done

$(RELEASE)/.installed:
	@test -d $(RELEASE) || $(PYTHON) -m venv $(RELEASE)
	@$(RELEASE)/bin/python -m pip install --quiet --disable-pip-version-check --upgrade pip build twine abi3audit towncrier
	@touch $@

wheel: $(RELEASE)/.installed  ## make the source archive, and a wheel of it for this kind of machine, in dist/
	@rm -rf dist
	$(RELEASE)/bin/python -m build
	$(RELEASE)/bin/twine check --strict dist/*
	$(RELEASE)/bin/abi3audit --strict dist/*.whl

# A new environment, no compiler, and the tests of the source archive in a folder without the sources.
AWAY := build/away
INSTALLED := $(abspath $(VENV)-wheel)

test-wheel: wheel  ## run the tests with an installed wheel
	@rm -rf $(AWAY) $(INSTALLED) && mkdir -p $(AWAY)
	tar -xzf dist/*.tar.gz -C $(AWAY) --strip-components 1
	rm -r $(AWAY)/src
	$(PYTHON) -m venv $(INSTALLED)
	CC=false $(INSTALLED)/bin/python -m pip install --quiet --disable-pip-version-check "$$(echo dist/*.whl)[test]"
	cd $(AWAY) && CC=false $(INSTALLED)/bin/python -m pytest -n auto

$(VENV)/.bench: $(VENV)/.installed
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable ".[bench]"
	@touch $@

bench: $(VENV)/.bench  ## beside fastrvm, SVR and GaussianProcessRegressor; let nothing else run meanwhile
	$(BIN)/python -m benchmarks --out results/benchmarks
	$(BIN)/python -m benchmarks.imports --out results/benchmarks
	$(BIN)/python -m benchmarks.growth --out results/benchmarks
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
	$(BIN)/python -m benchmarks.tree_sums --out results/benchmarks
	$(BIN)/python -m benchmarks.accuracy
	$(BIN)/python -m benchmarks.interpolation --out results/benchmarks
	$(BIN)/python -m benchmarks.starts --searches forward floating best-action --out results/benchmarks
	$(BIN)/python -m benchmarks.cliffs --out results/benchmarks
	$(BIN)/python -m benchmarks.chaos --out results/benchmarks
	$(BIN)/python -m benchmarks.dependent_rows --out results/benchmarks
	$(BIN)/python -m benchmarks.few_directions --out results/benchmarks
	$(BIN)/python -m benchmarks.robust_intervals --out results/benchmarks
	$(BIN)/python -m benchmarks.coverage --save
	$(BIN)/python -m benchmarks.width_maxima --out results/benchmarks/width_maxima.txt
	$(BIN)/python -m benchmarks.floors --out results/benchmarks

bench-check: $(VENV)/.installed  ## fail if our time over that of others got 25 % worse; let nothing else run meanwhile
	$(BIN)/python -m benchmarks.check

clean:
	rm -rf $(VENV) $(CLIENTS) $(EXPORT) $(DEVICE) $(OLDEST) $(RELEASE) $(INSTALLED) $(DOCS) build dist src/*.egg-info src/skarce/*/*.so src/skarce/*/*/*.so
	rm -rf .pytest_cache .mypy_cache .ruff_cache examples/.ruff_cache
