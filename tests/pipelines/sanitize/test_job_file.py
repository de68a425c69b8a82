from types import SimpleNamespace

import pytest

from sottovoce.models.errors import SettingsError
from sottovoce.models.randomness import Secret
from sottovoce.models.text.rewrite.crowd import Crowd
from sottovoce.pipelines.sanitize.job_file import read_job
from sottovoce.pipelines.sanitize.run import sinks_for
from sottovoce.pipelines.sanitize.run_folder import run_id


def problems(*assignments, path=None):
    with pytest.raises(SettingsError) as caught:
        read_job(path, assignments)
    return caught.value.problems


def test_the_defaults_are_a_valid_job():
    job = read_job(None)
    assert set(job.sinks) == {"stt_am", "stt_lm", "slu", "dm"}
    assert job.specs["replace"].name == job.resolved["replace"]


def test_every_problem_is_reported_at_once_with_what_is_allowed(tmp_path):
    path = tmp_path / "job.yaml"
    path.write_text(
        "detekt: rules\nsinks: {slu: 1, radio: 2}\nvoice: nobody\nslice: {min_second: 3}\naudio: {rate_hz: fast}\n"
    )
    found = "\n".join(problems("mask.guard_ms=-1", path=str(path)))
    for part in (
        "detekt: unknown key; allowed: input",
        "sinks.radio",
        "stt_am, stt_lm, slu, dm",
        "voice.use: 'nobody'",
    ):
        assert part in found
    for part in ("slice.min_second: unknown key", "did you mean 'min_seconds'", "audio.rate_hz: 'fast'", "guard_ms"):
        assert part in found


def test_one_value_can_be_set_from_the_command_line():
    job = read_job(
        None, ["slice.min_seconds=2", "mask={use: tone, guard_ms: 80}", "mask.frequency_hz=300", "sinks.dm=0"]
    )
    assert job.sections["slice"].min_seconds == 2.0
    assert dict(job.specs["mask"].options) == {"guard_ms": 80, "frequency_hz": 300}
    assert "dm" not in job.sinks and "slu" in job.sinks


def test_a_file_that_names_sinks_names_all_of_them(tmp_path):
    path = tmp_path / "job.yaml"
    path.write_text("sinks: {slu: 1}\n")
    assert read_job(str(path)).sinks == {"slu": 1.0}


@pytest.mark.parametrize("text", ["- a\n- b\n", "a: [\n", "\x00"])
def test_a_file_that_is_no_job_is_named(tmp_path, text):
    path = tmp_path / "job.yaml"
    path.write_text(text)
    assert "job.yaml" in problems(path=str(path))[0]


@pytest.mark.parametrize(
    "assignment", ["slice", "=3", "slice.min_seconds=[", "limits.max_failures=1.5", "sinks.slu=-1"]
)
def test_bad_assignments_are_refused(assignment):
    assert problems(assignment)


def test_an_empty_file_is_the_default_job(tmp_path):
    path = tmp_path / "job.yaml"
    path.write_text("")
    assert read_job(str(path)).resolved == read_job(None).resolved


def test_sensitive_slots_belong_to_every_detector_and_stay_when_another_is_named(tmp_path):
    path = tmp_path / "job.yaml"
    path.write_text("detect: rules\n")
    usual = read_job(str(path))
    assert usual.sections["detect"].sensitive_slots == ("default",) and usual.specs["detect"].options == ()
    chosen = ["detect.sensitive_slots=[city]", "detect={use: rules, types: [EMAIL]}"]
    job = read_job(None, chosen)
    assert job.sections["detect"].sensitive_slots == ("city",)
    assert job.resolved["detect"] == {"sensitive_slots": ["city"], "use": "rules", "types": ["EMAIL"]}
    assert "detect.sensitive_slots" in problems("detect.sensitive_slots=city")[0]
    assert "detect.sensitive_slots" in problems("detect.sensitive_slots=['a b']")[0]
    assert problems("detect=5") and problems("detect.use=5")


def test_an_option_holds_whether_its_member_is_named_before_it_or_after():
    one, other = (
        read_job(None, order) for order in (("replace=word", "replace.p=0.5"), ("replace.p=0.5", "replace=word"))
    )
    assert one.specs["replace"] == other.specs["replace"] and one.specs["replace"].make().p == 0.5
    with pytest.raises(SettingsError):
        read_job(None, ("replace.p=2", "replace=word"))


def test_a_file_in_another_encoding_is_told_as_that(tmp_path):
    (tmp_path / "job.yaml").write_bytes("about: {corpus: caf\xe9}".encode("latin-1"))
    with pytest.raises(SettingsError, match="not UTF-8"):
        read_job(str(tmp_path / "job.yaml"))


def test_a_run_with_other_defaults_is_another_run(monkeypatch):
    """Its records are others: under the name of the first one they would be a second release that nobody is charged for."""
    asked = ["rewrite=crowd", "sinks={slu: 1}"]

    def name():
        return run_id(Secret(b"x"), read_job(None, asked).identity, "corpus", False)

    before = name()
    assert name() == before

    def other_ladder(self, epsilon=4.0, ladder=None, **rest):
        self.epsilon, self.ladder = epsilon, ladder or {"full": 1.0}
        self.delta, self.utterances_per_speaker, self.noise, self.copies = 1e-6, 4, "auto", 1000

    monkeypatch.setattr(Crowd, "__init__", other_ladder)
    assert name() != before


def test_options_of_members_inside_a_member_name_a_run_too():
    held = read_job(None).identity["members"]["detect"]["detectors"]
    assert [one["use"] for one in held] == ["rules", "tagger"] and all(len(one) > 1 for one in held)


def test_sinks_of_a_crowd_follow_from_the_job_and_not_from_the_first_records():
    asked = ["rewrite=crowd", "sinks={slu: 1, stt_am: 1}", "voice={use: phonetic, from_text: true}"]
    recorded, written = (SimpleNamespace(text_only=text_only) for text_only in (False, True))
    crowd, plain = read_job(None, asked), read_job(None, asked[1:])
    assert set(sinks_for(crowd, written)) == set(sinks_for(crowd, recorded)) == {"slu", "stt_am"}
    assert set(sinks_for(plain, written)) == {"slu"}
    assert set(sinks_for(read_job(None, [*asked, "input.text_only=true"]), recorded)) == {"slu"}
