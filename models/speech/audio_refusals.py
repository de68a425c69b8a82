"""Why a recording is turned away. Every code is stable: it is counted in the summary and listed in docs/speech.md."""

from __future__ import annotations

from sottovoce.models.errors import Refusal


class AudioMissing(Refusal):
    code = "audio_missing"
    allowed = "an utterance with a recording"


class AudioNotFound(Refusal):
    code = "audio_not_found"
    allowed = "a recording that exists and can be opened"


class AudioOutsideRoots(Refusal):
    """Said of every such path alike: whether anything is there is nobody's business who only wrote a manifest."""

    code = "audio_outside_roots"
    allowed = "a recording beside its manifest, or under a folder or URI of input.audio_roots"


class AudioNotAFile(Refusal):
    code = "audio_not_a_file"
    allowed = "a regular file; no folder, pipe, socket or device"


class AudioEmpty(Refusal):
    code = "audio_empty"
    allowed = "a file with at least one byte"


class AudioUnreadable(Refusal):
    code = "audio_unreadable"
    allowed = "a sound file that libsndfile reads (WAV, FLAC, OGG, MP3, AIFF, SPHERE and others)"


class AudioNeedsFfmpeg(Refusal):
    code = "audio_needs_ffmpeg"
    allowed = "M4A, AAC, WebM, WMA and AMR where ffmpeg is installed on every worker (apt install ffmpeg, brew install ffmpeg)"


class AudioTruncated(Refusal):
    code = "audio_truncated"
    allowed = "a sound file that is complete"


class AudioNotFinite(Refusal):
    code = "audio_not_finite"
    allowed = "samples that are all finite numbers"


class AudioSilent(Refusal):
    code = "audio_silent"
    allowed = "a recording that is not constant"


class AudioTooShort(Refusal):
    code = "audio_too_short"
    allowed = "at least 0.1 s"


class AudioTooLong(Refusal):
    code = "audio_too_long"
    allowed = "at most audio.max_seconds seconds (120 unless set)"


class AudioTooLarge(Refusal):
    code = "audio_too_large"
    allowed = (
        "at most 33554432 samples over all channels (120 s of five channels at 48 kHz); in Parquet, row groups of 1 GiB"
    )


class ChannelNotChosen(Refusal):
    code = "channel_not_chosen"
    allowed = "one channel, or channels that are all the same; else audio.channel: a number, left, right or split"


class ChannelAbsent(Refusal):
    code = "channel_absent"
    allowed = "a recording that has the channel of audio.channel, or with split the one that its record names"


class ChannelNotNamed(Refusal):
    code = "channel_not_named"
    allowed = "with audio.channel: split, records that name the channel of their speaker by the key channel"


class AudioRateOutside(Refusal):
    code = "audio_rate_outside"
    allowed = "a sampling rate from 6 to 384 kHz"


class DurationMismatch(Refusal):
    code = "duration_mismatch"
    allowed = "a claimed duration within 0.5 s or 10 % of the recording's own"


class SegmentOutsideAudio(Refusal):
    code = "segment_outside_audio"
    allowed = "a segment that begins before it ends and lies inside its recording"
