"""A committed run is attacked from the command line; what it held out against opens the gate, and nothing else does."""

import json
import shutil
from pathlib import Path

import jsonschema_rs
import pytest
import yaml
from adversary import QUICK, dialogues
from whole_runs import only_run, private_of, sottovoce, write_manifest, write_secret

from sottovoce.models.evaluation.audit import TABLE
from sottovoce.pipelines.audit.audit_schema import audit_schema
from sottovoce.pipelines.training import start_training as starting

pytestmark = pytest.mark.slow
PEOPLE = 48
COLOURS = ("red", "green", "blue", "white", "black")


def corpus(say) -> list[dict]:
    """Four dialogues a person, of two turns each."""
    records = dialogues(4 * PEOPLE, 2, say)
    whose = [int(record["dialogue_id"].split("-")[1]) // 4 for record in records]
    return [
        record | {"speaker_id": f"person-{person}", "intent": ("call", "ring")[record["turn"]]}
        for record, person in zip(records, whose, strict=True)
    ]


def alike(dialogue: int, turn: int) -> str:
    return f"call {('alice', 'bob', 'carol')[dialogue % 3]} about the {COLOURS[(dialogue * 7 + turn) % 5]} lamp"


def with_habits(dialogue: int, turn: int) -> str:
    """Everybody has a word of their own, which no detector marks."""
    return f"{alike(dialogue, turn)} habit{dialogue // 4} indeed{dialogue // 4}"


@pytest.fixture(scope="module")
def made(tmp_path_factory) -> dict[str, Path]:
    """Two outputs, of people who speak alike and of people with habits, with the audit of each."""
    home = tmp_path_factory.mktemp("audited")
    secret = write_secret(home / "secret")
    for name, say in (("alike", alike), ("habits", with_habits)):
        manifest = write_manifest(home / f"in-{name}", corpus(say))
        flags = ("--input", manifest, "--output", home / name, "--secret-file", secret, "--sinks", "slu", "stt_lm")
        done = sottovoce("sanitize", *flags, *QUICK, "--set", "audit.canaries=0", "--audit", check=False)
        (home / f"{name}.txt").write_text(f"{done.returncode}\n{done.stdout}")
    return {"home": home, "secret": secret}


def audit_of(made: dict[str, Path], name: str) -> dict:
    return json.loads((private_of(only_run(made["home"] / name)) / "audit.json").read_text())


def test_a_run_that_leaks_nothing_holds_and_one_that_joins_its_people_does_not(made):
    content = audit_of(made, "alike")
    assert content["held"] and content["reasons"] == [] and {row["attack"] for row in content["results"]} == set(TABLE)
    assert (made["home"] / "alike.txt").read_text().startswith("0\n")
    content = audit_of(made, "habits")
    fell = {row["attack"] for row in content["results"] if row["verdict"] == "fell"}
    assert {"speakers_by_words", "speakers_across_sinks", "singling_out"} <= fell and not content["held"]
    said = (made["home"] / "habits.txt").read_text()
    assert said.startswith("3\n") and "did not hold:" in said and "the attacker is fit" in said


def test_the_file_is_what_its_schema_says_and_speaks_of_the_commit(made):
    for name in ("alike", "habits"):
        content = audit_of(made, name)
        jsonschema_rs.validate(audit_schema(), content)
        assert json.loads(sottovoce("schema", "audit").stdout) == audit_schema()
        for row in content["results"]:
            if "risk" in row:
                attack, control = row["attack_rate"]["value"], row["control_rate"]["value"]
                assert row["risk"]["value"] == pytest.approx((attack - control) / (1 - control), abs=2e-4)


def copy_of(made: dict[str, Path], name: str, tmp_path: Path) -> Path:
    shutil.copytree(made["home"] / name, tmp_path / "out")
    return only_run(tmp_path / "out")


def audited(made: dict[str, Path], run: Path, *flags: object):
    return sottovoce("audit", "--run", run, "--secret-file", made["secret"], *flags, check=False)


def test_without_the_corpus_what_needs_it_is_not_measurable_and_the_job_says_what_that_means(made, tmp_path):
    run = copy_of(made, "alike", tmp_path)
    done = audited(made, run, "--set", "audit.unmeasured=allow")
    assert done.returncode == 0
    assert "singling_out            all sinks  not measurable: needs the corpus (--input)" in done.stdout


def test_a_source_of_the_attackers_own_singles_out(made, tmp_path):
    run = copy_of(made, "habits", tmp_path)
    posts = [
        {"id": f"post-{n}", "dialogue_id": f"post-{n}", "speaker_id": f"person-{n}", "text": f"habit{n} indeed{n}"}
        for n in range(PEOPLE)
    ]
    content = json.loads(audited(made, run, "--auxiliary", write_manifest(tmp_path / "posts", posts), "--json").stdout)
    risks = [row["risk"]["value"] for row in content["results"] if row["attack"] == "singling_out" and "risk" in row]
    assert risks and min(risks) > 0.8


def test_a_source_that_knows_nobody_and_another_way_of_making_the_run_prove_nothing(made, tmp_path):
    run = copy_of(made, "habits", tmp_path)
    posts = [{"id": "1", "dialogue_id": "1", "speaker_id": "nobody", "text": "hello"}]
    flags = ("--set", "audit.unmeasured=refuse", "--auxiliary", write_manifest(tmp_path / "posts", posts))
    content = json.loads(audited(made, run, *flags, "--json").stdout)
    (row,) = [row for row in content["results"] if row["attack"] == "singling_out"]
    assert row["verdict"] == "not measurable" and "nobody there is in it" in row["why"] and not content["held"]
    done = audited(made, run, "--set", "voice=mcadams")
    assert done.returncode == 2 and "--set voice: the run is made already; allowed: audit, input" in done.stderr


def test_another_corpus_is_told(made, tmp_path):
    run = copy_of(made, "alike", tmp_path)
    done = audited(made, run, "--input", write_manifest(tmp_path / "other", dialogues(3)))
    assert done.returncode == 1 and "nobody in it is in the run" in done.stderr


@pytest.fixture
def starts(tmp_path, monkeypatch):
    """Ask for a training by the launch file that ships; in its place stands a program that ends at once."""
    (tmp_path / "train.py").write_text("")
    (tmp_path / "train.yaml").write_text("mode: plain\nepochs: 1\n")
    monkeypatch.setattr(starting, "TRAIN", (str(tmp_path / "train.py"),))
    return lambda run: sottovoce("start-training", "--run", run, "--config", tmp_path / "train.yaml", check=False)


def test_the_gate_opens_for_what_held_and_for_nothing_else(made, tmp_path, starts):
    run = copy_of(made, "habits", tmp_path / "habits")
    done = starts(run)
    assert done.returncode == 1 and "audit: " in done.stderr and "singling_out (slu): risk at most" in done.stderr
    run = copy_of(made, "alike", tmp_path / "alike")
    place = private_of(run) / "audit.json"
    found = place.read_text()
    place.write_text(json.dumps(json.loads(found) | {"commit": "0" * 64}))  # of records that have changed since
    assert "there is none of these records" in starts(run).stderr
    place.unlink()
    assert starts(run).returncode == 1
    place.write_text(found)
    done = starts(run)
    assert done.returncode == 0 and "gate  audit: " in done.stdout and "measured and held" in done.stdout


def test_the_officers_page_has_every_cell_and_the_registrys_fields_are_printed(made):
    for name in ("alike", "habits"):
        run = only_run(made["home"] / name)
        page = (private_of(run) / "audit.html").read_text()
        for word in (
            "singling out",
            "linkability",
            "inference",
            "names",
            "electronic mail addresses",
            "full-face photographs",
        ):
            assert word in page
        assert all(f'id="{attack}"' in page and f'href="#{attack}"' in page for attack in TABLE)
        assert page.count("not measured") >= 10 and "replace: typed" in page and "infinite" not in page
        assert ("The run held." in page) == (name == "alike")
        entry = yaml.safe_load(sottovoce("audit", "--run", run, "--format", "opendp").stdout)
        asked = {"product", "dp_flavor", "privacy_loss", "model", "accounting", "implementation", "resources"}
        assert set(entry["deployment"]) == asked and entry["deployment"]["product"]["data_curators"] is None
        assert entry["deployment"]["privacy_loss"]["privacy_parameters"]["epsilon"]["typed"]["unit"] == "0"
        assert entry["sottovoce_audit"]["held"] == (name == "alike")


def test_a_run_that_was_not_attacked_has_no_entry(made, tmp_path):
    run = copy_of(made, "alike", tmp_path)
    (private_of(run) / "audit.json").unlink()
    done = sottovoce("audit", "--run", run, "--format", "opendp", check=False)
    assert done.returncode == 1 and "was not attacked yet" in done.stderr


def test_a_training_that_is_asked_about_is_measured_beside_what_is_proved(made, tmp_path):
    run = copy_of(made, "alike", tmp_path)
    model = {"use": "clc", "hidden": 8, "layers": 1, "word_size": 8, "buckets": 500, "filters": 4}
    settings = {"model": model, "mode": "per_example", "target_epsilon": 1.0, "unit": "example", "epochs": 2}
    (tmp_path / "train.yaml").write_text(yaml.safe_dump(settings | {"intents": ["call", "ring"], "device": "cpu"}))
    flags = (
        "--training",
        tmp_path / "train.yaml",
        "--set",
        "audit.trained_canaries=100",
        "--set",
        "audit.shadow_models=2",
        "--set",
        "audit.unmeasured=allow",
    )
    done = audited(made, run, *flags, "--json")
    content = json.loads(done.stdout)
    jsonschema_rs.validate(audit_schema(), content)
    (row,) = [row for row in content["results"] if row["attack"] == "canaries_in_training"]
    assert row["verdict"] == "held" and row["trials"] == 100
    assert 0 <= row["more"]["epsilon, measured, at least"] <= row["more"]["epsilon, proved"] <= 1.001
    (row,) = [row for row in content["results"] if row["attack"] == "membership"]
    assert row["verdict"] in ("held", "not measurable")
    page = (private_of(run) / "audit.html").read_text()
    assert "canaries_in_training" in page and "epsilon, measured, at least" in page
