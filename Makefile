# Two commands on a fresh machine with python3.11, git and make:
#   make demo   sets everything up and runs the handbook application, offline after the install
#   make test   sets everything up and passes the tests
# make demo-llama-index is the same demo, built with LlamaIndex.
PYTHON ?= python3.11
VENV := .venv
BIN := $(VENV)/bin
DATA ?= ../shared/data
PIP := $(BIN)/python -m pip install -q -c constraints.txt

.PHONY: demo demo-llama-index test encoders train lint base bench benchmarks lock clean

demo: $(VENV)/.demo
	$(BIN)/python -m examples.handbook $(ARGS)

demo-llama-index: $(VENV)/.demo-llama-index
	$(BIN)/python -m examples.handbook_llama_index $(ARGS)

test: $(VENV)/.dev
	$(BIN)/python -m pytest $(ARGS)

# PyTorch and transformers, for the tests of optional encoders: 200 MB.
encoders: $(VENV)/.encoders

# The embedded detector's weights, from the labelled data: 90 minutes of two cores. Resumable.
train: $(VENV)/.train
	$(BIN)/python -m training.encoder --data $(DATA) $(ARGS)

lint: $(VENV)/.dev
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports

# The wheel alone, in an environment of its own: no extra, no checkout on the path.
base:
	rm -rf $(VENV)-base dist
	$(PYTHON) -m venv $(VENV)-base
	$(VENV)-base/bin/python -m pip install -q --upgrade pip build
	$(VENV)-base/bin/python -m build -q --wheel
	$(VENV)-base/bin/python -m pip install -q -c constraints.txt dist/*.whl
	cd $(VENV)-base && bin/python -P ../tests/base_install.py

# Every offline detector on the same labelled answers: a table, and a report to look at.
bench: $(VENV)/.dev
	$(PIP) --group bench
	$(BIN)/python -m benchmarks.compare --data $(DATA)

# All other measurements that benchmarks/RESULTS.md has.
benchmarks: $(VENV)/.dev
	$(PIP) --group bench
	$(BIN)/python -m benchmarks.lexical
	$(BIN)/python -m benchmarks.embedded
	$(BIN)/python -m benchmarks.overhead
	$(BIN)/python -m benchmarks.overhead_llama_index
	$(BIN)/python -m benchmarks.tuned --data $(DATA) --outcomes build/tuned
	$(BIN)/python -m benchmarks.ensembles
	$(BIN)/python -m benchmarks.cascade
	$(BIN)/python -m benchmarks.batch --engines local
	$(BIN)/python -m benchmarks.batch --part kills --engines local

# The exact versions that the tests pass with, from what is installed here. PyTorch is pinned in its group: it
# has other names for the same version elsewhere.
lock: $(VENV)/.encoders
	$(BIN)/python -m pip freeze --exclude-editable --exclude torch > constraints.txt

$(VENV)/.base:
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install -q --upgrade pip
	touch $@

$(VENV)/.demo: $(VENV)/.base pyproject.toml constraints.txt
	$(PIP) -e '.[langchain,report]' --group demo
	touch $@

$(VENV)/.demo-llama-index: $(VENV)/.base pyproject.toml constraints.txt
	$(PIP) -e '.[llama-index,report]' --group demo
	touch $@

$(VENV)/.dev: $(VENV)/.base pyproject.toml constraints.txt
	$(PIP) -e '.[langchain,aws,llama-index,otel,bench,ray,postgres,report,yaml]' --group dev
	touch $@

$(VENV)/.encoders: $(VENV)/.dev
	$(PIP) --group encoders
	touch $@

$(VENV)/.train: $(VENV)/.dev
	$(PIP) --group train
	touch $@

clean:
	rm -rf $(VENV) $(VENV)-base dist build
