"""What `start-training` charged before it submitted a job, to which the job holds itself."""

from __future__ import annotations

from dataclasses import dataclass

from sottovoce.models.errors import RunError

ROUNDING = 1 + 1e-9


@dataclass(frozen=True)
class Charged:
    """By unit; None where nobody was charged before the job began. `before`: whether it was for this very model."""

    epsilon: float | None = None
    delta: float | None = None
    before: bool = False

    def check(self, epsilon: float | None, delta: float) -> None:
        """Of the plan; None where no epsilon holds, which was charged as infinite."""
        for name, spent, limit in (("epsilon", epsilon, self.epsilon), ("delta", delta, self.delta)):
            if spent is not None and limit is not None and spent > limit * ROUNDING:
                raise RunError(
                    f"the plan spends {name} {spent:.4g}, and {limit:.4g} was charged to the people in the data; "
                    f"nothing was trained. Give {'target_epsilon' if name == 'epsilon' else name} in train.yaml"
                )


NOTHING = Charged()
