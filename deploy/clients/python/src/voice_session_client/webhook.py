"""Signatures of webhooks, as Standard Webhooks has them."""
from __future__ import annotations

import base64
import binascii
import hashlib
import hmac
import json
import time
from typing import Mapping, Optional, Sequence, Tuple, Union, cast

from .errors import SignatureError
from .types import WebhookMessage


def verify_webhook(
    body: Union[str, bytes],
    headers: Mapping[str, str],
    secret: Union[str, Sequence[str]],
    tolerance: float = 300.0,
    now: Optional[float] = None,
) -> Tuple[str, WebhookMessage]:
    """Verifies a message and returns its `webhook-id`, the same in each attempt, and its content.

    `body` is the request's body as it came, byte by byte; `secret` what the service showed when the
    webhook was made, or both while it is being replaced; `tolerance` how old a message may be,
    seconds. Raises SignatureError.
    """
    told = {name.lower(): value for name, value in headers.items()}
    try:
        webhook_id, timestamp = told["webhook-id"], told["webhook-timestamp"]
        signatures = told["webhook-signature"].split()
    except KeyError as error:
        raise SignatureError(f"There is no {error.args[0]}.") from None
    is_moment = timestamp.isascii() and timestamp.isdigit()
    if not is_moment or abs((time.time() if now is None else now) - int(timestamp)) > tolerance:
        raise SignatureError("The message is too old, or its webhook-timestamp is no moment.")
    content = body.encode() if isinstance(body, str) else body
    signed = f"{webhook_id}.{timestamp}.".encode() + content
    secrets = [secret] if isinstance(secret, str) else secret
    expected = [hmac.new(_key(each), signed, hashlib.sha256).digest() for each in secrets]
    for signature in signatures:
        version, _, value = signature.partition(",")
        given = _decoded(value) if version == "v1" else None
        if given is not None and any([hmac.compare_digest(given, each) for each in expected]):
            return webhook_id, cast(WebhookMessage, json.loads(content))
    raise SignatureError("No signature of the message is by this secret.")


def _key(secret: str) -> bytes:
    key = _decoded(secret[6:] if secret.startswith("whsec_") else secret)
    if not key:
        raise SignatureError("The secret is not one of a webhook.")
    return key


def _decoded(text: str) -> Optional[bytes]:
    try:
        return base64.b64decode(text, validate=True)
    except (binascii.Error, ValueError):
        return None
