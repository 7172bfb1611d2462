"""Where a follower is in a session's durable events: each is taken once, and none is missed."""
from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Dict, Mapping, Optional


@dataclass(frozen=True)
class Cursor:
    """Kept anywhere, another process goes on behind it. `seq` is the number of the newest durable
    event that was taken, `at` when that event was."""

    seq: int
    at: Optional[str] = None


class Position:
    def __init__(self, cursor: Optional[Cursor]) -> None:
        self.cursor = cursor
        # The newest durable event that a heartbeat named.
        self._promised = 0

    @property
    def subscription(self) -> Dict[str, Any]:
        """What Subscribe says of the newest event that was taken; before the first nothing."""
        if self.cursor is None:
            return {}
        at = {} if self.cursor.at is None else {"from_at": self.cursor.at}
        return {"from_seq": self.cursor.seq, **at}

    def connected(self) -> None:
        self._promised = 0

    def take(self, frame: Mapping[str, Any]) -> str:
        """`next`, `seen` for what is left out, `gap` when one has to connect anew."""
        kind, seq = frame["type"], frame.get("seq")
        if kind == "Snapshot":
            self.cursor = Cursor(frame["seq"], frame.get("seq_at"))
            return "next"
        newest = None if self.cursor is None else self.cursor.seq
        if kind == "Heartbeat":
            # It may overtake the events that it counts, but not by a whole period.
            is_lost = newest is not None and self._promised > newest
            self._promised = frame["seq"]
            return "gap" if is_lost else "next"
        if kind == "SessionEnded":
            return "gap" if frame["seq"] > (newest or 0) else "next"
        if seq is None:
            return "next"
        if newest is not None and seq <= newest:
            return "seen"
        if newest is not None and seq > newest + 1:
            return "gap"
        self.cursor = Cursor(seq, frame.get("at"))
        return "next"
