"""Containers that libsndfile does not know (M4A, AAC, WebM, WMA, AMR), turned into WAV by ffmpeg where it is installed.

The file is handed over in memory and never by its name, only these formats are looked for (a playlist could name other files),
and what comes out is bounded, whatever the file says of itself.
"""

from __future__ import annotations

import io
import os
import shutil
import subprocess
from typing import Any

from sottovoce.models.speech.audio_refusals import AudioNeedsFfmpeg, AudioTooLarge, AudioUnreadable

FORMATS = "mov,mp4,m4a,3gp,3g2,mj2,matroska,webm,asf,amr,aac"
MAX_FILE_BYTES = 1 << 28
LONGEST_S = 300


def as_wav(file: Any, most_bytes: int) -> io.BytesIO:
    """The sound of the file as 16-bit WAV, of at most `most_bytes`."""
    program = shutil.which("ffmpeg")
    if program is None:
        raise AudioNeedsFfmpeg
    content = file.read(MAX_FILE_BYTES + 1)
    if len(content) > MAX_FILE_BYTES:
        raise AudioTooLarge
    held = os.memfd_create("sound", os.MFD_CLOEXEC)  # seekable, as MP4 needs it, and on no disk
    try:
        with os.fdopen(os.dup(held), "wb") as out:
            out.write(content)
        quiet = [program, "-nostdin", "-hide_banner", "-loglevel", "quiet", "-threads", "1"]
        source = ["-protocol_whitelist", "file", "-format_whitelist", FORMATS, "-i", f"/proc/self/fd/{held}"]
        target = ["-vn", "-sn", "-dn", "-map_metadata", "-1", "-fs", str(most_bytes), "-c:a", "pcm_s16le"]
        done = subprocess.run(
            [*quiet, *source, *target, "-f", "wav", "pipe:1"],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            pass_fds=(held,),
            timeout=LONGEST_S,
            check=False,
        )
    except subprocess.TimeoutExpired:
        raise AudioTooLarge from None
    finally:
        os.close(held)
    if done.returncode != 0 or len(done.stdout) <= 44:
        raise AudioUnreadable
    if len(done.stdout) >= most_bytes:  # cut off
        raise AudioTooLarge
    return io.BytesIO(done.stdout)
