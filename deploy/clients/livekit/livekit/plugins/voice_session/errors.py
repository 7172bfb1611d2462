"""Failures of the client as those of LiveKit."""

from __future__ import annotations

import httpx

from livekit.agents import APIConnectionError, APIError, APIStatusError, APITimeoutError
from voice_session_client import ApiError, ChannelError, Unreachable, VoiceError

# What the close code of a WebSocket would be as an HTTP status. 1000 comes where the session was
# stopped by somebody else, 4409 where another connection took the stream.
_STATUS_OF_CLOSE = {1000: 409, 1009: 413, 4400: 400, 4401: 401, 4403: 403, 4404: 404, 4409: 409}
# Of what is refused without a close.
_STATUS_OF_CODE = {"bad_request": 400, "unauthorized": 401, "forbidden": 403, "not_found": 404}


def api_error(error: VoiceError, *, retryable: bool) -> APIError:
    """`retryable`: False where the client itself has tried again until it gave up, or where audio
    that was sent would be missing in a new session."""
    may_retry = retryable and error.retryable
    if isinstance(error, ApiError):
        return APIStatusError(
            str(error), status_code=error.status, request_id=error.request_id, retryable=may_retry
        )
    if isinstance(error, ChannelError):
        by_code = _STATUS_OF_CODE.get(error.code)
        status = _STATUS_OF_CLOSE.get(error.close_code or 0, by_code)
        if status is not None:
            return APIStatusError(str(error), status_code=status, retryable=may_retry)
    if isinstance(error, (Unreachable, ChannelError)):
        is_late = isinstance(error.__cause__, (TimeoutError, httpx.TimeoutException))
        kind = APITimeoutError if is_late else APIConnectionError
        return kind(str(error), retryable=may_retry)
    return APIError(str(error), retryable=may_retry)
