"""How often something is tried again, and the waits between."""
from __future__ import annotations

import random
from dataclasses import dataclass
from datetime import datetime, timezone
from email.utils import parsedate_to_datetime
from typing import Optional

# With a longer wait that the service asks for, a failure is final, seconds.
MOST_RETRY_AFTER = 60.0


@dataclass(frozen=True)
class BackOff:
    """`attempts` counts the first one too; the waits are in seconds."""

    attempts: int = 12
    first: float = 0.25
    longest: float = 5.0

    def wait(self, failures: int) -> float:
        """Before the attempt after so many failures: exponential, half of it by chance, so that
        many clients do not come back at the same moment."""
        ceiling = min(self.longest, self.first * 2.0 ** (failures - 1))
        return ceiling * random.uniform(0.5, 1)


PATIENT = BackOff()
RECONNECT = BackOff(attempts=15, first=0.2, longest=5.0)


def retry_after_seconds(header: Optional[str]) -> Optional[float]:
    """`Retry-After`, a number of seconds or a date (RFC 9110 section 10.2.3)."""
    if not header:
        return None
    try:
        return max(0.0, float(header))
    except ValueError:
        pass
    try:
        at = parsedate_to_datetime(header)
    except (TypeError, ValueError):
        return None
    if at.tzinfo is None:
        at = at.replace(tzinfo=timezone.utc)
    return max(0.0, (at - datetime.now(timezone.utc)).total_seconds())
