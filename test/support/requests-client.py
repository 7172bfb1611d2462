"""A client of other people's making: Python's requests. Prints what it saw as JSON."""

import json
import sys

import requests

PIECE = bytes(1_000_000)


def told(answer):
    kind = answer.headers.get("Content-Type", "")
    body = answer.json() if "json" in kind and answer.content else None
    return {"status": answer.status_code, "body": body}


def pieces(size):
    for _ in range(size // len(PIECE)):
        yield PIECE


def keep(base):
    """Requests that have no body in their answer, each followed by one that has."""
    with requests.Session() as session:
        preflight = {"Origin": "http://localhost:3000", "Access-Control-Request-Method": "POST"}
        seen = []
        for method, path, headers in [
            ("HEAD", "/api/health", {}),
            ("HEAD", "/api/openapi.json", {}),
            ("OPTIONS", "/api/sessions", preflight),
            ("OPTIONS", "/api/health/live", {}),
        ]:
            first = session.request(method, base + path, headers=headers)
            second = session.get(base + "/api/health")
            seen.append([first.status_code, second.status_code])
        packed = session.get(base + "/api/openapi.json")
        adapter = session.get_adapter(base)
        pool = adapter.poolmanager.connection_from_url(base)
        return {
            "seen": seen,
            "connections": pool.num_connections,
            "coding": packed.headers.get("Content-Encoding"),
            "openapi": packed.json()["openapi"],
        }


def upload(base, path, key, size, how):
    """Sends zeros, with their length or in chunks."""
    headers = {
        "X-API-Key": key,
        "X-Chunk-Sequence": "0",
        "Content-Type": "audio/pcm;rate=48000;channels=2;encoding=s16le",
    }
    data = pieces(int(size)) if how == "chunked" else bytes(int(size))
    return told(requests.post(base + path, data=data, headers=headers, timeout=60))


print(json.dumps({"keep": keep, "upload": upload}[sys.argv[1]](*sys.argv[2:])))
