from pathlib import Path

import pytest


@pytest.fixture
def secret_file(tmp_path: Path) -> Path:
    path = tmp_path / "secret"
    path.write_bytes(b"the secret of this test, long enough")
    return path
