"""What there is without asyncio."""
from __future__ import annotations

import time
from typing import Any, Callable, Iterable, Iterator, Optional, Union

from websockets.sync.client import ClientConnection as Socket
from websockets.sync.client import connect

from ..finalize import Finalize

__all__ = ["Socket", "Source", "TokenSource", "connect", "pieces", "receive", "sleep", "token_of"]

Piece = Union[bytes, Finalize]
Source = Iterable[Piece]
# Called with True when the last token was refused.
TokenSource = Union[str, Callable[[bool], str]]

sleep = time.sleep


def receive(socket: Socket, seconds: float) -> Optional[Any]:
    """The next message, None when none came in time."""
    try:
        return socket.recv(timeout=max(seconds, 0))
    except TimeoutError:
        return None


def pieces(source: Source) -> Iterator[Piece]:
    yield from source


def token_of(source: TokenSource, is_refused: bool) -> str:
    return source if isinstance(source, str) else source(is_refused)
