# Two commands on a fresh machine with python3.11, git and make:
#   make demo   sets everything up and runs the handbook application, offline after the install
#   make test   sets everything up and passes the tests
# make demo-llama-index is the same demo, built with LlamaIndex.
PYTHON ?= python3.11
VENV := .venv
BIN := $(VENV)/bin
DATA ?= ../shared/data
PIP := $(BIN)/python -m pip install -q -c constraints.txt

.PHONY: demo demo-llama-index test fuzz encoders train lint base docs notebooks bench benchmarks robustness
.PHONY: dist sbom licences matrix lock clean

demo: $(VENV)/.demo
	$(BIN)/python -m examples.handbook $(ARGS)

demo-llama-index: $(VENV)/.demo-llama-index
	$(BIN)/python -m examples.handbook_llama_index $(ARGS)

test: $(VENV)/.dev
	$(BIN)/python -m pytest $(ARGS)

# Input that nobody chose, guided by coverage: 8 minutes over all targets, or ARGS="replied --seconds 600".
fuzz: $(VENV)/.dev
	$(PIP) --group fuzz
	$(BIN)/python -m tests.fuzz $(ARGS)

# PyTorch and transformers, for the tests of optional encoders: 200 MB.
encoders: $(VENV)/.encoders

# The embedded detector's weights, from the labelled data: hours on two cores. Resumable.
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

# The documentation site, in build/site. Strict: a link that leads nowhere fails, and so does a page that would load
# anything from elsewhere.
docs: $(VENV)/.docs
	NO_MKDOCS_2_WARNING=1 $(BIN)/python -m mkdocs build -q --strict
	$(BIN)/python -m documentation.check build/site

# The notebooks, run again, with what they show stored in them.
notebooks: $(VENV)/.docs
	$(BIN)/python -m documentation.run_notebooks

# Wheel and source distribution: built twice, compared, checked, and tried in empty environments.
dist: $(VENV)/.release
	$(BIN)/python -m release.distributions

# The bill of materials, from an environment installed by requirements.lock.
sbom: $(VENV)/.release
	$(BIN)/python -m release.sbom

# docs/licences.md, from what is installed here: every extra has to be.
licences: $(VENV)/.encoders $(VENV)/.release
	$(PIP) -e '.[all,ray]'
	$(BIN)/python -m release.licences

# Every Python, and the lowest and newest of what groundwire stands on: docs/compatibility.md. Hours on a small
# machine; ARGS="--cell full-3.13-newest" is one of them.
matrix: $(VENV)/.release
	$(BIN)/python -m release.matrix $(ARGS)

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
	$(BIN)/python -m benchmarks.attacks
	$(BIN)/python -m benchmarks.batch --engines local
	$(BIN)/python -m benchmarks.batch --part kills --engines local

# Every fault that the tests know, and the tables of it in the pages.
robustness: $(VENV)/.dev
	rm -f reports/robustness.json
	$(BIN)/python -m pytest tests/faults --deselect tests/faults/test_table.py::test_the_page_says_what_the_tests_have_found
	$(BIN)/python -m tests.faults

# The exact versions that the tests pass with, from what is installed here, and the same with hashes for who
# installs the extra `all`. PyTorch is pinned in its group: it has other names for the same version elsewhere.
lock: $(VENV)/.encoders $(VENV)/.docs $(VENV)/.release
	$(BIN)/python -m pip freeze --exclude-editable --exclude torch > constraints.txt
	UV_SYSTEM_CERTS=1 $(BIN)/uv pip compile -q pyproject.toml --extra all -c constraints.txt --universal \
		--python-version 3.11 --generate-hashes --no-header --no-annotate -o requirements.lock

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
	$(PIP) -e '.[all,ray]' --group dev
	touch $@

$(VENV)/.encoders: $(VENV)/.dev
	$(PIP) --group encoders
	touch $@

$(VENV)/.docs: $(VENV)/.dev
	$(PIP) --group docs
	touch $@

$(VENV)/.release: $(VENV)/.dev
	$(PIP) --group release
	touch $@

$(VENV)/.train: $(VENV)/.dev
	$(PIP) --group train
	touch $@

clean:
	rm -rf $(VENV) $(VENV)-base dist build
