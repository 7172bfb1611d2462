# Made from the module of the same name in _async by `npm run client:python`.
"""Audio as it comes."""
from __future__ import annotations

from typing import Any, Callable, Dict, Optional, cast

from ..back_off import BackOff
from ..errors import AccessEnded, ApiError, ChannelError, VoiceError
from ..finalize import Finalize
from ..kept_audio import KeptAudio
from ..types import StreamConfiguration, StreamServerFrame
from .api import Api
from .runtime import Socket, Source, pieces, sleep
from .sockets import (
    AUTH,
    DONE,
    FORBIDDEN,
    PROTOCOL,
    SILENCE_SECONDS,
    SUPERSEDED,
    TOO_LARGE,
    UNKNOWN_SESSION,
    Closed,
    next_frames,
    open_socket,
    send_frame,
)

# Most bytes that are sent without an acknowledgement; the source waits meanwhile.
_MOST_AHEAD = 512 * 1024
_ENDED = (AUTH, FORBIDDEN)
_FINAL = (DONE, TOO_LARGE, PROTOCOL, UNKNOWN_SESSION, SUPERSEDED)
_CODE_OF_STATUS = {401: AUTH, 403: FORBIDDEN, 404: UNKNOWN_SESSION}


class AudioStream:
    """Sends what a source gives. Keeps every byte until it is acknowledged, and after a broken
    connection sends again from the offset that the service names."""

    def __init__(
        self,
        api: Api,
        path: str,
        configuration: StreamConfiguration,
        resume: bool,
        back_off: BackOff,
        on_begin: Optional[Callable[[str, int], None]],
        on_stored: Optional[Callable[[int], None]],
        on_frame: Optional[Callable[[StreamServerFrame], None]],
        on_reconnect: Optional[Callable[[str, float], None]],
    ) -> None:
        self._api = api
        self._path = path
        self._configuration = configuration
        self._resume = resume
        self._back_off = back_off
        self._on_begin = on_begin
        self._on_stored = on_stored
        self._on_frame = on_frame
        self._on_reconnect = on_reconnect
        # Packets of Opus go as they are handed over; of samples any cut will do.
        self._kept = KeptAudio(configuration["encoding"] != "opus")
        self._socket: Optional[Socket] = None
        self._session_id: Optional[str] = None
        self._seq: Optional[int] = None
        self._chunk_sequence = 0
        self._has_begun = False
        self._is_closing = False
        # Where the newest Finalize stands, whether the service is still to hear of it, and whether
        # it has heard and not answered: after a break it hears of that again.
        self._finalized = 0
        self._must_finalize = False
        self._awaits_end = False
        self._fruitless = 0
        self._refusal = ""

    def run(self, source: Source) -> int:
        """Returns the number of bytes of the stream when all of it is stored."""
        try:
            if self._resume:
                # The source may have to be wound to the byte that `on_begin` names.
                self._until(lambda: self._has_begun)
            for piece in pieces(source):
                if isinstance(piece, Finalize):
                    self._finalize()
                else:
                    self._kept.push(piece)
                self._until(lambda: self._kept.next is None and not self._must_finalize)
            self._finish()
            return self._kept.end
        finally:
            self._drop()

    def _finalize(self) -> None:
        # Where nothing came since the last one, no utterance is in hand.
        self._must_finalize = self._must_finalize or self._kept.end > self._finalized
        self._finalized = self._kept.end

    def _until(self, is_reached: Callable[[], bool]) -> None:
        """Sends and listens until then, over as many connections as that takes."""
        while True:
            try:
                self._go_on()
                if is_reached():
                    return
                self._listen(SILENCE_SECONDS)
            except (Closed, VoiceError) as error:
                self._broken(error)

    def _finish(self) -> None:
        while True:
            try:
                self._go_on()
                if self._kept.next is None and not self._is_closing:
                    self._is_closing = True
                    self._tell({"type": "CloseStream"})
                self._listen(SILENCE_SECONDS)
            except Closed as error:
                if error.code == DONE and self._is_closing and self._kept.size == 0:
                    return
                self._broken(error)
            except VoiceError as error:
                self._broken(error)

    def _go_on(self) -> None:
        """Connects where there is no connection; sends what may be sent; hears what has come."""
        if self._socket is None:
            self._has_begun = self._is_closing = False
            self._must_finalize = self._must_finalize or self._awaits_end
            self._refusal = ""
            self._socket = open_socket(self._api, self._path)
            goes_on: Dict[str, Any] = {}
            if self._session_id is not None:
                goes_on["session_id"] = self._session_id
            if self._seq is not None and self._configuration.get("transcript"):
                goes_on["from_seq"] = self._seq
            self._tell({"type": "Configure", **self._configuration, **goes_on})
            while not self._has_begun:
                self._listen(SILENCE_SECONDS)
        while self._kept.ahead <= _MOST_AHEAD:
            part = self._kept.next
            if part is None or not send_frame(self._socket, part):
                break
            self._kept.sent()
        if self._must_finalize and self._kept.next is None:
            self._tell({"type": "Finalize"})
            self._must_finalize, self._awaits_end = False, True
        self._hear_all(0)

    def _listen(self, seconds: float) -> None:
        if not self._hear_all(seconds):
            raise Closed(1006, "it fell silent")

    def _hear_all(self, seconds: float) -> bool:
        """Hears what comes within so many seconds, and what is there besides; False for nothing."""
        assert self._socket is not None
        frames = next_frames(self._socket, seconds)
        has_come = frames is not None
        while frames is not None:
            for frame in frames:
                self._hear(frame)
            frames = next_frames(self._socket, 0)
        return has_come

    def _hear(self, frame: Dict[str, Any]) -> None:
        kind = frame["type"]
        if kind in ("Begin", "AudioAck"):
            self._chunk_sequence = frame["chunk_sequence"]
            if kind == "Begin":
                self._begin(frame["session_id"], frame["audio_offset_bytes"])
            elif self._kept.forget(frame["audio_offset_bytes"]):
                self._stored(frame["audio_offset_bytes"])
            return
        if kind == "Error":
            self._refusal = frame["message"]
        if kind == "UtteranceEnd":
            self._awaits_end = False
        if "at" in frame:
            if self._seq is not None and frame["seq"] <= self._seq:
                return
            self._seq = frame["seq"]
        if self._on_frame is not None:
            self._on_frame(cast(StreamServerFrame, frame))

    def _begin(self, session_id: str, offset: int) -> None:
        if self._session_id is None and self._resume:
            self._kept.move_to(offset)
        start, end = self._kept.start, self._kept.end
        if not start <= offset <= end:
            said = f"The service wants audio from byte {offset}; only {start} to {end} are kept."
            raise ChannelError("audio_lost", said)
        is_news = offset > start
        self._session_id = session_id
        self._kept.send_from(offset)
        self._has_begun = True
        if self._on_begin is not None:
            self._on_begin(session_id, offset)
        if is_news:
            self._stored(offset)

    def _stored(self, offset: int) -> None:
        self._fruitless = 0
        if self._on_stored is not None:
            self._on_stored(offset)

    def _broken(self, error: Exception) -> None:
        """Waits for the next attempt; raises what is for good."""
        self._drop()
        if isinstance(error, Closed):
            code, reason = error.code, self._refusal or str(error)
        elif isinstance(error, ApiError):
            code = _CODE_OF_STATUS.get(error.status, 0 if error.retryable else PROTOCOL)
            reason = f"{error.said} (HTTP {error.status})"
        elif isinstance(error, VoiceError) and error.retryable:
            code, reason = 0, str(error)
        else:
            raise error
        if code in _ENDED:
            kept = self._kept
            raise AccessEnded(reason, code, kept.all(), kept.start, self._chunk_sequence)
        self._fruitless += 1
        is_given_up = self._fruitless >= self._back_off.attempts
        if code in _FINAL or is_given_up:
            said = f"The stream was refused: {reason}"
            raise ChannelError("closed", said, code not in _FINAL, code)
        wait = self._back_off.wait(self._fruitless)
        if self._on_reconnect is not None:
            self._on_reconnect(reason, wait)
        sleep(wait)

    def _tell(self, frame: Dict[str, Any]) -> None:
        if self._socket is not None:
            send_frame(self._socket, frame)

    def _drop(self) -> None:
        socket, self._socket = self._socket, None
        if socket is not None:
            socket.close()
