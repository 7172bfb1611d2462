#!/usr/bin/env python3
"""A device and a viewer of the voice session service, in Python 3.9 or newer and nothing else.

    export VOICE_URL=http://127.0.0.1:8080
    VOICE_KEY=...   python3 voice_client.py device --device ID recording.wav
    VOICE_TOKEN=... python3 voice_client.py view --session ID

Both survive a connection that breaks: they connect again, later each time, and go on where they were.
"""

import argparse
import base64
import hashlib
import json
import os
import random
import select
import socket
import ssl
import struct
import sys
import time
import urllib.error
import urllib.request
import wave
from urllib.parse import urlsplit

CONNECT_SECONDS = 10
# The service is heard of every few seconds; after so long without a byte the connection is dead.
SILENCE_SECONDS = 75
FIRST_WAIT, LONGEST_WAIT, MOST_TRIES = 0.5, 30.0, 20
# Not acknowledged yet: kept to be sent again, and most that is sent ahead.
WINDOW_BYTES = 256 * 1024
PIECE_BYTES = 3200
MOST_MESSAGE_BYTES = 16 * 1024 * 1024
# Close codes after which the same would happen again.
FINAL_CODES = {4400, 4401, 4403, 4404, 4409}


class Refused(Exception):
    """The service said no, and will again."""


class Broken(Exception):
    """The connection broke, or was not made; it is worth another try."""


class WebSocket:
    """The client's side of RFC 6455: text and binary messages, pings, closing."""

    def __init__(self, url, headers):
        parts = urlsplit(url)
        secure = parts.scheme == "wss"
        port = parts.port or (443 if secure else 80)
        self._buffer = b""
        self._fragments = b""
        try:
            self._socket = socket.create_connection((parts.hostname, port), CONNECT_SECONDS)
            if secure:
                context = ssl.create_default_context()
                self._socket = context.wrap_socket(self._socket, server_hostname=parts.hostname)
            self._handshake(parts, port, headers)
        except (OSError, ssl.SSLError) as error:
            self.drop()
            raise Broken(f"no connection to {parts.hostname}:{port}: {error}") from error
        except (Broken, Refused):
            self.drop()
            raise

    def _handshake(self, parts, port, headers):
        key = base64.b64encode(os.urandom(16)).decode()
        path = parts.path + ("?" + parts.query if parts.query else "")
        lines = [f"GET {path} HTTP/1.1", f"Host: {parts.hostname}:{port}", "Upgrade: websocket",
                 "Connection: Upgrade", f"Sec-WebSocket-Key: {key}", "Sec-WebSocket-Version: 13"]
        lines += [f"{name}: {value}" for name, value in headers.items()]
        self._socket.sendall("\r\n".join(lines).encode() + b"\r\n\r\n")
        while b"\r\n\r\n" not in self._buffer:
            if len(self._buffer) > 65536:
                raise Refused("the answer is no WebSocket's")
            self._fill(CONNECT_SECONDS)
        head, self._buffer = self._buffer.split(b"\r\n\r\n", 1)
        status = int(head.split(b" ", 2)[1])
        if status != 101:
            self._refuse(status, head)
        guid = key + "258EAFA5-E914-47DA-95CA-C5AB0DC85B11"
        accepted = base64.b64encode(hashlib.sha1(guid.encode()).digest()).decode()
        if f"sec-websocket-accept: {accepted.lower()}" not in head.decode("latin1").lower():
            raise Refused("the answer is no WebSocket's")

    def _refuse(self, status, head):
        try:
            # The body says why, if it comes at all.
            self._fill(1)
            message = json.loads(self._buffer)["message"]
        except (Broken, ValueError, KeyError, TypeError):
            message = head.split(b"\r\n")[0].decode("latin1")
        if status < 500 and status not in (408, 429):
            raise Refused(f"{status}: {message}")
        raise Broken(f"{status}: {message}")

    def _fill(self, seconds):
        ready, _, _ = select.select([self._socket], [], [], seconds) if not self._pending() else ([1], 0, 0)
        if not ready:
            raise Broken(f"nothing came for {seconds:g} s")
        try:
            data = self._socket.recv(65536)
        except OSError as error:
            raise Broken(str(error)) from error
        if not data:
            raise Broken("the connection was lost")
        self._buffer += data

    def _pending(self):
        return isinstance(self._socket, ssl.SSLSocket) and self._socket.pending() > 0

    def has_message(self, seconds):
        """True when something can be read within so many seconds."""
        return bool(self._buffer or self._pending() or select.select([self._socket], [], [], seconds)[0])

    def _take(self, count):
        while len(self._buffer) < count:
            self._fill(SILENCE_SECONDS)
        taken, self._buffer = self._buffer[:count], self._buffer[count:]
        return taken

    def receive(self):
        """The next JSON message; None after a frame that was none. Raises Broken or Refused at the end."""
        first, second = self._take(2)
        length = second & 0x7F
        if length == 126:
            (length,) = struct.unpack("!H", self._take(2))
        elif length == 127:
            (length,) = struct.unpack("!Q", self._take(8))
        if length + len(self._fragments) > MOST_MESSAGE_BYTES:
            raise Broken("a message is too large")
        payload = self._take(length)
        opcode = first & 0x0F
        if opcode == 8:
            self._closed(payload)
        if opcode == 9:
            self._send(10, payload)
        if opcode > 2:
            return None
        self._fragments += payload
        if not first & 0x80:
            return None
        message, self._fragments = self._fragments, b""
        return json.loads(message)

    def _closed(self, payload):
        code = struct.unpack("!H", payload[:2])[0] if len(payload) >= 2 else 1005
        reason = payload[2:].decode("utf-8", "replace")
        if code == 1000:
            raise Done(reason)
        raise (Refused if code in FINAL_CODES else Broken)(f"closed with {code}: {reason}")

    def send_json(self, message):
        self._send(1, json.dumps(message).encode())

    def send_bytes(self, payload):
        self._send(2, payload)

    def _send(self, opcode, payload):
        mask = os.urandom(4)
        size = len(payload)
        if size < 126:
            head = struct.pack("!BB", 0x80 | opcode, 0x80 | size)
        elif size < 65536:
            head = struct.pack("!BBH", 0x80 | opcode, 0x80 | 126, size)
        else:
            head = struct.pack("!BBQ", 0x80 | opcode, 0x80 | 127, size)
        pad = (mask * (size // 4 + 1))[:size]
        masked = (int.from_bytes(payload, "big") ^ int.from_bytes(pad, "big")).to_bytes(size, "big")
        try:
            self._socket.sendall(head + mask + masked)
        except OSError as error:
            raise Broken(str(error)) from error

    def drop(self):
        if getattr(self, "_socket", None) is not None:
            self._socket.close()


class Done(Exception):
    """The service closed with 1000: all is said."""


def persistently(attempt):
    """Runs `attempt(note_success)` until it returns; waits longer after each failure in a row."""
    tries = 0

    def works():
        nonlocal tries
        tries = 0

    while True:
        try:
            return attempt(works)
        except Broken as error:
            tries += 1
            if tries >= MOST_TRIES:
                raise Refused(f"gave up after {tries} tries: {error}") from error
            wait = min(LONGEST_WAIT, FIRST_WAIT * 2 ** (tries - 1)) * random.uniform(0.5, 1)
            print(f"{error}; trying again in {wait:.1f} s", file=sys.stderr, flush=True)
            time.sleep(wait)


def live_url(base, path):
    return "ws" + base.rstrip("/")[4:] + "/api" + path


class Device:
    """Streams audio; holds what is not acknowledged, so that a cut loses and repeats nothing."""

    def __init__(self, base, device, key, source, configuration, speed):
        self.url = live_url(base, f"/devices/{device}/stream")
        self.key = key
        self.source = source
        self.configuration = configuration
        self.bytes_per_second = speed * configuration["sample_rate"] * configuration["channels"] * 2
        self.session = None
        self.seq = None
        self.kept, self.kept_from, self.sent = b"", 0, 0
        self.at_end = False

    def connect(self, works):
        socket_ = WebSocket(self.url, {"X-API-Key": self.key})
        try:
            self._stream(socket_, works)
        except Done:
            if not self.at_end or self.kept:
                raise Refused("the session has ended before all audio was taken") from None
        finally:
            socket_.drop()

    def _stream(self, socket_, works):
        configure = dict(self.configuration, type="Configure")
        if self.session is not None:
            configure["session_id"] = self.session
        if self.seq is not None and configure.get("transcript"):
            configure["from_seq"] = self.seq
        socket_.send_json(configure)
        begun, closing, due = False, False, time.monotonic()
        while True:
            room = begun and not closing and self.sent - self.kept_from < WINDOW_BYTES
            wait = max(0.0, due - time.monotonic()) if begun and not closing else SILENCE_SECONDS
            if not room and not closing:
                wait = SILENCE_SECONDS
            if socket_.has_message(wait):
                frame = socket_.receive()
                if frame and frame["type"] == "Begin":
                    self._begin(frame["audio_offset_bytes"], frame["session_id"])
                    begun, due = True, time.monotonic()
                    works()
                elif frame:
                    self._hear(frame)
            elif not room:
                raise Broken(f"nothing came for {SILENCE_SECONDS} s")
            elif self._next(socket_):
                due = max(due, time.monotonic() - 1) + PIECE_BYTES / self.bytes_per_second
            else:
                socket_.send_json({"type": "CloseStream"})
                closing = True

    def _begin(self, offset, session):
        if offset < self.kept_from:
            raise Refused("the service asks for audio that this device has no more")
        if self.session is None:
            print(f"session {session}", file=sys.stderr, flush=True)
            # A session that was running already has bytes of an earlier stream.
            self.kept_from = offset
        self.session = session
        self._forget(offset)
        self.sent = offset

    def _forget(self, offset):
        if offset > self.kept_from:
            self.kept = self.kept[offset - self.kept_from:]
            self.kept_from = offset

    def _next(self, socket_):
        """Sends the next piece; False when all was sent."""
        piece = self.kept[self.sent - self.kept_from:][:PIECE_BYTES]
        if not piece and not self.at_end:
            piece = self.source(PIECE_BYTES)
            self.at_end = not piece
            self.kept += piece
        if not piece:
            return False
        socket_.send_bytes(piece)
        self.sent += len(piece)
        return True

    def _hear(self, frame):
        kind = frame["type"]
        if isinstance(frame.get("seq"), int) and "at" in frame:
            self.seq = frame["seq"]
        if kind == "AudioAck":
            self._forget(frame["audio_offset_bytes"])
        elif kind == "Results" and frame["is_final"]:
            print(f"{frame.get('speaker', 'UU')}: {frame['transcript']}", flush=True)
        elif kind in ("Warning", "Error"):
            print(f"{kind.lower()} {frame['code']}: {frame['message']}", file=sys.stderr, flush=True)


class Viewer:
    """Prints the finals of a session, each once, until the session has ended."""

    def __init__(self, base, token, session, from_seq):
        self.url = live_url(base, "/live")
        self.headers = {"Authorization": f"Bearer {token}"}
        self.session = session
        self.seq = from_seq

    def connect(self, works):
        socket_ = WebSocket(self.url, self.headers)
        try:
            socket_.send_json(
                {"type": "Subscribe", "session_id": self.session, "from_seq": self.seq})
            while True:
                frame = socket_.receive()
                if frame is None:
                    continue
                works()
                if self._show(frame):
                    return
        except Done as reason:
            raise Broken(f"closed: {reason}") from None
        finally:
            socket_.drop()

    def _show(self, frame):
        kind = frame["type"]
        if kind == "Error":
            raise (Broken if frame["retryable"] else Refused)(f"{frame['code']}: {frame['message']}")
        if kind == "SessionEnded":
            print(f"session {frame['status']}", file=sys.stderr, flush=True)
            return True
        if not (isinstance(frame.get("seq"), int) and "at" in frame) or frame["seq"] <= self.seq:
            return False
        self.seq = frame["seq"]
        if kind == "Results":
            line = f"{frame['segment_id']} {frame.get('speaker', 'UU')}: {frame['transcript']}"
            print(f"{self.seq} {line}", flush=True)
        elif kind in ("SegmentRevised", "TranscriptReplaced", "SpeakerRevision", "Redacted"):
            print(f"{self.seq} {kind}", flush=True)
        return False


def stop_session(base, device, key, session):
    """Ends the recording; may be repeated, so it is tried again like everything else."""
    url = f"{base.rstrip('/')}/api/devices/{device}/session/stop"
    request = urllib.request.Request(
        url, json.dumps({"session_id": session}).encode(),
        {"X-API-Key": key, "Content-Type": "application/json"})
    try:
        urllib.request.urlopen(request, timeout=CONNECT_SECONDS).close()
    except urllib.error.HTTPError as error:
        kind = Refused if error.code < 500 and error.code != 429 else Broken
        raise kind(f"stop: {error.code} {error.read(500).decode('utf-8', 'replace')}") from error
    except OSError as error:
        raise Broken(f"stop: {error}") from error


def open_source(path):
    """What reads so many bytes of PCM, its sample rate and channels. `-`: 16 kHz mono from stdin."""
    if path == "-":
        return sys.stdin.buffer.read, 16000, 1
    try:
        sound = wave.open(path, "rb")
    except (OSError, wave.Error, EOFError) as error:
        raise Refused(f"{path}: {error}") from error
    if sound.getsampwidth() != 2 or sound.getnchannels() > 2:
        raise Refused(f"{path}: only WAV of 16 bits with one or two channels")
    frame = 2 * sound.getnchannels()
    return (lambda size: sound.readframes(size // frame)), sound.getframerate(), sound.getnchannels()


def run_device(options):
    key = secret("VOICE_KEY")
    source, rate, channels = open_source(options.file)
    configuration = {"encoding": "pcm_s16le", "sample_rate": rate, "channels": channels}
    if options.title:
        configuration["title"] = options.title
    if options.transcript:
        configuration["transcript"] = True
    device = Device(options.url, options.device, key, source, configuration, options.speed)
    persistently(device.connect)
    persistently(lambda _: stop_session(options.url, options.device, key, device.session))
    print(f"sent {device.kept_from} bytes, all stored", file=sys.stderr)


def run_view(options):
    viewer = Viewer(options.url, secret("VOICE_TOKEN"), options.session, options.from_seq)
    persistently(viewer.connect)


def secret(name):
    # Not an argument: those of a process can be seen by everybody on the machine.
    value = os.environ.get(name, "")
    if not value:
        raise Refused(f"the environment has no {name}")
    return value


def main():
    parser = argparse.ArgumentParser(description="A device and a viewer of the voice session service.")
    parser.add_argument("--url", default=os.environ.get("VOICE_URL", "http://127.0.0.1:8080"))
    commands = parser.add_subparsers(required=True)
    device = commands.add_parser("device", help="stream a WAV file, or PCM from stdin, as a device")
    device.add_argument("--device", required=True, help="the device's id; its key is VOICE_KEY")
    device.add_argument("--title")
    device.add_argument("--transcript", action="store_true", help="print what is heard (may_read)")
    device.add_argument("--speed", type=float, default=1.0, help="1 is the speed of life")
    device.add_argument("file", help="a WAV file, or - for 16 kHz mono PCM")
    device.set_defaults(run=run_device)
    view = commands.add_parser("view", help="print the words of a session as they come")
    view.add_argument("--session", required=True, help="its id; the access token is VOICE_TOKEN")
    view.add_argument("--from-seq", type=int, default=0, help="the last seq that was seen")
    view.set_defaults(run=run_view)
    options = parser.parse_args()
    if not options.url.startswith(("http://", "https://")):
        parser.error("--url must begin with http:// or https://")
    try:
        options.run(options)
    except Refused as error:
        print(f"error: {error}", file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        return 130
    return 0


if __name__ == "__main__":
    sys.exit(main())
