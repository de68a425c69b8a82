"""Maps the top-level folders to the package `sottovoce`, so that nothing called `models` or `transforms` is installed.

Beam stages this file's sdist on remote workers (`--setup_file`), so everything a worker needs is declared here.
"""

from setuptools import find_packages, setup

FOLDERS = ("models", "transforms", "pipelines", "runner_configs")
INTERFACE = (
    "interface"  # the package `sottovoce`; a folder of that name would hide an installed one from whoever stands here
)
DATA = ("yaml", "html", "css", "js", "csv", "tsv", "json", "jsonl", "onnx", "txt", "npz", "md", "flac")

setup(
    packages=[
        "sottovoce",
        *(f"sottovoce.{folder}{'.' if sub else ''}{sub}" for folder in FOLDERS for sub in ["", *find_packages(folder)]),
    ],
    package_dir={"sottovoce": INTERFACE} | {f"sottovoce.{folder}": folder for folder in FOLDERS},
    # At any depth: a folder of lists or of schedules is no package of its own.
    package_data={"": ["py.typed", *(f"**/*.{suffix}" for suffix in DATA)]},
)
