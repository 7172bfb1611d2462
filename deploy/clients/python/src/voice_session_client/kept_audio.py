"""The bytes of a stream that the service has not stored yet."""
from __future__ import annotations

from collections import deque
from typing import Deque, Optional

# Largest message, bytes.
MESSAGE_BYTES = 32 * 1024


class KeptAudio:
    """`may_cut`: false where each piece is a message of its own, such as a packet of Opus."""

    def __init__(self, may_cut: bool) -> None:
        self._may_cut = may_cut
        self._parts: Deque[bytes] = deque()
        self._sent = 0
        self._sent_to = 0
        # Offsets of the first byte that is kept, and behind the last one.
        self.start = 0
        self.end = 0

    @property
    def ahead(self) -> int:
        """Bytes that were sent and are not acknowledged."""
        return self._sent_to - self.start

    @property
    def size(self) -> int:
        return self.end - self.start

    @property
    def next(self) -> Optional[bytes]:
        """The message that is to be sent next."""
        return self._parts[self._sent] if self._sent < len(self._parts) else None

    def push(self, data: bytes) -> None:
        if not data:
            return
        step = MESSAGE_BYTES if self._may_cut else len(data)
        for at in range(0, len(data), step):
            self._parts.append(bytes(data[at : at + step]))
        self.end += len(data)

    def sent(self) -> None:
        """Tells that `next` went."""
        self._sent_to += len(self._parts[self._sent])
        self._sent += 1

    def move_to(self, offset: int) -> None:
        """What is kept begins at this offset of the stream."""
        self.end += offset - self.start
        self.start = self._sent_to = offset

    def send_from(self, offset: int) -> None:
        """After a break: drops what lies before the offset, and sends again from it on."""
        self.forget(offset)
        self._sent = 0
        self._sent_to = self.start

    def forget(self, offset: int) -> bool:
        """Drops what lies before an offset; False when there was nothing."""
        if offset <= self.start:
            return False
        while self._parts and self.start < offset:
            first = self._parts[0]
            part = min(offset - self.start, len(first))
            self.start += part
            if part < len(first):
                self._parts[0] = first[part:]
                break
            self._parts.popleft()
            self._sent = max(0, self._sent - 1)
        return True

    def all(self) -> bytes:
        return b"".join(self._parts)
