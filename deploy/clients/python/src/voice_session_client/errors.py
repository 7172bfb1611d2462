"""Every failure of this package is a VoiceError: `code` is for programs, the text for people."""
from __future__ import annotations

import json
from typing import Mapping, Optional

from .back_off import retry_after_seconds


class VoiceError(Exception):
    """`retryable`: the same may work later; calls were repeated already before it was raised."""

    def __init__(self, code: str, message: str, retryable: bool = False) -> None:
        super().__init__(message)
        self.code = code
        self.retryable = retryable


class ApiError(VoiceError):
    """An answer other than 2xx. `request_id` names the call in the service's log."""

    def __init__(
        self,
        call: str,
        status: int,
        code: str,
        said: str,
        retry_after: Optional[float] = None,
        request_id: Optional[str] = None,
    ) -> None:
        passing = status in (408, 429) or status >= 500
        # A request with this code may have been carried out: only its Idempotency-Key may repeat it.
        retryable = (passing and code != "outcome_unknown") or code == "idempotency_in_progress"
        super().__init__(code, f"{call} answered {status}: {said}", retryable)
        self.call = call
        self.status = status
        self.said = said
        self.retry_after = retry_after
        self.request_id = request_id


class AuthenticationError(ApiError):
    """401: the key or token is missing, wrong, or no longer accepted."""


class ForbiddenError(ApiError):
    """403: the caller may not do this."""


class NotFoundError(ApiError):
    """404: there is no such thing, or not for this caller."""


class ConflictError(ApiError):
    """409 and 412: the state of the thing does not allow it."""


class InvalidRequestError(ApiError):
    """400, 413, 415, 422 and other 4xx: the request itself is wrong."""


class RateLimitError(ApiError):
    """408 and 429: too slow, or too many requests."""


class ServiceError(ApiError):
    """5xx: the service could not do it now."""


class Unreachable(VoiceError):
    """Nobody answered, or not in time."""

    def __init__(self, call: str, reason: object) -> None:
        super().__init__("unreachable", f"{call} got no answer: {reason or 'time-out'}", True)


class ChannelError(VoiceError):
    """A WebSocket was refused for good, or broke so often that it was given up."""

    def __init__(
        self, code: str, message: str, retryable: bool = False, close_code: Optional[int] = None
    ) -> None:
        super().__init__(code, message, retryable)
        self.close_code = close_code


class AccessEnded(ChannelError):
    """The right to stream has ended. `unstored` has the bytes of the stream from `offset` on that
    the service has not stored; `chunk_sequence` is the one with which an upload would go on."""

    def __init__(
        self, reason: str, close_code: int, unstored: bytes, offset: int, chunk_sequence: int
    ) -> None:
        super().__init__("forbidden", f"The stream was refused: {reason}", False, close_code)
        self.unstored = unstored
        self.offset = offset
        self.chunk_sequence = chunk_sequence


class UploadError(VoiceError):
    """A file was brought as a whole and could not be stored as sound."""


class SignatureError(VoiceError):
    """A message did not come from the service, or is older than it may be."""

    def __init__(self, message: str) -> None:
        super().__init__("invalid_signature", message)


_BY_STATUS = {
    401: AuthenticationError,
    403: ForbiddenError,
    404: NotFoundError,
    408: RateLimitError,
    409: ConflictError,
    412: ConflictError,
    429: RateLimitError,
}


def api_error(call: str, status: int, headers: Mapping[str, str], body: bytes) -> ApiError:
    """The error of the class that belongs to the status of an answer."""
    kind = _BY_STATUS.get(status, ServiceError if status >= 500 else InvalidRequestError)
    return kind(
        call,
        status,
        headers.get("x-error-code", ""),
        _message_in(body),
        retry_after_seconds(headers.get("retry-after")),
        headers.get("x-request-id"),
    )


def _message_in(body: bytes) -> str:
    try:
        return str(json.loads(body)["message"])
    except (ValueError, KeyError, TypeError):
        # The body is not this service's error body and is shown as it is.
        return body[:200].decode("utf-8", "replace").strip() or "no explanation"
