"""A stranger's hour with the package: as stranger.mjs, with or without asyncio."""
import asyncio
import json
import os
import sys
import threading
import time
import uuid

from voice_session_client import (
    ApiError,
    AsyncVoiceClient,
    BackOff,
    Cursor,
    SignatureError,
    VoiceClient,
    verify_webhook,
)

PIECE = 16_000
PACE = 0.04
BACK_OFF = BackOff(attempts=20, first=0.02, longest=0.2)
OPTIONS = {"base_url": os.environ["BASE"], "api_key": os.environ["KEY"], "back_off": BACK_OFF}
QUESTION = "When did the team finish?"
seqs, reconnects = [], []


def tell(what, **more):
    print(json.dumps({"what": what, **more}), flush=True)


def told_of_file(session, completeness, answer):
    tell(
        "file",
        status=session["status"],
        complete=completeness["complete"],
        citations=len(answer["citations"]),
    )


def sound():
    with open(os.environ["PCM"], "rb") as file:
        while True:
            piece = file.read(PIECE)
            if not piece:
                return
            yield piece


def take(frame):
    if "at" in frame:
        seqs.append(frame["seq"])
    return frame["type"] == "SessionEnded"


STREAM = {
    "back_off": BACK_OFF,
    "on_reconnect": lambda reason, wait: reconnects.append(reason),
    "on_stored": lambda count: tell("stored", bytes=count),
}


def finish(stored, missing):
    tell("stream", bytes=stored, reconnects=len(reconnects), seqs=seqs)
    with open(os.environ["HOOK"]) as file:
        hook = json.load(file)
    _, message = verify_webhook(hook["body"], hook["headers"], hook["secret"])
    try:
        verify_webhook(hook["body"] + " ", hook["headers"], hook["secret"])
        refused = False
    except SignatureError:
        refused = True
    tell("end", hook=message["type"], refused=refused, missing=missing)


def run():
    with VoiceClient(**OPTIONS) as voice:
        file = voice.create_session(title="File")["id"]
        voice.upload(file, os.environ["WAV"], filename="talk.wav")
        session = voice.ended(file, every=0.1)
        told_of_file(session, voice.completeness(file), voice.ask(file, QUESTION))
        live = voice.create_session(title="Stream")["id"]
        tell("session", id=live)

        def follow():
            with VoiceClient(**OPTIONS) as reader:
                for frame in reader.follow(live, cursor=Cursor(0), back_off=BACK_OFF):
                    if take(frame):
                        return

        def paced():
            for piece in sound():
                yield piece
                time.sleep(PACE)

        following = threading.Thread(target=follow)
        following.start()
        stored = voice.stream(live, paced(), **STREAM)
        voice.stop_session(live)
        following.join()
        try:
            missing = voice.get_session(str(uuid.uuid4()))
        except ApiError as error:
            missing = error.code
        finish(stored, missing)


async def run_async():
    async with AsyncVoiceClient(**OPTIONS) as voice:
        file = (await voice.create_session(title="File"))["id"]
        await voice.upload(file, os.environ["WAV"], filename="talk.wav")
        session = await voice.ended(file, every=0.1)
        told_of_file(session, await voice.completeness(file), await voice.ask(file, QUESTION))
        live = (await voice.create_session(title="Stream"))["id"]
        tell("session", id=live)

        async def follow():
            async for frame in voice.follow(live, cursor=Cursor(0), back_off=BACK_OFF):
                if take(frame):
                    return

        async def paced():
            for piece in sound():
                yield piece
                await asyncio.sleep(PACE)

        async def speak():
            stored = await voice.stream(live, paced(), **STREAM)
            await voice.stop_session(live)
            return stored

        stored, _ = await asyncio.gather(speak(), follow())
        try:
            missing = await voice.get_session(str(uuid.uuid4()))
        except ApiError as error:
            missing = error.code
        finish(stored, missing)


if sys.argv[1] == "async":
    asyncio.run(run_async())
else:
    run()
