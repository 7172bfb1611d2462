import { AppError } from "../../src/base/errors.ts";
import { CompareVoiceRequest, CompareVoiceResponse } from "../../src/wire/gen/voice/v1/voices.ts";
import type { InferenceClient } from "../inference/inference-client.ts";
import { NetworkVoices } from "./network-voices.ts";
import {
  decodePrint,
  encodePrint,
  logLikelihoodRatio,
  makePrint,
  PRINT_METHOD,
} from "./voice-print.ts";

/** Three minutes. */
const MOST_BYTES = 3 * 60 * 32_000;
const MOST_PRINTS = 200;

/** CompareVoice of the gRPC service. */
export function* compareVoiceTask(
  request: Uint8Array,
  { inference }: { inference?: InferenceClient | undefined },
): Generator<Uint8Array | Promise<unknown> | undefined, void> {
  const { pcm, prints } = decode(request);
  if (inference === undefined) {
    throw new AppError("unavailable", "This worker has no networks by which voices are compared.");
  }
  const analysis = new NetworkVoices(inference);
  const { print, speechMs } = yield* makePrint(samplesOf(pcm), analysis);
  const logRatios = prints.map((bytes) => {
    const other = decodePrint(bytes, analysis.vectorSize);
    // Nothing can be said of a print of another method.
    return other === undefined ? Number.NEGATIVE_INFINITY : logLikelihoodRatio(print, other);
  });
  const answer = { method: PRINT_METHOD, print: Buffer.from(encodePrint(print)), speechMs };
  yield CompareVoiceResponse.encode({ ...answer, logRatios }).finish();
}

function decode(request: Uint8Array): CompareVoiceRequest {
  let decoded: CompareVoiceRequest;
  try {
    decoded = CompareVoiceRequest.decode(request);
  } catch (error) {
    throw new AppError("bad_request", "The request is no CompareVoiceRequest.", { cause: error });
  }
  const { pcm, prints } = decoded;
  if (pcm.length > MOST_BYTES || prints.length > MOST_PRINTS) {
    throw new AppError("bad_request", "This is too much speech, or too many prints, for one call.");
  }
  return decoded;
}

/** A copy, as samples begin at even places only. */
function samplesOf(pcm: Uint8Array): Int16Array {
  const even = Uint8Array.from(pcm.subarray(0, pcm.length - (pcm.length % 2)));
  return new Int16Array(even.buffer);
}
