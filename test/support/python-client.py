"""Does with the Python package what the JSON on standard input says, and tells of it in JSON."""
import asyncio
import inspect
import json
import sys

from voice_session_client import (
    FINALIZE,
    AsyncVoiceClient,
    BackOff,
    Cursor,
    VoiceClient,
    VoiceError,
    verify_webhook,
)


class Awaited:
    """The client without asyncio, called as the other one is."""

    def __init__(self, client):
        self._client = client

    def __getattr__(self, name):
        def call(*args, **options):
            result = getattr(self._client, name)(*args, **options)
            if name == "follow":
                return Follower(result)
            return each(result) if inspect.isgenerator(result) else given(result)

        return call


class Follower:
    def __init__(self, follower):
        self._follower = follower

    @property
    def cursor(self):
        return self._follower.cursor

    def __aiter__(self):
        return each(self._follower)


async def given(result):
    return result


async def each(items):
    for item in items:
        yield item


def told_of(error):
    names = ("code", "retryable", "status", "said", "request_id", "retry_after", "close_code")
    members = {name: getattr(error, name) for name in names if hasattr(error, name)}
    if hasattr(error, "unstored"):
        members.update(unstored=error.unstored.hex(), offset=error.offset)
    return {"error": type(error).__name__, "message": str(error), **members}


async def call(voice, order):
    """Any method; what it gives page by page is gathered."""
    result = getattr(voice, order["method"])(*order.get("args", []), **order.get("options", {}))
    if hasattr(result, "__aiter__"):
        return [item async for item in result]
    return await result


async def upload(voice, order):
    addresses, progress = [], []
    upload = await voice.upload(
        order["session"],
        order["file"],
        media_type="audio/mp4",
        more=order.get("more", False),
        address=order.get("address"),
        on_address=addresses.append,
        on_progress=lambda stored, size: progress.append(stored),
    )
    return {"status": upload["status"], "addresses": addresses, "progress": progress}


async def stream(voice, order):
    with open(order["file"], "rb") as file:
        sound = file.read()
    told = {"begins": [], "reconnects": [], "frames": []}
    size = order.get("piece", 10_007)

    def source():
        at = told["begins"][0] if order.get("resume") else 0
        while at < len(sound):
            yield sound[at : at + size]
            at += size
            if at in order.get("finalizes", []):
                yield FINALIZE
                yield FINALIZE

    told["stored"] = await voice.stream(
        order["session"],
        source(),
        order["configuration"],
        device_id=order.get("device"),
        resume=order.get("resume", False),
        back_off=BackOff(**order["back_off"]),
        on_begin=lambda session_id, offset: told["begins"].append(offset),
        on_frame=told["frames"].append,
        on_reconnect=lambda reason, wait: told["reconnects"].append(reason),
    )
    return told


async def follow(voice, order):
    cursor = order.get("cursor")
    reconnects = []
    follower = voice.follow(
        order["session"],
        cursor=None if cursor is None else Cursor(**cursor),
        back_off=BackOff(**order["back_off"]),
        on_reconnect=lambda reason, wait: reconnects.append(reason),
    )
    frames = []
    async for frame in follower:
        frames.append(frame)
        if frame["type"] == "SessionEnded" or frame.get("seq") == order.get("until"):
            break
    reached = follower.cursor
    return {"frames": frames, "cursor": vars(reached), "reconnects": reconnects}


async def verify(_voice, order):
    webhook_id, message = verify_webhook(
        order["body"], order["headers"], order["secret"], now=order["now"]
    )
    return {"webhook_id": webhook_id, "message": message}


DO = {"call": call, "upload": upload, "stream": stream, "follow": follow, "verify": verify}


async def main(orders):
    options = dict(orders["client"], back_off=BackOff(**orders["back_off"]))
    tokens = options.pop("tokens", None)
    if tokens is not None:
        options["token"] = lambda is_refused: tokens[1 if is_refused else 0]
    is_async = orders["kind"] == "async"
    client = AsyncVoiceClient(**options) if is_async else VoiceClient(**options)
    voice = client if is_async else Awaited(client)
    told = []
    for order in orders["do"]:
        try:
            told.append(await DO[order["do"]](voice, order))
        except VoiceError as error:
            told.append(told_of(error))
    print(json.dumps(told))


asyncio.run(main(json.load(sys.stdin)))
