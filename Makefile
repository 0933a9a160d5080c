# `make` alone lists what there is. Every target sets up its own environment in .venv.

PYTHON ?= python3
BIN := .venv/bin

# The sizes to measure, in ops: all of them, and then a page of the manual, unless some are named.
SIZE ?=

# Compiled where there is a compiler, so installed anew when they change.
COMPILED := setup.py $(wildcard src/tfprof/kernels/*.p*) $(wildcard src/tfprof/formats/scan*.p*) \
	src/tfprof/formats/text.py

.DEFAULT_GOAL := help
.PHONY: help demo test check lint types schemas docs bench bench-check bench-baseline clean

help:  ## List the targets.
	@grep -E '^[a-z-]+:.*##' $(MAKEFILE_LIST) | sed 's/:.*## /\t/' | expand -t 16

demo: .venv/installed  ## Profile the example model: parameters, float ops, time by scope.
	@$(BIN)/python examples/demo.py

test: check  ## Set up and run all tests and checks.
	$(BIN)/python -m pytest -n 2 --dist worksteal -q

check: lint types  ## Lint and type-check.

lint: .venv/ready
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .

types: .venv/ready
	$(BIN)/python -m mypy

schemas: .venv/ready  ## Compile the .proto files to the descriptor set that ships with the package.
	cd src/tfprof/formats/schemas && ../../../../$(BIN)/python -m grpc_tools.protoc -I. \
		--descriptor_set_out=descriptors.binpb *.proto

docs: .venv/ready  ## Write the reference pages from the tables of options, metrics and commands.
	$(BIN)/python docs/generate.py

bench: .venv/bench  ## Measure tfprof beside TensorFlow's own profiler: make bench SIZE=1e5.
	$(BIN)/python benchmarks/bench.py $(if $(SIZE),--sizes $(SIZE),|| fault=$$?; \
		$(BIN)/python benchmarks/page.py && exit $$fault)

bench-check: .venv/ready  ## Count instructions and compare with the baseline; needs valgrind.
	@$(BIN)/python benchmarks/instructions.py check

bench-baseline: .venv/ready  ## Take what tfprof needs now for the baseline.
	@$(BIN)/python benchmarks/instructions.py baseline

clean:  ## Remove the environment and all caches.
	find src -name '*.so' -delete
	rm -rf .venv build dist .mypy_cache .pytest_cache .ruff_cache .hypothesis

.venv/bin/python:
	$(PYTHON) -m venv .venv

# What a user needs.
.venv/installed: pyproject.toml $(COMPILED) | .venv/bin/python
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable .
	@touch $@

# What the tests need, TensorFlow's own profiler among it.
.venv/ready: pyproject.toml $(COMPILED) | .venv/bin/python
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable '.[test]'
	@touch $@ .venv/installed

# What the page of benchmarks needs on top: its plot.
.venv/bench: .venv/ready
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable '.[bench]'
	@touch $@
