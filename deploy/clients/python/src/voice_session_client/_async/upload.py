"""Whole files, by tus 1.0."""
from __future__ import annotations

import base64
from typing import Any, BinaryIO, Callable, Dict, Optional, cast

import httpx

from ..errors import ApiError, UploadError, VoiceError
from ..types import Upload
from .api import AsyncApi
from .runtime import sleep

# The service judges what a file is by its first piece: a small one, so that nothing is sent in vain.
_FIRST_PIECE = 64 * 1024
# So much goes in each request after it: the service makes it durable, and says so.
_PIECE = 4 * 1024 * 1024
# What a slow line needs for a piece, seconds; what has come until then is kept.
_PIECE_SECONDS = 300.0
# Time between two looks whether the sound is in the session, seconds.
_LOOK_SECONDS = 0.5
_TUS = {"Tus-Resumable": "1.0.0"}


class AsyncFileUpload:
    """Brings a file in pieces; after each failure that may pass it asks how much the service has,
    and goes on there."""

    def __init__(
        self,
        api: AsyncApi,
        session_id: str,
        file: BinaryIO,
        filename: str,
        media_type: str,
        more: bool,
        address: Optional[str],
        on_address: Optional[Callable[[str], None]],
        on_progress: Optional[Callable[[int, int], None]],
    ) -> None:
        self._api = api
        self._session_id = session_id
        self._uploads = f"{api.base_url}/sessions/{session_id}/uploads"
        self._file = file
        self._size = file.seek(0, 2)
        self._about = {"filename": filename, "filetype": media_type}
        self._more = more
        self._address = address
        self._on_address = on_address
        self._on_progress = on_progress
        self._offset = 0
        # Failures since the last byte that came.
        self._failures = 0

    async def run(self) -> Upload:
        while self._address is None:
            try:
                await self._create()
            except VoiceError as error:
                await self._after(error)
        is_known = False
        while not is_known or self._offset < self._size:
            try:
                if is_known:
                    await self._bring()
                else:
                    await self._ask()
                is_known = True
            except VoiceError as error:
                await self._after(error)
                # How much of what was under way has come, the service has to say.
                is_known = False
        return await self._stored()

    async def _after(self, error: VoiceError) -> None:
        """Waits for the next attempt; raises what will not pass, or has failed too often."""
        # Of a piece 409 and 423: the request before, which broke, still has it in hand, or brought more.
        is_of_piece = isinstance(error, ApiError) and error.call.startswith("PATCH ")
        is_held = is_of_piece and cast(ApiError, error).status in (409, 423)
        self._failures += 1
        is_final = error.code == "session_ended" or not (error.retryable or is_held)
        if is_final or self._failures >= self._api.back_off.attempts:
            raise error
        asked = error.retry_after or 0.0 if isinstance(error, ApiError) else 0.0
        await sleep(max(asked, self._api.back_off.wait(self._failures)))

    async def _create(self) -> None:
        # The answer to an attempt before may have been lost: a second upload would hold the session open.
        known = await self._begun_before() if self._failures > 0 else None
        if known is None:
            pairs = [f"{name} {_base64(value)}" for name, value in self._about.items()]
            headers = {
                **_TUS,
                "Upload-Length": str(self._size),
                "Upload-Metadata": ",".join(pairs),
            }
            params = {"more": "true"} if self._more else None
            answer = await self._send("POST", self._uploads, headers, params=params)
            known = answer.json()["id"]
        self._address = f"{self._uploads}/{known}"
        if self._on_address is not None:
            self._on_address(self._address)

    async def _begun_before(self) -> Optional[str]:
        """The id of an upload of this size of which nothing has come."""
        answer = await self._send("GET", self._uploads, {})
        for upload in answer.json()["items"]:
            is_fresh = upload["status"] == "receiving" and upload["received"] == 0
            if is_fresh and upload["size"] == self._size:
                return cast(str, upload["id"])
        return None

    async def _ask(self) -> None:
        self._moved(await self._send("HEAD", self._address or "", _TUS))

    async def _bring(self) -> None:
        self._file.seek(self._offset)
        piece = self._file.read(_FIRST_PIECE if self._offset == 0 else _PIECE)
        headers = {
            **_TUS,
            "Content-Type": "application/offset+octet-stream",
            "Upload-Offset": str(self._offset),
        }
        self._moved(
            await self._send("PATCH", self._address or "", headers, content=piece, timeout=_PIECE_SECONDS)
        )

    def _moved(self, answer: httpx.Response) -> None:
        told = answer.headers.get("upload-offset", "")
        if not told.isdigit() or int(told) > self._size:
            raise UploadError("invalid_answer", "The answer does not say how much has come.")
        if int(told) > self._offset:
            self._failures = 0
        self._offset = int(told)
        if self._on_progress is not None:
            self._on_progress(self._offset, self._size)

    async def _stored(self) -> Upload:
        """The service makes a session's sound of the file after its last byte."""
        path = (self._address or "")[len(self._api.base_url) :]
        while True:
            upload = cast(Upload, await self._api.call("GET", path))
            if upload["status"] == "stored":
                return upload
            if upload["status"] == "failed":
                said = upload.get("error") or "It could not be stored."
                raise UploadError(upload.get("error_code") or "upload_failed", said)
            await sleep(_LOOK_SECONDS)

    async def _send(self, method: str, url: str, headers: Dict[str, str], **options: Any) -> httpx.Response:
        return await self._api.send(method, url, headers=headers, **options)


def _base64(text: str) -> str:
    return base64.b64encode(text.encode()).decode()
