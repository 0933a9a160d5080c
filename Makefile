# `make` without a target lists the targets. Each sets up what it needs in .venv.

PYTHON ?= python3
BIN := .venv/bin

# Model sizes for `make bench`, in ops. By default all sizes, and the page of results is rewritten.
SIZE ?=

# The Python of `make bench` with HolisticTraceAnalysis and msgspec, which read PyTorch's traces too.
PEERS ?=

# Models for `make models`, separated by commas. By default all; that takes about an hour.
MODELS ?=

# Tiers for `make test`, separated by commas: gate, live, browser, process, random, dist.
TIER ?= gate

# For `make flaky`: how often, and how many busy processes beside it.
N ?= 8
LOAD ?= 4

# For `make mutants`: how many to plant, and the seed of the choice.
COUNT ?= 60
SEED ?= 1

# Pinned versions of what the tests need; empty for the newest ones.
CONSTRAINTS ?= constraints.txt

# Seconds for each target of `make fuzz`.
TIME ?= 60

# The Python of `make test-oldest`.
OLDEST := build/oldest/bin/python

# Where `make docs` puts the site.
SITE := docs/_build/html

# Compiled modules: the package is reinstalled when one of them changes.
COMPILED := setup.py $(wildcard src/tfprof/kernels/*.p*) $(wildcard src/tfprof/formats/scan*.p*) \
	$(wildcard src/tfprof/formats/kineto/scan*.p*) src/tfprof/formats/text.py

# Checks of the page's JavaScript use Node.js; nothing else does. Empty if npm is missing.
NPM := $(shell command -v node >/dev/null && command -v npm >/dev/null && \
	node -p 'parseInt(process.versions.node) >= 20 ? "npm" : ""')

.DEFAULT_GOAL := help
.PHONY: help demo test test-all test-oldest test-strict flaky mutants coverage check lint types imports script \
	check-dependencies constraints vendor schemas docs screenshots models bench bench-page bench-check bench-baseline fuzz dist clean

help:  ## List the targets.
	@grep -E '^[a-z-]+:.*##' $(MAKEFILE_LIST) | sed 's/:.*## /\t/' | expand -t 16

demo: .venv/installed  ## Profile the example model, and write its report.
	@$(BIN)/python examples/demo.py

test: check  ## Run the checks and the gate: what every change must pass; TIER=live,… picks tiers.
	@$(BIN)/python scripts/run_tests.py $(TIER)

test-all: check  ## Run the checks and the tests of all tiers.
	@$(BIN)/python scripts/run_tests.py all

flaky: .venv/ready  ## Run a tier N times beside LOAD busy processes, and list tests that differ.
	@$(BIN)/python scripts/flaky.py --tier $(TIER) --runs $(N) --load $(LOAD)

mutants: .venv/ready  ## Plant COUNT mutants in the package, and list by tier which tests notice them.
	test -d build/mutants || $(BIN)/python scripts/mutants.py --contexts gate,live,browser,process,random,dist
	$(BIN)/python scripts/mutants.py --count $(COUNT) --seed $(SEED)

test-oldest:  ## Run all tests with the oldest versions of all dependencies, without TensorFlow.
	$(PYTHON) -m venv build/oldest
	$(PYTHON) scripts/oldest.py > build/oldest/requirements.txt
	$(OLDEST) -m pip install --quiet --disable-pip-version-check -r build/oldest/requirements.txt
	rm -f build/oldest/*.tar.gz
	$(OLDEST) -c 'from setuptools.build_meta import build_sdist as s; s("build/oldest")' >/dev/null
	$(OLDEST) -m pip install --quiet --disable-pip-version-check --no-build-isolation --no-deps \
		--force-reinstall build/oldest/*.tar.gz
	$(OLDEST) -m pytest -n 2 --dist worksteal -q

test-strict: .venv/ready  ## Run all tests in Python's development mode; a warning is an error.
	PYTHONDEVMODE=1 PYTHONWARNDEFAULTENCODING=1 PYTHONWARNINGS=error,ignore::EncodingWarning \
		$(BIN)/python -m pytest -n 2 --dist worksteal -q

coverage: .venv/ready  ## Run all tests and report branch coverage.
	$(BIN)/python -m pytest -n 2 --dist worksteal -q --cov --cov-report=term-missing:skip-covered

check: lint types imports script  ## Lint and type-check Python and JavaScript, and check imports.

lint: .venv/ready
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .

types: .venv/ready
	$(BIN)/python -m mypy

imports: .venv/ready
	$(BIN)/lint-imports --no-cache --no-logo

check-dependencies: .venv/ready  ## Check licences and known vulnerabilities of the dependencies.
	@$(BIN)/python scripts/dependencies.py

constraints:  ## Update the pinned versions of what the tests need, and show the diff.
	$(PYTHON) -m venv --clear build/newest
	build/newest/bin/python -m pip install --quiet --disable-pip-version-check '.[test]'
	build/newest/bin/python scripts/constraints.py > build/newest/constraints.txt
	mv build/newest/constraints.txt constraints.txt
	git diff constraints.txt

script: $(if $(NPM),node_modules/ready)
ifdef NPM
	node_modules/.bin/tsc
	node_modules/.bin/eslint
else
	@echo "Skipped the checks of the page's JavaScript: they require Node.js 20 or later with npm."
	@test -z "$$TFPROF_REQUIRE_BROWSER"
endif

vendor: node_modules/ready  ## Copy the page's libraries from their npm packages.
	$(PYTHON) scripts/vendor.py

schemas: .venv/ready  ## Compile the .proto files to the descriptor set in the package.
	cd src/tfprof/formats/schemas && ../../../../$(BIN)/python -m grpc_tools.protoc -I. \
		--descriptor_set_out=descriptors.binpb *.proto

docs: .venv/ready  ## Generate the reference pages and build the manual as a site.
	$(BIN)/python docs/generate.py
	$(BIN)/python -m sphinx --fail-on-warning --keep-going --nitpicky --fresh-env --quiet docs $(SITE)
	@echo "wrote $(CURDIR)/$(SITE)/index.html"

screenshots: .venv/ready  ## Take the screenshots of the manual again; requires Chromium.
	$(BIN)/python -m pytest -q tests/browser/test_screenshots.py --update-screenshots

models: .venv/ready  ## Compare common models with Keras, TensorFlow's profiler and publications.
	cd docs && ../$(BIN)/python -m models.generate $(if $(MODELS),--models $(MODELS))

bench: .venv/bench  ## Compare with TensorFlow's own profiler; one size: make bench SIZE=1e5.
	$(BIN)/python benchmarks/bench.py $(if $(SIZE),--sizes $(SIZE),|| fault=$$?; \
		$(BIN)/python benchmarks/page.py && exit $$fault)
	$(BIN)/python benchmarks/diff_speed.py $(if $(SIZE),--sizes $(SIZE),--write docs/benchmarks.md)
	$(if $(SIZE),,$(BIN)/python benchmarks/trace_speed.py --write docs/benchmarks.md $(if $(PEERS),--peers $(PEERS)))

bench-page: .venv/ready  ## Measure the report page in Chromium, and write the results to the manual.
	$(BIN)/python benchmarks/report_page.py --write docs/benchmarks.md

bench-check: .venv/ready  ## Count instructions and compare with the baseline; requires valgrind.
	@$(BIN)/python benchmarks/instructions.py check

bench-baseline: .venv/ready  ## Accept the current instruction counts as the baseline.
	@$(BIN)/python benchmarks/instructions.py baseline

fuzz: .venv/fuzz  ## Fuzz all readers and parsers, TIME seconds each; requires Linux.
	$(BIN)/python tests/fuzz/fuzz_all.py --seconds $(TIME)
	$(BIN)/python tests/fuzz/damage.py

# All packed files have the time of the last commit.
dist: export SOURCE_DATE_EPOCH ?= $(shell git log -1 --format=%ct 2>/dev/null || date +%s)
dist: .venv/dist  ## Build the sdist and the wheel; the same commit and tools give the same bytes.
	umask 022 && $(BIN)/python -m build --outdir dist

clean:  ## Remove the environment and all caches.
	find src -name '*.so' -delete
	rm -rf .venv node_modules build dist docs/_build .coverage .mypy_cache .pytest_cache .ruff_cache \
		.hypothesis

.venv/bin/python:
	$(PYTHON) -m venv .venv

# The package alone, as a user installs it.
.venv/installed: pyproject.toml $(COMPILED) | .venv/bin/python
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable .
	@touch $@

# With everything for the tests, including TensorFlow for its own profiler.
# The variable, unlike the option, also applies to the environment in which the package is built.
.venv/ready: export PIP_CONSTRAINT = $(abspath $(CONSTRAINTS))
.venv/ready: pyproject.toml $(CONSTRAINTS) $(COMPILED) | .venv/bin/python
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable '.[test]'
	@touch $@ .venv/installed

node_modules/ready: package-lock.json
	npm ci --loglevel=error
	@touch $@

# With matplotlib, for the plot of the benchmarks.
.venv/bench: .venv/ready
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable '.[bench]'
	@touch $@

# With atheris, for the fuzz targets.
.venv/fuzz: .venv/ready
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable '.[fuzz]'
	@touch $@

# With build, for the sdist and the wheel.
.venv/dist: .venv/ready
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable '.[dist]'
	@touch $@
