"""A session live."""
from __future__ import annotations

import time
from typing import AsyncIterator, Callable, Optional, cast

from ..back_off import BackOff
from ..errors import ApiError, ChannelError, VoiceError
from ..position import Cursor, Position
from ..types import ServerFrame
from .api import AsyncApi
from .runtime import sleep
from .sockets import (
    AUTH,
    FORBIDDEN,
    PROTOCOL,
    SILENCE_SECONDS,
    UNKNOWN_SESSION,
    Closed,
    next_frames,
    open_socket,
    send_frame,
)

_KEEP_ALIVE_SECONDS = 20.0
# Tokens that may be refused one after the other, each renewed, before it is given up.
_MOST_RENEWALS = 2
_FINAL = {
    PROTOCOL: ("bad_request", "the live channel did not understand this client"),
    FORBIDDEN: ("forbidden", "you may not follow this session"),
    UNKNOWN_SESSION: ("not_found", "there is no such session"),
}


class AsyncFollower:
    """Iterates over the frames of a session. After a break it connects again and goes on behind what
    it has, so that every durable frame is given once, in order. `SessionEnded` says that nothing
    more is to be expected but corrections; it ends with `break` only, or raises a VoiceError.
    """

    def __init__(
        self,
        api: AsyncApi,
        session_id: str,
        cursor: Optional[Cursor],
        back_off: BackOff,
        on_reconnect: Optional[Callable[[str, float], None]],
    ) -> None:
        self._api = api
        self._session_id = session_id
        self._position = Position(cursor)
        self._back_off = back_off
        self._on_reconnect = on_reconnect
        self._fruitless = 0
        self._renewals = 0

    @property
    def cursor(self) -> Optional[Cursor]:
        """Behind the newest frame that was given; None before the first."""
        return self._position.cursor

    async def __aiter__(self) -> AsyncIterator[ServerFrame]:
        while True:
            reason = "an event is missing"
            socket = None
            self._position.connected()
            try:
                socket = await open_socket(self._api, "/live")
                order = {"type": "Subscribe", "session_id": self._session_id}
                await send_frame(socket, {**order, **self._position.subscription})
                spoke = time.monotonic()
                is_whole = True
                while is_whole:
                    frames = await next_frames(socket, SILENCE_SECONDS)
                    if frames is None:
                        reason = "it fell silent"
                        break
                    for frame in frames:
                        if frame["type"] == "Error" and not frame.get("retryable"):
                            said = f"the live channel says: {frame['message']}"
                            raise ChannelError(frame["code"], said)
                        place = self._position.take(frame)
                        if place == "gap":
                            is_whole = False
                            break
                        if place == "next":
                            self._fruitless = self._renewals = 0
                            yield cast(ServerFrame, frame)
                    if time.monotonic() - spoke > _KEEP_ALIVE_SECONDS:
                        spoke = time.monotonic()
                        await send_frame(socket, {"type": "KeepAlive"})
            except (Closed, VoiceError) as error:
                reason = await self._passing(error)
            finally:
                if socket is not None:
                    await socket.close()
            await self._pause(reason)

    async def _pause(self, reason: str) -> None:
        self._fruitless += 1
        if self._fruitless >= self._back_off.attempts:
            raise ChannelError("unreachable", f"the live channel stays away: {reason}", True)
        wait = self._back_off.wait(self._fruitless)
        if self._on_reconnect is not None:
            self._on_reconnect(reason, wait)
        await sleep(wait)

    async def _passing(self, error: Exception) -> str:
        """What to say of a failure that may pass; others are raised."""
        if isinstance(error, Closed):
            if error.code == AUTH:
                return await self._renewed(str(error), error.code)
            if error.code in _FINAL:
                code, otherwise = _FINAL[error.code]
                raise ChannelError(code, error.reason or otherwise, False, error.code)
            return str(error)
        if isinstance(error, ApiError) and error.status == 401:
            return await self._renewed(str(error), None)
        if isinstance(error, VoiceError) and error.retryable:
            return str(error)
        raise error

    async def _renewed(self, reason: str, close_code: Optional[int]) -> str:
        self._renewals += 1
        if self._renewals <= _MOST_RENEWALS and await self._api.renew():
            return reason
        raise ChannelError("unauthorized", reason, False, close_code)
