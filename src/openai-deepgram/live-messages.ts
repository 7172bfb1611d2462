import type { ResultsBody } from "../wire/live-frames.ts";
import { type AnswerStyle, alternativeOf, presentModel } from "./deepgram-answers.ts";
import type { DeepgramOrder } from "./deepgram-query.ts";
import { writeFinal } from "./written-finals.ts";

/** What all messages of one stream tell of it. */
export interface LiveAbout {
  /** UUID of the session. */
  requestId: string;
  language: string;
  names: readonly string[];
  engine: string;
  /** How many channels are read by themselves; 1 where they are mixed. */
  channels: number;
}

/** A hypothesis or a final in the form of Deepgram's `Results`. */
export function resultsMessage(
  frame: ResultsBody,
  order: AnswerStyle & Pick<DeepgramOrder, "endpointing">,
  about: LiveAbout,
  isFinalized: boolean,
): object {
  // Hypotheses change: their words stay as they were heard.
  const written = frame.is_final
    ? writeFinal(frame, order.writing, about)
    : writeFinal(frame, { style: "raw", numbers: "words" }, about);
  return {
    type: "Results",
    channel_index: channelIndex(frame, about),
    duration: frame.duration,
    start: frame.start,
    is_final: frame.is_final,
    speech_final: frame.is_final && order.endpointing,
    channel: { alternatives: [alternativeOf([written], order)] },
    metadata: {
      request_id: about.requestId,
      model_info: presentModel(about.engine),
      model_uuid: about.requestId,
    },
    from_finalize: isFinalized,
  };
}

/** A channel, from 0, and how many there are. */
function channelIndex({ channel = 0 }: { channel?: number }, { channels }: LiveAbout) {
  return [channel, channels];
}

/** The answer to a Finalize after which nothing was left to tell of a channel. */
export function emptyResults(start: number, channel: number, about: LiveAbout): object {
  return {
    ...{ type: "Results", channel_index: channelIndex({ channel }, about), duration: 0, start },
    ...{ is_final: true, speech_final: true, from_finalize: true },
    channel: { alternatives: [{ transcript: "", confidence: 0, words: [] }] },
    metadata: {
      request_id: about.requestId,
      model_info: presentModel(about.engine),
      model_uuid: about.requestId,
    },
  };
}

export function speechStarted(
  frame: { start: number; channel?: number },
  about: LiveAbout,
): object {
  return { type: "SpeechStarted", channel: channelIndex(frame, about), timestamp: frame.start };
}

export function utteranceEnd(lastWordEnd: number, channel: number, about: LiveAbout): object {
  const index = channelIndex({ channel }, about);
  return { type: "UtteranceEnd", channel: index, last_word_end: lastWordEnd };
}

/** The last message of a stream. */
export function metadataMessage(
  { requestId, engine, channels }: LiveAbout,
  { sha256, createdAt, seconds }: { sha256: string; createdAt: number; seconds: number },
): object {
  return {
    ...{ type: "Metadata", transaction_key: "deprecated", request_id: requestId, sha256 },
    ...{ created: new Date(createdAt).toISOString(), duration: seconds, channels },
    ...{ models: [engine], model_info: { [engine]: presentModel(engine) } },
  };
}

/** What went wrong, before the connection ends. */
export function errorMessageOf(code: string, description: string): object {
  return { type: "Error", variant: code, description, message: description };
}
