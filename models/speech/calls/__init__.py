"""Long and two-sided recordings, cut into utterances: where somebody speaks, who it is, and which words were said there.

`activity` finds stretches of speech, `anchors` says which words of a long transcript belong to which of them, `speakers_of` tells
the voices of one mixed channel apart, and `cut` puts them together. What cannot be attributed is refused, part by part.
"""
