"""What asyncio has in place of threads."""
from __future__ import annotations

import asyncio
import inspect
from typing import Any, AsyncIterable, AsyncIterator, Awaitable, Callable, Iterable, Optional, Union

from websockets.asyncio.client import ClientConnection as Socket
from websockets.asyncio.client import connect

from ..finalize import Finalize

__all__ = ["Socket", "Source", "TokenSource", "connect", "pieces", "receive", "sleep", "token_of"]

Piece = Union[bytes, Finalize]
Source = Union[Iterable[Piece], AsyncIterable[Piece]]
# Called with True when the last token was refused.
TokenSource = Union[str, Callable[[bool], Union[str, Awaitable[str]]]]

# Nothing is received in no time at all: the loop has to turn once.
_LEAST = 0.001

sleep = asyncio.sleep


async def receive(socket: Socket, seconds: float) -> Optional[Any]:
    """The next message, None when none came in time."""
    try:
        return await asyncio.wait_for(socket.recv(), max(seconds, _LEAST))
    except asyncio.TimeoutError:
        return None


async def pieces(source: Source) -> AsyncIterator[Piece]:
    if isinstance(source, AsyncIterable):
        async for piece in source:
            yield piece
    else:
        for piece in source:
            yield piece


async def token_of(source: TokenSource, is_refused: bool) -> str:
    if isinstance(source, str):
        return source
    token = source(is_refused)
    return await token if inspect.isawaitable(token) else token
