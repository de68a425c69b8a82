"""National identifiers that python-stdnum does not know, each as a function of what was written or said."""

from __future__ import annotations

import re

_SOCIAL_SECURITY = re.compile(r"(?!000|666|9)\d{3}-(?!00)\d{2}-(?!0000)\d{4}")
# Two letters that are given out (no D F I Q U V, no O in second place, nor some pairs), six figures, A to D.
_INSURANCE = re.compile(r"(?!BG|GB|KN|NK|NT|TN|ZZ)[A-CEGHJ-PR-TW-Z][A-CEGHJ-NPR-TW-Z]\d{6}[A-D]", re.IGNORECASE)
_MEDICARE_WEIGHTS = (1, 3, 7, 9, 1, 3, 7, 9)


def dashed_social_security(text: str) -> bool:
    """One of the United States as it is written, 3-2-4; it has no check digit, so that its shape must tell."""
    return _SOCIAL_SECURITY.fullmatch(text) is not None


def insurance_number(text: str) -> bool:
    """The British National Insurance number; it has no check digit."""
    return _INSURANCE.fullmatch(re.sub(r"\s", "", text)) is not None


def medicare(text: str) -> bool:
    """The Australian Medicare number: the ninth figure is the weighted sum of those before; the card's may follow."""
    figures = re.sub(r"[\s-]", "", text)
    if not re.fullmatch(r"[2-6][0-9]{9,10}", figures):
        return False
    total = sum(weight * int(figure) for weight, figure in zip(_MEDICARE_WEIGHTS, figures, strict=False))
    return total % 10 == int(figures[8])
