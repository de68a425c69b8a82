"""Runs the steps of the service's Dockerfile in a clean folder, as far as that goes without an engine, and asks what it built.

    python tools/image_steps.py text [--keep FOLDER]

COPY copies from the checkout, RUN runs in the folder that stands for /sottovoce; the user, the ports and the base image are not
tried. Then the command of the target is started, on loopback and without tokens, and asked for its health and for a text.
"""

from __future__ import annotations

import argparse
import contextlib
import json
import os
import re
import shlex
import shutil
import socket
import subprocess
import sys
import tempfile
import time
import urllib.request
from pathlib import Path

ROOT = Path(__file__).parents[1]
DOCKERFILE = ROOT / "runner_configs" / "service" / "Dockerfile"
HOME = "/sottovoce"


def stages() -> dict[str, tuple[str, list[list[str]]]]:
    """By name: the stage or image it begins from, and its steps."""
    found: dict[str, tuple[str, list[list[str]]]] = {}
    for line in re.sub(r"\\\n", " ", DOCKERFILE.read_text()).splitlines():
        if line.strip() and not line.startswith("#"):
            word, rest = line.split(None, 1)
            if word == "FROM":
                source, _, name = rest.split()
                found[name] = (source, [])
            else:
                found[name][1].append([word, rest])
    return found


def steps_of(name: str) -> list[list[str]]:
    """Of the stage and of those that it begins from or copies from."""
    known = stages()
    source, own = known[name]
    taken = [stage for word, rest in own for stage in re.findall(r"--from=(\S+)", rest if word == "COPY" else "")]
    before = [step for stage in (source, *taken) if stage in known for step in steps_of(stage)]
    return [*before, *(step for step in own if "--from=" not in step[1])]


def build(name: str, folder: Path) -> list[str]:
    """Runs the steps; gives the command of the image."""
    command: list[str] = []
    for word, rest in steps_of(name):
        if word == "COPY":
            *sources, target = rest.split()
            for source in sources:
                copy = shutil.copytree if (ROOT / source).is_dir() else shutil.copy
                copy(ROOT / source, folder / (source if target == "./" else target))
        elif word == "RUN" and not rest.startswith("useradd"):
            print(f"RUN {rest}", flush=True)
            clean = {
                name: value for name, value in os.environ.items() if not name.startswith(("PYTHON", "VIRTUAL_ENV"))
            }
            clean["PATH"] = f"{Path(sys.executable).parent}:{clean['PATH']}"  # for the Python of the base image
            subprocess.run(["sh", "-ec", rest], cwd=folder, check=True, env=clean)
        elif word == "CMD":
            command = json.loads(rest)
    return command


def ask(command: list[str], folder: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    for flag in ("--host", "--tokens"):
        at = command.index(flag)
        del command[at : at + 2]
    command = [str(folder / "venv" / "bin" / command[0]), *command[1:], "--port", str(port)]
    print(shlex.join(command), flush=True)
    process = subprocess.Popen(command, cwd="/", env={"PATH": os.environ["PATH"], "OMP_NUM_THREADS": "1"})
    try:
        for _ in range(1200):
            with contextlib.suppress(OSError), urllib.request.urlopen(f"http://127.0.0.1:{port}/health") as answer:
                print(answer.read().decode())
                break
            if process.poll() is not None:
                raise SystemExit("the service ended")
            time.sleep(0.1)
        asked = urllib.request.Request(
            f"http://127.0.0.1:{port}/v1/replace",
            json.dumps({"text": "call anna in berlin", "strategy": "typed"}).encode(),
            {"Content-Type": "application/json"},
        )
        with urllib.request.urlopen(asked) as answer:
            text = json.load(answer)["text"]
        print(text)
        assert text == "call [PER] in [LOC]"
        with urllib.request.urlopen(f"http://127.0.0.1:{port}/") as page:
            assert b"Sottovoce" in page.read()
    finally:
        process.terminate()
        process.wait()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("target", choices=("text", "full"))
    parser.add_argument("--keep", type=Path, metavar="FOLDER", help="an empty folder to build in, and to keep")
    args = parser.parse_args()
    with tempfile.TemporaryDirectory() as passing:
        folder = args.keep or Path(passing)
        folder.mkdir(exist_ok=True)
        ask(build(args.target, folder), folder)
    print(f"{args.target}: every step went through, and what was built answers")


if __name__ == "__main__":
    main()
