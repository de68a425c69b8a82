"""Every file of settings and every --set goes through one reader: what is wrong is told, and never by a stack."""

import pytest

from sottovoce.models.errors import SettingsError
from sottovoce.pipelines.commands.build_text import _recipe_values
from sottovoce.pipelines.sanitize.job_file import read_job
from sottovoce.pipelines.training.order import read_launch
from sottovoce.pipelines.training.train_model import read_settings
from sottovoce.pipelines.yaml_settings import read_assignment, read_mapping

READERS = {
    "--config job": read_job,
    "--config train": read_settings,
    "--launch": read_launch,
    "--recipe": lambda path: _recipe_values(path, []),
}


@pytest.mark.parametrize("name", READERS)
@pytest.mark.parametrize(
    ("content", "told"),
    [
        (b"a: 1\nb: [1,\n", "line 3: not YAML"),
        (b"\xff\xfe\xff", "not UTF-8"),
        (b"- a\n", "expected a mapping"),
        (None, "No such file"),
    ],
)
def test_a_bad_file_is_told_by_its_name_and_what_is_wrong(name, content, told, tmp_path):
    path = tmp_path / "settings.yaml"
    if content is not None:
        path.write_bytes(content)
    with pytest.raises(SettingsError, match=told) as error:
        READERS[name](str(path))
    assert str(path) in str(error.value)


def test_an_empty_file_says_nothing(tmp_path):
    (tmp_path / "empty.yaml").write_text("# nothing yet\n")
    assert read_mapping(tmp_path / "empty.yaml", "--config") == {}


@pytest.mark.parametrize(
    ("assignment", "told"), [("epochs", "expected key=value"), ("=3", "expected key=value"), ("a.b=[1", "not YAML")]
)
def test_an_assignment_without_key_or_value_is_told(assignment, told):
    with pytest.raises(SettingsError, match=told):
        read_assignment(assignment)


def test_an_assignment_changes_one_setting_of_a_recipe_and_no_value_is_taken_for_a_group():
    assert _recipe_values(None, ["train.epochs=1", "train.hide=0"]) == {"train": {"epochs": 1, "hide": 0}}
    with pytest.raises(SettingsError, match="holds no settings"):
        _recipe_values(None, ["train=1", "train.epochs=1"])
