"""The client of the voice session service: `VoiceClient`, and `AsyncVoiceClient` for asyncio."""
from . import types
from ._async.client import AsyncVoiceClient
from ._async.follow import AsyncFollower
from ._sync.client import VoiceClient
from ._sync.follow import Follower
from .back_off import BackOff
from .errors import (
    AccessEnded,
    ApiError,
    AuthenticationError,
    ChannelError,
    ConflictError,
    ForbiddenError,
    InvalidRequestError,
    NotFoundError,
    RateLimitError,
    ServiceError,
    SignatureError,
    Unreachable,
    UploadError,
    VoiceError,
)
from .finalize import FINALIZE, Finalize
from .position import Cursor
from .webhook import verify_webhook

__version__ = "3.0.0"

__all__ = [
    "AccessEnded",
    "ApiError",
    "AsyncFollower",
    "AsyncVoiceClient",
    "AuthenticationError",
    "BackOff",
    "ChannelError",
    "ConflictError",
    "Cursor",
    "FINALIZE",
    "Finalize",
    "Follower",
    "ForbiddenError",
    "InvalidRequestError",
    "NotFoundError",
    "RateLimitError",
    "ServiceError",
    "SignatureError",
    "Unreachable",
    "UploadError",
    "VoiceClient",
    "VoiceError",
    "types",
    "verify_webhook",
]
