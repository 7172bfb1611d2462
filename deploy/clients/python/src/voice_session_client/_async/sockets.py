"""WebSockets in the caller's name, and what their ends mean."""
from __future__ import annotations

import json
from typing import Any, Dict, List, Optional

from websockets.exceptions import ConnectionClosed, InvalidStatus, WebSocketException

from ..errors import Unreachable, api_error
from .api import AsyncApi
from .runtime import Socket, connect, receive

HANDSHAKE_SECONDS = 10.0
# Time without a message after which a connection counts as dead, seconds.
SILENCE_SECONDS = 45.0
MOST_FRAME_BYTES = 32 * 1024 * 1024

DONE, TOO_LARGE = 1000, 1009
PROTOCOL, AUTH, FORBIDDEN, UNKNOWN_SESSION, SUPERSEDED = 4400, 4401, 4403, 4404, 4409


class Closed(Exception):
    """A WebSocket is over: with a code, 1006 without one."""

    def __init__(self, code: int, reason: str) -> None:
        super().__init__(reason or f"the connection was lost ({code})")
        self.code = code
        self.reason = reason


async def open_socket(api: AsyncApi, path: str) -> Socket:
    """Raises ApiError for a refusal, Unreachable when nobody answers."""
    url = f"ws{api.base_url[4:]}{path}"
    name = f"GET {path}"
    try:
        return await connect(
            url,
            additional_headers=await api.headers(),
            open_timeout=HANDSHAKE_SECONDS,
            max_size=MOST_FRAME_BYTES,
            compression=None,
        )
    except InvalidStatus as error:
        answer = error.response
        headers = {key.lower(): value for key, value in answer.headers.raw_items()}
        raise api_error(name, answer.status_code, headers, bytes(answer.body or b"")) from error
    except (OSError, EOFError, WebSocketException) as error:
        raise Unreachable(name, error) from error


async def next_frames(socket: Socket, seconds: float) -> Optional[List[Dict[str, Any]]]:
    """The frames of the next message, None when none came in time. Raises Closed at the end."""
    try:
        message = await receive(socket, seconds)
    except ConnectionClosed as error:
        code = 1006 if error.rcvd is None else error.rcvd.code
        raise Closed(code, "" if error.rcvd is None else error.rcvd.reason) from error
    if message is None:
        return None
    try:
        content = json.loads(message)
    except ValueError:
        return []
    items = content if isinstance(content, list) else [content]
    return [each for each in items if isinstance(each, dict) and isinstance(each.get("type"), str)]


async def send_frame(socket: Socket, frame: Any) -> bool:
    """Bytes as they are, others as JSON; False when the connection is over."""
    try:
        await socket.send(frame if isinstance(frame, bytes) else json.dumps(frame))
    except ConnectionClosed:
        return False
    return True
