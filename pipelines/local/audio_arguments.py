"""Flags of every command that reads recordings without a job: where they may lie, and which channel is the speaker's."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:  # --help must not wait for Beam
    from sottovoce.models.speech.audio_roots import AudioRoots
    from sottovoce.transforms.engine.job import AudioSettings
    from sottovoce.transforms.speech.stages import LoadAudio


def add_audio_arguments(parser: argparse.ArgumentParser) -> None:
    """Adds `--audio-root`, which may be repeated, and `--channel`."""
    parser.add_argument(
        "--audio-root",
        action="append",
        default=[],
        metavar="FOLDER",
        help="recordings may also lie here (default: beside the manifest only)",
    )
    parser.add_argument(
        "--channel", metavar="C", help="of the speaker, in recordings that have several: 0, 1, left, right, split"
    )


def audio_roots_of(input_uri: str, args: argparse.Namespace) -> AudioRoots:
    """Where recordings of this corpus may be read from: beside it, and below each `--audio-root`."""
    from sottovoce.transforms.read.corpus import open_corpus

    return open_corpus(input_uri).audio_roots(args.audio_root)


def audio_settings_of(args: argparse.Namespace, **more: Any) -> AudioSettings:
    """`--channel` as a number or a name, and `more` settings by keyword; SettingsError for what a job would refuse."""
    from sottovoce.models.settings import build
    from sottovoce.transforms.engine.job import AudioSettings

    named = args.channel
    return build(AudioSettings, {"channel": int(named) if named and named.isdecimal() else named, **more}, "flags")


def load_audio_of(input_uri: str, args: argparse.Namespace, **more: Any) -> LoadAudio:
    """How recordings of the corpus are read; `more` are settings of `audio` in a job."""
    from sottovoce.transforms.speech.stages import LoadAudio

    return LoadAudio(audio_roots_of(input_uri, args), audio_settings_of(args, **more))
