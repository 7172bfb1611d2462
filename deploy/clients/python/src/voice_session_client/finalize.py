"""The end of an utterance, where the source of a stream asks for it."""


class Finalize:
    """In place of a piece of sound: the utterance in hand ends here, so that its final words come
    at once and not after a pause. The service answers with UtteranceEnd, also where nobody spoke."""


FINALIZE = Finalize()
