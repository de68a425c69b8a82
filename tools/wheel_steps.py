"""Builds the wheel, installs it into a clean environment and runs the demo's text part from there, far from the checkout.

    python tools/wheel_steps.py [--keep FOLDER]

Ends with an error if something is missing in the wheel, or if text alone has brought torch along.
"""

from __future__ import annotations

import argparse
import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).parents[1]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--keep", metavar="FOLDER", help="work here, and leave it there")
    args = parser.parse_args()
    folder = Path(args.keep or tempfile.mkdtemp(prefix="sottovoce-wheel-"))
    try:
        steps(folder)
    finally:
        if not args.keep:
            shutil.rmtree(folder, ignore_errors=True)


def steps(folder: Path) -> None:
    (folder / "home").mkdir(parents=True, exist_ok=True)
    run(sys.executable, "-m", "build", "--wheel", "--outdir", folder / "dist", ROOT)
    (wheel,) = (folder / "dist").glob("*.whl")
    run(sys.executable, "-m", "venv", folder / "venv")
    python = folder / "venv" / "bin" / "python"
    uv = shutil.which("uv") or Path(sys.executable).parent / "uv"
    install = (
        [uv, "pip", "install", "--quiet", "--python", python]
        if Path(uv).exists()
        else [python, "-m", "pip", "install", "-q"]
    )
    # The versions that were tried; what the wheel itself does not ask for is not installed.
    run(*install, "-c", ROOT / "requirements.txt", wheel)
    run(
        python,
        "-c",
        "import importlib.util as u; assert u.find_spec('torch') is None, 'text alone must not need torch'",
    )
    shutil.copy(ROOT / "examples" / "demo" / "manifest.jsonl", folder / "home" / "texts.jsonl")
    sottovoce = folder / "venv" / "bin" / "sottovoce"
    run(sottovoce, "try", "remind anna to call 206 555 0142", cwd=folder / "home")
    run(
        *(sottovoce, "sanitize", "--input", "texts.jsonl", "--output", "out"),
        *("--sinks", "slu", "--set", "input.text_only=true"),
        cwd=folder / "home",
    )
    (committed,) = (folder / "home" / "out").glob("*/_COMMITTED.json")
    print(f"the wheel {wheel.name} ({wheel.stat().st_size >> 20} MiB) works: {committed.parent.name} is committed")


def run(*command: object, cwd: Path | None = None) -> None:
    print("RUN", *command, flush=True)
    clean = {name: value for name, value in os.environ.items() if not name.startswith(("PYTHON", "VIRTUAL_ENV"))}
    subprocess.run([str(word) for word in command], check=True, cwd=cwd, env=clean)


if __name__ == "__main__":
    main()
