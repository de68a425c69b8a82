"""Train models with differential privacy, and say what was spent. A network is one file and one row, and names its task."""

from __future__ import annotations

TABLE = {
    "clc": "sottovoce.models.training.networks.clc:Clc",
    "bert": "sottovoce.models.training.networks.bert:Bert",
    "lstm": "sottovoce.models.training.networks.language:LstmModel",
    "transformer": "sottovoce.models.training.networks.language:TransformerModel",
    "counts": "sottovoce.models.training.ngrams.noisy_counts:CountsModel",
    "conv": "sottovoce.models.training.networks.conv:ConvModel",
    "turns": "sottovoce.models.training.networks.turns:TurnsModel",
    "rewriter": "sottovoce.models.training.networks.rewriter:RewriterModel",
}
