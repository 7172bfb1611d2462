"""Sessions as a program's key makes them, and as a device's does."""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine, Mapping
from typing import Any, Optional
from urllib.parse import quote

from voice_session_client import AsyncVoiceClient, BackOff, VoiceError

from .log import logger

ONCE = BackOff(attempts=1)
# Longest time for stopping a session, seconds; the service stops one itself of which nothing is
# heard for 15 minutes.
_STOP_SECONDS = 5.0


class Recordings:
    """Begins and stops sessions in the name of one key."""

    def __init__(self, base_url: str, api_key: str, device_id: Optional[str]) -> None:
        self.client = AsyncVoiceClient(base_url, api_key=api_key)
        self.device_id = device_id
        # LiveKit repeats what begins a session: the client does not as well.
        self._once = AsyncVoiceClient(base_url, api_key=api_key, back_off=ONCE)
        self._stopping: set[asyncio.Task[None]] = set()

    async def begin(
        self, session: Mapping[str, Any], *, timeout: float, idempotency_key: str
    ) -> tuple[str, str]:
        """The id and the language of a new session; "" where the language is found out."""
        path = "/sessions"
        if self.device_id is not None:
            path = f"/devices/{quote(self.device_id, safe='')}/session/start"
            # A device records one session at a time.
            await self._stopped()
        call = self._once.call(
            "POST", path, json=dict(session), timeout=timeout, idempotency_key=idempotency_key
        )
        beginning = asyncio.create_task(call)
        try:
            begun = await asyncio.shield(beginning)
        except asyncio.CancelledError:
            self._keep(self._abandon(beginning))
            raise
        language = begun.get("language", session.get("language", ""))
        return _id_of(begun), "" if language == "auto" else language

    def stop(self, session_id: str) -> asyncio.Task[None]:
        """Goes on when whoever waits for it is cancelled; `aclose` waits for it."""
        return self._keep(self._stop(session_id))

    def _keep(self, work: Coroutine[Any, Any, None]) -> asyncio.Task[None]:
        task = asyncio.create_task(work, name="voice_session.stop")
        self._stopping.add(task)
        task.add_done_callback(self._stopping.discard)
        return task

    async def _abandon(self, beginning: asyncio.Task[Any]) -> None:
        """Nobody waits for the session any more that is being begun."""
        try:
            begun = await beginning
        except VoiceError:
            return
        await self._stop(_id_of(begun))

    async def _stop(self, session_id: str) -> None:
        path, body = f"/sessions/{quote(session_id, safe='')}/stop", None
        if self.device_id is not None:
            path = f"/devices/{quote(self.device_id, safe='')}/session/stop"
            body = {"session_id": session_id}
        try:
            await asyncio.wait_for(self.client.call("POST", path, json=body), _STOP_SECONDS)
        except (VoiceError, asyncio.TimeoutError) as error:
            logger.warning("a session was not stopped: %s", error, extra={"session_id": session_id})

    async def _stopped(self) -> None:
        if self._stopping:
            await asyncio.wait(set(self._stopping))

    async def aclose(self) -> None:
        await self._stopped()
        await self._once.aclose()
        await self.client.aclose()


def _id_of(begun: Mapping[str, Any]) -> str:
    return str(begun.get("session_id") or begun["id"])
