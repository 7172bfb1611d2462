import logging

logger = logging.getLogger("livekit.plugins.voice_session")
