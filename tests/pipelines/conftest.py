from pathlib import Path

import pytest
from whole_runs import write_secret


@pytest.fixture
def secret_file(tmp_path: Path) -> Path:
    return write_secret(tmp_path / "secret")
