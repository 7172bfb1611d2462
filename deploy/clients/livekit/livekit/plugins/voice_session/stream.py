"""One stream of audio and the words of it."""

from __future__ import annotations

import asyncio
import time
import uuid
from collections.abc import AsyncGenerator, AsyncIterator
from contextlib import aclosing
from typing import TYPE_CHECKING, Any, Optional, Union, cast

from livekit import rtc
from livekit.agents import APIConnectOptions, APIStatusError, stt, utils
from voice_session_client import FINALIZE, BackOff, Cursor, Finalize, VoiceError
from voice_session_client.types import ServerFrame

from .errors import api_error
from .log import logger
from .recording import ONCE
from .speech import Frame, SpeechEvents

if TYPE_CHECKING:
    from .stt import STT

# The rate at which the service reads, Hz.
SAMPLE_RATE = 16_000
_BYTES_PER_SECOND = 2 * SAMPLE_RATE
# While no audio comes, what the service says is listened for this often, seconds.
_LOOK_SECONDS = 0.05
_USAGE_SECONDS = 5.0
# Longest wait of a device for the words of its last sound, seconds.
_LAST_WORDS_SECONDS = 15.0
# The end of what is finalized may lie so far before the end of the sound, seconds.
_ROUNDING = 0.1


class SpeechStream(stt.RecognizeStream):
    """A session of the service, from the first frame of audio to the end of input or `aclose`."""

    def __init__(
        self,
        *,
        stt: STT,
        conn_options: APIConnectOptions,
        session: dict[str, Any],
        interim_results: bool,
        reconnect: BackOff,
    ) -> None:
        super().__init__(stt=stt, conn_options=conn_options, sample_rate=SAMPLE_RATE)
        self._recordings = stt._recordings
        self._session = session
        self._interim = interim_results
        self._back_off = reconnect if conn_options.max_retry > 0 else ONCE
        # One session, also when the answer to its beginning was lost and LiveKit asks again.
        self._idempotency_key = str(uuid.uuid4())
        self._first: Optional[rtc.AudioFrame] = None
        # LiveKit moves its own on with each attempt; but no sound is lost when one fails.
        self._offset = 0.0
        self._bytes = utils.audio.AudioByteStream(
            SAMPLE_RATE, 1, samples_per_channel=SAMPLE_RATE // 20
        )
        self._session_id: Optional[str] = None
        self._events: Optional[SpeechEvents] = None
        self._stopping: Optional[asyncio.Task[None]] = None
        # Sound that was handed over, and of which use was told, seconds; and when the newest came.
        self._seconds = 0.0
        self._told_seconds = 0.0
        self._at = 0.0

    @property
    def session_id(self) -> Optional[str]:
        """The session of the service; None before it has begun."""
        return self._session_id

    def push_frame(self, frame: rtc.AudioFrame) -> None:
        super().push_frame(_mono(frame))

    async def _run(self) -> None:
        if not await self._has_audio():
            return
        await self._begin()
        assert self._session_id is not None
        try:
            if self._recordings.device_id is None:
                await self._stream_and_follow(self._session_id)
            else:
                await self._stream_as_device(self._session_id)
        except VoiceError as error:
            # The client has tried again as long as it may; in another session words would be missing.
            raise api_error(error, retryable=False) from error
        finally:
            self._tell_usage()
            await asyncio.shield(self._stop(self._session_id))

    async def _has_audio(self) -> bool:
        """Waits for the first frame: of a stream without sound there is no session."""
        while self._first is None:
            try:
                item = await self._input_ch.recv()
            except utils.aio.ChanClosed:
                return False
            if isinstance(item, rtc.AudioFrame):
                self._first = item
                self.start_time = time.time()
                self._offset = self.start_time_offset
        return True

    async def _begin(self) -> None:
        try:
            self._session_id, language = await self._recordings.begin(
                self._session,
                timeout=self._conn_options.timeout,
                idempotency_key=self._idempotency_key,
            )
        except VoiceError as error:
            raise api_error(error, retryable=True) from error
        self._events = SpeechEvents(
            self._session_id,
            language,
            interim=self._interim,
            offset=self._offset,
            wall_clock=self._wall_clock,
        )

    async def _stream_and_follow(self, session_id: str) -> None:
        following = asyncio.create_task(self._follow(session_id))
        streaming = asyncio.create_task(self._stream(session_id, self._source()))
        try:
            # Who may not follow learns it at once.
            tasks = {following, streaming}
            done, _ = await asyncio.wait(tasks, return_when=asyncio.FIRST_EXCEPTION)
            for task in done:
                task.result()
        finally:
            await utils.aio.gracefully_cancel(streaming, following)

    async def _stream(self, session_id: str, source: AsyncIterator[Union[bytes, Finalize]]) -> None:
        is_device = self._recordings.device_id is not None
        began = time.perf_counter()
        has_begun = False

        def on_begin(_session_id: str, _offset: int) -> None:
            nonlocal has_begun
            if not has_begun:
                self._report_connection_acquired(time.perf_counter() - began, False)
            has_begun = True

        await self._recordings.client.stream(
            session_id,
            source,
            {
                "encoding": "pcm_s16le",
                "sample_rate": SAMPLE_RATE,
                "channels": 1,
                "interim_results": self._interim,
                "transcript": is_device,
            },
            device_id=self._recordings.device_id,
            back_off=self._back_off,
            on_begin=on_begin,
            on_frame=self._hear if is_device else None,
            on_reconnect=self._tell_break,
        )
        if not is_device:
            # The recording ends with its last byte; then the rest of the words and the end follow.
            await asyncio.shield(self._stop(session_id))

    def _stop(self, session_id: str) -> asyncio.Task[None]:
        self._stopping = self._stopping or self._recordings.stop(session_id)
        return self._stopping

    async def _follow(self, session_id: str) -> None:
        follower = self._recordings.client.follow(
            session_id, cursor=Cursor(0), back_off=self._back_off, on_reconnect=self._tell_break
        )
        # Its connection is closed here, and not at some later time.
        async with aclosing(cast(AsyncGenerator[ServerFrame, None], aiter(follower))) as frames:
            async for frame in frames:
                self._hear(frame)
                if frame["type"] == "SessionEnded":
                    break
        if self._events is not None:
            self._send(self._events.finish())

    async def _stream_as_device(self, session_id: str) -> None:
        """A device gets its words on the stream itself, and only while that is open."""

        async def source() -> AsyncIterator[Union[bytes, Finalize]]:
            async for piece in self._source():
                yield piece
            yield FINALIZE
            until = time.monotonic() + _LAST_WORDS_SECONDS
            while self._final_to < self._seconds - _ROUNDING:
                if time.monotonic() > until:
                    logger.warning("the last words took too long", extra={"session_id": session_id})
                    break
                await asyncio.sleep(_LOOK_SECONDS)
                yield b""

        await self._stream(session_id, source())
        if self._events is not None:
            self._send(self._events.finish())

    async def _source(self) -> AsyncIterator[Union[bytes, Finalize]]:
        """What was pushed, as it comes; b"" lets the client listen while nothing does."""
        assert self._first is not None
        for piece in self._pieces(self._first):
            yield piece
        waiting: Optional[asyncio.Task[Any]] = None
        try:
            while True:
                waiting = waiting or asyncio.create_task(self._input_ch.recv())
                done, _ = await asyncio.wait({waiting}, timeout=_LOOK_SECONDS)
                self._look()
                if not done:
                    yield b""
                    continue
                try:
                    item = waiting.result()
                except utils.aio.ChanClosed:
                    break
                waiting = None
                for piece in self._pieces(item):
                    yield piece
        finally:
            if waiting is not None:
                waiting.cancel()

    def _pieces(
        self, item: Union[rtc.AudioFrame, stt.RecognizeStream._FlushSentinel]
    ) -> list[Union[bytes, Finalize]]:
        if not isinstance(item, rtc.AudioFrame):
            return [*(_bytes_of(frame) for frame in self._bytes.flush()), FINALIZE]
        self._seconds += item.duration
        self._at = time.time()
        if self._seconds - self._told_seconds >= _USAGE_SECONDS:
            self._tell_usage()
        return [_bytes_of(frame) for frame in self._bytes.write(bytes(item.data))]

    def _wall_clock(self, moment: float) -> Optional[float]:
        """When a moment of the audio, in seconds, was spoken."""
        return self._at - max(0.0, self._seconds - moment) if self._at > 0 else None

    @property
    def _final_to(self) -> float:
        return 0.0 if self._events is None else self._events.final_to

    def _hear(self, frame: Frame) -> None:
        if self._events is None:
            return
        if frame["type"] == "Error" and frame["code"] == "forbidden":
            # The recording would go on, but this device gets no words of it.
            raise APIStatusError(frame["message"], status_code=403, retryable=False)
        self._send(self._events.take(frame))
        self.context = self._events.speakers

    def _look(self) -> None:
        if self._events is not None:
            self._send(self._events.look())

    def _send(self, events: list[stt.SpeechEvent]) -> None:
        for event in events:
            self._event_ch.send_nowait(event)

    def _tell_usage(self) -> None:
        seconds, self._told_seconds = self._seconds - self._told_seconds, self._seconds
        if seconds <= 0:
            return
        usage = stt.RecognitionUsage(audio_duration=seconds)
        kind = stt.SpeechEventType.RECOGNITION_USAGE
        request_id = self._session_id or ""
        self._send([stt.SpeechEvent(type=kind, request_id=request_id, recognition_usage=usage)])

    def _tell_break(self, reason: str, wait: float) -> None:
        extra = {"session_id": self._session_id}
        logger.warning("the connection broke (%s); again in %.1f s", reason, wait, extra=extra)


def _bytes_of(frame: rtc.AudioFrame) -> bytes:
    return bytes(frame.data)


def _mono(frame: rtc.AudioFrame) -> rtc.AudioFrame:
    """LiveKit resamples one channel."""
    if frame.num_channels == 1:
        return frame
    import numpy as np

    samples = np.frombuffer(frame.data, dtype=np.int16).reshape(-1, frame.num_channels)
    mixed = samples.mean(axis=1).astype(np.int16)
    return rtc.AudioFrame(mixed.tobytes(), frame.sample_rate, 1, frame.samples_per_channel)
