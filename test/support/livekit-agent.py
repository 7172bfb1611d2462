"""Drives the plugin with LiveKit's own package: an order comes as a line of JSON on stdin, what
happened goes out as lines of JSON."""
import asyncio
import json
import sys
import time

from livekit import rtc
from livekit.agents import (
    Agent,
    AgentSession,
    APIConnectOptions,
    APIError,
    APIStatusError,
    APITimeoutError,
    stt,
)
from livekit.agents.voice import io
from livekit.plugins import voice_session
from voice_session_client import BackOff

FRAME_SECONDS = 0.05


def tell(what, **more):
    print(json.dumps({"what": what, **more}), flush=True)


def tell_error(error):
    tell(
        "error",
        kind=type(error).__name__,
        status=getattr(error, "status_code", None),
        retryable=error.retryable,
        message=str(error),
        late=isinstance(error, APITimeoutError),
        refused=isinstance(error, APIStatusError),
    )


def told_of(event):
    speech = event.alternatives[0] if event.alternatives else None
    told = {"type": event.type.value, "request": event.request_id}
    for name in ("speech_start_time", "speech_end_time"):
        moment = getattr(event, name)
        if moment is not None:
            told[name] = moment - time.time()
    if event.recognition_usage is not None:
        told["seconds"] = event.recognition_usage.audio_duration
    if speech is not None:
        told.update(
            text=speech.text,
            language=str(speech.language),
            start=speech.start_time,
            end=speech.end_time,
            confidence=speech.confidence,
            speaker=speech.speaker_id,
            names=speech.metadata,
            words=[(str(each), each.start_time, each.end_time) for each in speech.words or []],
        )
    return told


def frames_of(order):
    rate, channels = order.get("rate", 16_000), order.get("channels", 1)
    with open(order["file"], "rb") as file:
        sound = file.read()
    size = int(rate * FRAME_SECONDS) * 2 * channels
    for at in range(0, len(sound) - size + 1, size):
        samples = size // 2 // channels
        yield rtc.AudioFrame(sound[at : at + size], rate, channels, samples)


async def push(stream, order):
    for number, frame in enumerate(frames_of(order)):
        stream.push_frame(frame)
        if number in order.get("flushes", []):
            stream.flush()
            tell("flushed", at=number * FRAME_SECONDS)
            await asyncio.sleep(order.get("pause", 0))
        await asyncio.sleep(order["pace"])
    tell("pushed")
    if order.get("end", True):
        stream.end_input()


async def stream_order(speech, order):
    retry = APIConnectOptions(**order.get("connect", {}))
    stream = speech.stream(conn_options=retry)
    stream_seen = asyncio.Event()

    async def hear():
        async for event in stream:
            tell("event", session=stream.session_id, **told_of(event))
            if event.type == stt.SpeechEventType.FINAL_TRANSCRIPT:
                stream_seen.set()

    hearing = asyncio.create_task(hear())
    pushing = asyncio.create_task(push(stream, order))
    close = order.get("close")
    try:
        if close == "first words":
            await stream_seen.wait()
        elif close == "first sound":
            await asyncio.sleep(0)
        elif close == "word":
            await asyncio.to_thread(sys.stdin.readline)
        else:
            await hearing
            names = stream.context.names if stream.context else {}
            tell("names", names=names)
    finally:
        pushing.cancel()
        started = time.monotonic()
        await stream.aclose()
        tell("closed", session=stream.session_id, seconds=time.monotonic() - started)
        hearing.cancel()
        await asyncio.gather(pushing, hearing, return_exceptions=True)


async def recognize_order(speech, order):
    frames = list(frames_of(order))
    event = await speech.recognize(frames, conn_options=APIConnectOptions(max_retry=0))
    tell("event", **told_of(event))


class Microphone(io.AudioInput):
    def __init__(self, order):
        super().__init__(label="microphone")
        self._frames = self._paced(order)

    async def _paced(self, order):
        for frame in frames_of(order):
            yield frame
            await asyncio.sleep(order["pace"])
        while True:
            yield rtc.AudioFrame.create(16_000, 1, 800)
            await asyncio.sleep(order["pace"])

    async def __anext__(self):
        return await self._frames.__anext__()


async def agent_order(speech, order):
    """An agent that has ears and nothing else, and no room."""
    heard = asyncio.Event()

    class Listener(Agent):
        async def on_user_turn_completed(self, _context, new_message):
            tell("turn", text=new_message.text_content)
            heard.set()

    session = AgentSession(stt=speech, vad=None, turn_handling={"turn_detection": "stt"})

    @session.on("user_input_transcribed")
    def transcribed(event):
        tell("transcribed", text=event.transcript, final=event.is_final, speaker=event.speaker_id)

    @session.on("user_state_changed")
    def state(event):
        tell("state", state=event.new_state)

    session.input.audio = Microphone(order)
    await session.start(agent=Listener(instructions="You listen."))
    try:
        await asyncio.wait_for(heard.wait(), 60)
    finally:
        await session.aclose()
        tell("closed")


DO = {"stream": stream_order, "recognize": recognize_order, "agent": agent_order}


async def main(order):
    options = dict(order["stt"])
    if "reconnect" in options:
        options["reconnect"] = BackOff(**options["reconnect"])
    async with voice_session.STT(**options) as speech:
        speech.on("metrics_collected", lambda each: tell("usage", seconds=each.audio_duration))
        try:
            await DO[order["do"]](speech, order)
        except APIError as error:
            tell_error(error)
    tell("end", tasks=[str(each.get_coro()) for each in asyncio.all_tasks() - {asyncio.current_task()}])


asyncio.run(main(json.loads(sys.stdin.readline())))
