# The commands of the project. Each does its own set-up.
BIN := .venv/bin

.PHONY: help app ask doctor model test unit slow ray ui live attack fuzz soak screenshot check format bench bench-tools eval-demo clean

help: ## list the commands
	@grep -hE '^[a-z-]+:.*##' Makefile | sed -E 's/:.*## /\t/' | expand -t 12

app: .venv/.app ## serve the page on port 7860 (PORT=...)
	@$(BIN)/python app.py

ask: .venv/.app ## answer a question in the terminal: make ask Q="How many moons does Mars have?"
	@$(BIN)/python -m ui.terminal "$$Q"

doctor: .venv/.app ## say what this machine gives: sandbox level, model, search, disk
	@$(BIN)/python -m ui.doctor

model: .venv/.app ## fetch and verify the embedded model
	@$(BIN)/python -m ui.fetching

test: unit slow ray attack ui live ## all tests: unit, boxes and worlds, a Ray cluster, attacks, browser, embedded model

unit: .venv/.dev ## unit tests, without network
	$(BIN)/python -m pytest -n auto -m "not slow" tests/unit

slow: .venv/.dev ## unit tests that start boxes, programs or worlds, or wait on the clock
	$(BIN)/python -m pytest -n auto -m slow tests/unit

ray: .venv/.ray ## evaluations on a local Ray cluster of two machines, one of which is killed
	$(BIN)/python -m pytest tests/cluster

attack: .venv/.dev ## the attacks on the sandbox, as a table
	$(BIN)/python -m tests.attacks

fuzz: .venv/.fuzz ## forged frames for the host, guided by coverage, for five minutes (SECONDS=...)
	$(BIN)/python -m tests.fuzz

soak: .venv/.dev ## a thousand sessions, and what they leave behind (about 5 minutes)
	$(BIN)/python -m tests.soak

ui: .venv/.dev ## the page in a real browser
	@sh scripts/chromium.sh
	$(BIN)/python -m pytest tests/ui

live: .venv/.dev model ## the embedded model answers questions
	@sh scripts/chromium.sh
	$(BIN)/python -m pytest tests/live

screenshot: .venv/.dev model ## take the README's picture of a real run
	@sh scripts/chromium.sh
	SCREENSHOT=docs/screenshot.png $(BIN)/python -m pytest tests/live/test_page.py

check: .venv/.dev ## format, lint, types, floors
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/mypy agent tools lock ui evals app.py
	$(BIN)/lint-imports

format: .venv/.dev ## put the code into shape
	$(BIN)/ruff format .
	$(BIN)/ruff check --fix .

bench: .venv/.dev model ## measure; writes bench/results.json (S="sandbox model" for some sections)
	$(BIN)/python -m bench $(S)

bench-tools: .venv/.dev .venv-bench/.done ## measure the file readers beside their peers (CORPUS_DIR=..., EVERY=20 for a sample, S="pdf html")
	@nice $(BIN)/python -m bench.tools $(S) --peers .venv-bench/bin/python --every $(or $(EVERY),1)

eval-demo: .venv/.evals model ## ten questions about an offline world, asked of the embedded model, with a report
	$(BIN)/python -m evals world run --seed 1 --first 10 --concurrency 1 --max-steps 8 --open

clean: ## remove what the commands made
	rm -rf .venv .venv-bench .mypy_cache .ruff_cache .import_linter_cache .hypothesis

.venv/.app: requirements.txt constraints.txt
	@sh scripts/venv.sh requirements.txt
	@touch $@

.venv/.evals: .venv/.app requirements-evals.txt
	@sh scripts/venv.sh requirements-evals.txt
	@touch $@

.venv/.dev: requirements.txt requirements-dev.txt requirements-evals.txt constraints.txt
	@sh scripts/venv.sh requirements-dev.txt
	@touch .venv/.app .venv/.evals $@

.venv/.ray: .venv/.dev requirements-ray.txt
	@sh scripts/venv.sh requirements-ray.txt
	@touch $@

.venv/.fuzz: .venv/.dev requirements-fuzz.txt
	@sh scripts/venv.sh requirements-fuzz.txt
	@touch $@

# The peers pin other versions of what the app uses, so they live apart.
.venv-bench/.done: .venv/.app requirements-bench.txt
	@$(BIN)/python -m venv --clear .venv-bench
	@.venv-bench/bin/python -m pip install --quiet --disable-pip-version-check --upgrade pip
	@.venv-bench/bin/python -m pip install --quiet --disable-pip-version-check -r requirements-bench.txt
	@touch $@

# The question reaches the program as it was typed, whatever it contains.
export Q
