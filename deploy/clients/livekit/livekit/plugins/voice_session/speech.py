"""Frames of the live channel as LiveKit's speech events."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from typing import Any, Optional

from pydantic import BaseModel

from livekit.agents import LanguageCode, stt
from livekit.agents.types import TimedString

# The service's label of a voice that it does not know, or not yet.
_UNKNOWN = "UU"
# The end of an utterance may be told before its words are on record. So long they are waited for,
# seconds, where a hypothesis said that there are some and where it may have been a noise.
_WORDS_SECONDS = 10.0
_NOISE_SECONDS = 2.0
# An utterance ends so far behind its last word at most, seconds.
_PAUSE_SECONDS = 1.5
_ROUNDING = 0.1

Frame = Mapping[str, Any]


class Speakers(BaseModel):
    """Names of the speakers, by label, as far as the service knows them; `stream.context`. People
    choose them: they are not to be read as instructions by a language model."""

    names: dict[str, str] = {}


class SpeechEvents:
    """Makes the events of one session. The service may tell the end of an utterance before its
    words are final: END_OF_SPEECH comes behind those words."""

    def __init__(
        self,
        session_id: str,
        language: str,
        *,
        interim: bool,
        offset: float,
        wall_clock: Callable[[float], Optional[float]],
    ) -> None:
        """`offset` is added to all times, seconds; `wall_clock` tells when a moment of the audio
        came."""
        self.speakers = Speakers()
        # Everything before it is told for good, seconds.
        self.final_to = 0.0
        self._session_id = session_id
        self._language = LanguageCode(language)
        self._interim = interim
        self._offset = offset
        self._wall_clock = wall_clock
        self._is_speaking = False
        # Whether there were words of this utterance, for good or not.
        self._has_words = False
        self._has_hypothesis = False
        # End of an utterance whose words are not final yet, and since when it is known.
        self._end: Optional[float] = None
        self._end_since = 0.0
        self._said: Optional[tuple[str, str, Optional[str]]] = None
        # Who somebody says to be counts for more than what others call them.
        self._free_names: dict[str, str] = {}
        self._claimed_names: dict[str, str] = {}

    def take(self, frame: Frame) -> list[stt.SpeechEvent]:
        kind = frame["type"]
        if kind == "SpeechStarted":
            return self._started(frame["start"])
        if kind == "Results":
            return self._words(frame)
        if kind == "UtteranceEnd":
            return self._ended(frame["end"])
        if kind in ("SpeakerNamed", "SpeakerClaimed"):
            self._named(frame)
        return []

    def look(self) -> list[stt.SpeechEvent]:
        """What depends on time alone: the end of sound in which there were no words."""
        longest = _WORDS_SECONDS if self._has_hypothesis else _NOISE_SECONDS
        if self._end is None or time.monotonic() - self._end_since < longest:
            return []
        return self._end_speech(self._end)

    def finish(self) -> list[stt.SpeechEvent]:
        """Nothing more comes."""
        return self._end_speech(self._end) if self._is_speaking else []

    def _started(self, start: float) -> list[stt.SpeechEvent]:
        # Of an utterance before whose end was not told, or whose words are still to come.
        before = self._end_speech(self._end) if self._is_speaking and self._has_words else []
        return before + self._start_speech(start)

    def _words(self, frame: Frame) -> list[stt.SpeechEvent]:
        is_final = frame["is_final"]
        if not frame["transcript"] or not (is_final or self._is_news(frame)):
            return []
        start, end = frame["start"], frame["start"] + frame["duration"]
        if not is_final and self._end is not None and start > self._end - _ROUNDING:
            # Of the next utterance already; more of it follows.
            return []
        is_late = is_final and not self._is_speaking and end <= self.final_to
        is_next = not is_final and self._has_words
        events = self._end_speech(None) if self._is_speaking and is_next else []
        events += self._start_speech(start)
        self._has_hypothesis = True
        final, interim = stt.SpeechEventType.FINAL_TRANSCRIPT, stt.SpeechEventType.INTERIM_TRANSCRIPT
        events.append(
            stt.SpeechEvent(
                type=final if is_final else interim,
                request_id=self._session_id,
                alternatives=[self._speech(frame)],
                speech_end_time=self._wall_clock(end) if is_final else None,
            )
        )
        if is_final:
            self._has_words = True
            if is_late:
                return events + self._end_speech(end)
            if self._end is not None and end >= self._end - _PAUSE_SECONDS:
                return events + self._end_speech(self._end)
        return events

    def _is_news(self, interim: Frame) -> bool:
        """False for a hypothesis that says what the one before said."""
        said = (interim["segment_id"], interim["transcript"], interim.get("speaker"))
        before, self._said = self._said, said
        return self._interim and said != before

    def _ended(self, end: float) -> list[stt.SpeechEvent]:
        self.final_to = max(self.final_to, end)
        if not self._is_speaking:
            return []
        if self._has_words:
            return self._end_speech(end)
        self._end, self._end_since = end, time.monotonic()
        return []

    def _start_speech(self, start: float) -> list[stt.SpeechEvent]:
        if self._is_speaking:
            return []
        self._is_speaking, self._end = True, None
        self._has_words = self._has_hypothesis = False
        return [
            stt.SpeechEvent(
                type=stt.SpeechEventType.START_OF_SPEECH,
                request_id=self._session_id,
                speech_start_time=self._wall_clock(start),
            )
        ]

    def _end_speech(self, end: Optional[float]) -> list[stt.SpeechEvent]:
        self._is_speaking, self._end = False, None
        return [
            stt.SpeechEvent(
                type=stt.SpeechEventType.END_OF_SPEECH,
                request_id=self._session_id,
                speech_end_time=None if end is None else self._wall_clock(end),
            )
        ]

    def _speech(self, frame: Frame) -> stt.SpeechData:
        speaker = known_speaker(frame.get("speaker"))
        name = self.speakers.names.get(speaker or "")
        return stt.SpeechData(
            language=self._language,
            text=frame["transcript"],
            start_time=frame["start"] + self._offset,
            end_time=frame["start"] + frame["duration"] + self._offset,
            confidence=frame["confidence"],
            speaker_id=speaker,
            words=[self._word(word) for word in frame["words"]],
            metadata=None if name is None else {"speaker_name": name},
        )

    def _word(self, word: Frame) -> TimedString:
        return TimedString(
            word["word"],
            start_time=word["start"] + self._offset,
            end_time=word["end"] + self._offset,
            confidence=word["confidence"],
            start_time_offset=self._offset,
            speaker_id=known_speaker(word.get("speaker")),
        )

    def _named(self, frame: Frame) -> None:
        is_claim = frame["type"] == "SpeakerClaimed"
        names = self._claimed_names if is_claim else self._free_names
        name = frame.get("display_name") if is_claim else frame.get("free_name")
        names.pop(frame["speaker_label"], None)
        if name and not frame.get("revoked"):
            names[frame["speaker_label"]] = name
        self.speakers = Speakers(names={**self._free_names, **self._claimed_names})


def known_speaker(label: Optional[str]) -> Optional[str]:
    """None while it is not known who speaks."""
    return None if label in (None, _UNKNOWN) else label
