"""The client: sessions, files, streams, live transcripts, questions."""
from __future__ import annotations

import io
import os
from types import TracebackType
from typing import Any, AsyncIterator, BinaryIO, Callable, Dict, Mapping, Optional, Type, Union, cast
from urllib.parse import quote

import httpx

from ..back_off import PATIENT, RECONNECT, BackOff
from ..position import Cursor
from ..types import (
    Answer,
    Completeness,
    DeletionReceipt,
    Segment,
    Session,
    SessionDetail,
    StreamConfiguration,
    StreamServerFrame,
    Upload,
)
from .api import AsyncApi
from .follow import AsyncFollower
from .runtime import Source, TokenSource, sleep
from .stream import AsyncAudioStream
from .upload import AsyncFileUpload

_QUESTION_SECONDS = 120.0
_PCM: StreamConfiguration = {"encoding": "pcm_s16le", "sample_rate": 16_000, "channels": 1}


class AsyncVoiceClient:
    """A client of the voice session service.

    `base_url` is the service's address, `api_key` the key of a program or a device, `token` a
    person's access token, or a function that has it: called with True when the last one was refused,
    it gets a fresh one. `timeout` is for each attempt of a call, seconds. What may pass is repeated
    as `back_off` says; what is raised in the end is a VoiceError.
    """

    def __init__(
        self,
        base_url: str,
        *,
        api_key: Optional[str] = None,
        token: Optional[TokenSource] = None,
        timeout: float = 30.0,
        back_off: BackOff = PATIENT,
        http: Optional[httpx.AsyncClient] = None,
    ) -> None:
        self._api = AsyncApi(base_url, api_key, token, timeout, back_off, http)

    async def __aenter__(self) -> AsyncVoiceClient:
        return self

    async def __aexit__(
        self,
        kind: Optional[Type[BaseException]],
        error: Optional[BaseException],
        trace: Optional[TracebackType],
    ) -> None:
        await self.aclose()

    async def aclose(self) -> None:
        await self._api.aclose()

    async def call(self, method: str, path: str, **options: Any) -> Any:
        """Any operation by its path, such as `GET`, `/sessions/…/speakers`; options are `json`,
        `params`, `headers`, `timeout` and `idempotency_key`. Returns the content of the answer."""
        return await self._api.call(method, path, **options)

    async def create_session(self, **session: Any) -> Session:
        """Begins a session that records; the members are those of `types.NewSession`."""
        return cast(Session, await self.call("POST", "/sessions", json=session))

    async def get_session(self, session_id: str) -> SessionDetail:
        return cast(SessionDetail, await self.call("GET", _session(session_id)))

    async def list_sessions(self, **query: Any) -> AsyncIterator[Session]:
        """All sessions that a query finds, newest first, page after page."""
        async for session in self._pages("/sessions", query):
            yield cast(Session, session)

    async def stop_session(self, session_id: str) -> None:
        """Ends the recording; what came is still being read."""
        await self.call("POST", f"{_session(session_id)}/stop")

    async def delete_session(self, session_id: str) -> DeletionReceipt:
        """Deletes words, sound and all that was made of them, for good."""
        return cast(DeletionReceipt, await self.call("DELETE", _session(session_id)))

    async def ended(self, session_id: str, every: float = 1.0) -> SessionDetail:
        """Returns when the session is read to its end, `completed` or `failed`."""
        while True:
            session = await self.get_session(session_id)
            if session["status"] not in ("recording", "processing"):
                return session
            await sleep(every)

    async def segments(self, session_id: str, words: bool = False) -> AsyncIterator[Segment]:
        """What was said, in order, page after page; with `words` the time of each word."""
        query = {"words": "true"} if words else {}
        async for segment in self._pages(f"{_session(session_id)}/segments", query):
            yield cast(Segment, segment)

    async def completeness(self, session_id: str) -> Completeness:
        """Which parts of the recording are missing or could not be read."""
        return cast(Completeness, await self.call("GET", f"{_session(session_id)}/completeness"))

    async def ask(self, session_id: str, query: str) -> Answer:
        """Asks about one session; each citation of the answer names the moment it was said."""
        return await self._ask(f"{_session(session_id)}/hirag-query", query)

    async def ask_workspace(self, workspace_id: str, query: str) -> Answer:
        """Asks about all sessions of a workspace that the caller may read."""
        return await self._ask(f"/workspaces/{quote(workspace_id, safe='')}/agentic-query", query)

    async def upload(
        self,
        session_id: str,
        file: Union[bytes, str, os.PathLike[str], BinaryIO],
        *,
        filename: Optional[str] = None,
        media_type: str = "application/octet-stream",
        more: bool = False,
        address: Optional[str] = None,
        on_address: Optional[Callable[[str], None]] = None,
        on_progress: Optional[Callable[[int, int], None]] = None,
    ) -> Upload:
        """Brings a whole file (bytes, a path, or a seekable binary file), in pieces that are gone on
        with after a break, and returns when its sound is in the session. `on_address` is told an
        address with which another process goes on (`address`); `on_progress` the bytes that are
        durable, and the size. `more`: another file follows, and the recording goes on."""
        name = filename or (os.path.basename(file) if isinstance(file, (str, os.PathLike)) else "audio")
        opened: BinaryIO
        if isinstance(file, (bytes, bytearray)):
            opened = io.BytesIO(file)
        elif isinstance(file, (str, os.PathLike)):
            opened = open(file, "rb")
        else:
            opened = file
        try:
            return await AsyncFileUpload(
                self._api, session_id, opened, name, media_type, more, address, on_address, on_progress
            ).run()
        finally:
            if opened is not file:
                opened.close()

    async def stream(
        self,
        session_id: Optional[str],
        source: Source,
        configuration: StreamConfiguration = _PCM,
        *,
        device_id: Optional[str] = None,
        resume: bool = False,
        back_off: BackOff = RECONNECT,
        on_begin: Optional[Callable[[str, int], None]] = None,
        on_stored: Optional[Callable[[int], None]] = None,
        on_frame: Optional[Callable[[StreamServerFrame], None]] = None,
        on_reconnect: Optional[Callable[[str, float], None]] = None,
    ) -> int:
        """Streams what an iterable gives, and returns the number of bytes when all are stored. Not
        one sample is lost or doubled when connections break. Of Opus each piece is one packet. In
        place of a piece `FINALIZE` asks for the final words of what came so far.

        With `resume` the source goes on with the stream of an earlier process: before its first piece
        is asked for, `on_begin` is told the session and the byte from which on to give it.
        `device_id`: as this device, with its key; without `session_id` a session begins. `on_frame`: words, if the configuration asks for
        them (`transcript`), and warnings."""
        if device_id is None and session_id is None:
            raise ValueError("give a session, or the device that begins one")
        path = f"{_session(session_id or '')}/stream"
        if device_id is not None:
            path = f"/devices/{quote(device_id, safe='')}/stream"
            into = {} if session_id is None else {"session_id": session_id}
            configuration = cast(StreamConfiguration, {**configuration, **into})
        return await AsyncAudioStream(
            self._api, path, configuration, resume, back_off, on_begin, on_stored, on_frame, on_reconnect
        ).run(source)

    def follow(
        self,
        session_id: str,
        *,
        cursor: Optional[Cursor] = None,
        back_off: BackOff = RECONNECT,
        on_reconnect: Optional[Callable[[str, float], None]] = None,
    ) -> AsyncFollower:
        """A session live, each event once and in order. With the `cursor` of an earlier follower it
        goes on behind that; `Cursor(0)`: all events; without one a Snapshot comes first."""
        return AsyncFollower(self._api, session_id, cursor, back_off, on_reconnect)

    async def _ask(self, path: str, query: str) -> Answer:
        body = {"query": query}
        return cast(Answer, await self.call("POST", path, json=body, timeout=_QUESTION_SECONDS))

    async def _pages(self, path: str, query: Mapping[str, Any]) -> AsyncIterator[Dict[str, Any]]:
        cursor: Optional[str] = None
        while True:
            params = {**query, **({} if cursor is None else {"cursor": cursor})}
            page = await self.call("GET", path, params=params)
            for item in page["items"]:
                yield item
            cursor = page["next_cursor"]
            if cursor is None:
                return


def _session(session_id: str) -> str:
    return f"/sessions/{quote(session_id, safe='')}"
