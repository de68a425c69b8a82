"""Train intent and slot models with differential privacy, and say what was spent."""

from __future__ import annotations

TABLE = {
    "clc": "sottovoce.models.training.networks.clc:Clc",
    "bert": "sottovoce.models.training.networks.bert:Bert",
}
