"""LiveKit Agents plugin for the voice session service: `STT`, speech to text with speakers."""

from livekit.agents import Plugin

from .log import logger
from .speech import Speakers
from .stream import SpeechStream
from .stt import STT
from .version import __version__

__all__ = ["STT", "Speakers", "SpeechStream", "__version__"]


class VoiceSessionPlugin(Plugin):
    def __init__(self) -> None:
        super().__init__(__name__, __version__, __package__ or __name__, logger)


Plugin.register_plugin(VoiceSessionPlugin())
