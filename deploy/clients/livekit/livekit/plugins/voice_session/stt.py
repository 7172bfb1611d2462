"""Speech to text by the voice session service."""

from __future__ import annotations

import asyncio
import dataclasses
import os
import uuid
import weakref
from collections.abc import Sequence
from typing import Any, Optional

from livekit import rtc
from livekit.agents import (
    DEFAULT_API_CONNECT_OPTIONS,
    NOT_GIVEN,
    APIConnectOptions,
    APIError,
    APITimeoutError,
    LanguageCode,
    NotGivenOr,
    stt,
)
from livekit.agents.types import TimedString
from livekit.agents.utils import AudioBuffer, is_given
from livekit.agents.utils.audio import calculate_audio_duration
from voice_session_client import BackOff, VoiceError
from voice_session_client.back_off import RECONNECT
from voice_session_client.types import Segment

from .errors import api_error
from .recording import Recordings
from .speech import known_speaker
from .stream import SpeechStream

# Longest time until a whole buffer is read, seconds, besides its length.
_READ_SECONDS = 60.0
_LOOK_SECONDS = 0.2
# From 1.8.9 on LiveKit asks for the final words by `flush` itself, where it may.
_HAS_FLUSH = "manual_flush" in {each.name for each in dataclasses.fields(stt.STTCapabilities)}
_MANUAL_FLUSH: dict[str, Any] = {"manual_flush": True} if _HAS_FLUSH else {}


class STT(stt.STT[Any]):
    """Each stream is a session of the service, which keeps its sound and its words.

    `base_url` and `api_key` are taken from VOICE_SESSION_URL and VOICE_SESSION_API_KEY unless given.
    The key is that of a program, with `sessions:write` and `sessions:read`, or with `device_id` that
    of this device, whose owner lets it read (`may_read`). `session` has further members of the new
    sessions, such as `external_id` or `tags`. `reconnect` says how often and how fast a stream whose
    connection broke is gone on with; it is not repeated by LiveKit's retries besides.
    """

    def __init__(
        self,
        *,
        base_url: NotGivenOr[str] = NOT_GIVEN,
        api_key: NotGivenOr[str] = NOT_GIVEN,
        device_id: Optional[str] = None,
        language: NotGivenOr[str] = NOT_GIVEN,
        engine: NotGivenOr[str] = NOT_GIVEN,
        vocabulary: Sequence[str] = (),
        title: NotGivenOr[str] = NOT_GIVEN,
        interim_results: bool = True,
        session: Optional[dict[str, Any]] = None,
        reconnect: BackOff = RECONNECT,
    ) -> None:
        """Raises ValueError when no address or no key is known."""
        super().__init__(
            capabilities=stt.STTCapabilities(
                streaming=True,
                interim_results=interim_results,
                diarization=True,
                aligned_transcript="word",
                # A device's sound comes on its stream.
                offline_recognize=device_id is None,
                **_MANUAL_FLUSH,
            )
        )
        address = base_url if is_given(base_url) else os.environ.get("VOICE_SESSION_URL")
        key = api_key if is_given(api_key) else os.environ.get("VOICE_SESSION_API_KEY")
        if not address or not key:
            raise ValueError(
                "base_url and api_key are needed, or VOICE_SESSION_URL and VOICE_SESSION_API_KEY"
            )
        self._recordings = Recordings(address, key, device_id)
        self._engine = engine if is_given(engine) else None
        self._interim_results = interim_results
        self._reconnect = reconnect
        members: dict[str, Any] = {
            "language": language if is_given(language) else None,
            "engine": self._engine,
            "vocabulary": list(vocabulary) or None,
            "title": title if is_given(title) else None,
        }
        self._session = {
            **(session or {}),
            **{name: value for name, value in members.items() if value is not None},
        }
        self._streams: weakref.WeakSet[SpeechStream] = weakref.WeakSet()

    @property
    def model(self) -> str:
        return self._engine or "unknown"

    @property
    def provider(self) -> str:
        return "voice-session"

    def stream(
        self,
        *,
        language: NotGivenOr[str] = NOT_GIVEN,
        conn_options: APIConnectOptions = DEFAULT_API_CONNECT_OPTIONS,
    ) -> SpeechStream:
        stream = SpeechStream(
            stt=self,
            conn_options=conn_options,
            session=self._session_in(language),
            interim_results=self._interim_results,
            reconnect=self._reconnect,
        )
        self._streams.add(stream)
        return stream

    async def aclose(self) -> None:
        """Closes all streams, stops their sessions, and lets the connections go."""
        await asyncio.gather(*(stream.aclose() for stream in list(self._streams)))
        await self._recordings.aclose()

    def _session_in(self, language: NotGivenOr[str]) -> dict[str, Any]:
        return {**self._session, **({"language": str(language)} if is_given(language) else {})}

    async def _recognize_impl(
        self,
        buffer: AudioBuffer,
        *,
        language: NotGivenOr[str] = NOT_GIVEN,
        conn_options: APIConnectOptions,
    ) -> stt.SpeechEvent:
        if self._recordings.device_id is not None:
            raise APIError("a device streams: use stream()", retryable=False)
        try:
            session_id, spoken = await self._recordings.begin(
                self._session_in(language),
                timeout=conn_options.timeout,
                idempotency_key=str(uuid.uuid4()),
            )
        except VoiceError as error:
            raise api_error(error, retryable=True) from error
        limit = _READ_SECONDS + calculate_audio_duration(buffer)
        try:
            segments = await asyncio.wait_for(self._read(session_id, buffer), limit)
        except asyncio.TimeoutError as error:
            raise APITimeoutError(
                f"session {session_id} was not read in {limit:.0f} s", retryable=False
            ) from error
        except VoiceError as error:
            raise api_error(error, retryable=False) from error
        except BaseException:
            # Nobody waits for it any more.
            await asyncio.shield(self._recordings.stop(session_id))
            raise
        return stt.SpeechEvent(
            type=stt.SpeechEventType.FINAL_TRANSCRIPT,
            request_id=session_id,
            alternatives=[_whole(segments, spoken)],
        )

    async def _read(self, session_id: str, buffer: AudioBuffer) -> list[Segment]:
        client = self._recordings.client
        wav = rtc.combine_audio_frames(buffer).to_wav_bytes()
        await client.upload(session_id, wav, filename="speech.wav", media_type="audio/wav")
        session = await client.ended(session_id, every=_LOOK_SECONDS)
        if session["status"] != "completed":
            reason = session.get("reason", session["status"])
            raise APIError(f"session {session_id} could not be read: {reason}", retryable=False)
        return [segment async for segment in client.segments(session_id, words=True)]


def _whole(segments: list[Segment], language: str) -> stt.SpeechData:
    """All that was said as one text; it has a speaker if there was only one."""
    speakers = {known_speaker(segment.get("speaker_label")) for segment in segments}
    told = [each["confidence"] for each in segments if "confidence" in each]
    words = [word for segment in segments for word in _words(segment)]
    return stt.SpeechData(
        language=LanguageCode(language),
        text=" ".join(segment["text"] for segment in segments),
        start_time=segments[0]["start_ms"] / 1_000 if segments else 0.0,
        end_time=max((segment["end_ms"] for segment in segments), default=0) / 1_000,
        confidence=sum(told) / len(told) if told else 0.0,
        speaker_id=speakers.pop() if len(speakers) == 1 else None,
        words=words or None,
    )


def _words(segment: Segment) -> list[TimedString]:
    speaker = known_speaker(segment.get("speaker_label"))
    return [
        TimedString(
            word["word"],
            start_time=word["start_ms"] / 1_000,
            end_time=word["end_ms"] / 1_000,
            confidence=word["confidence"],
            speaker_id=speaker,
        )
        for word in segment.get("words", [])
    ]
