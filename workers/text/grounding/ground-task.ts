import { AppError } from "../../../src/base/errors.ts";
import { checkSentence } from "./check-sentence.ts";
import type { CitedUtterance } from "./evidence.ts";
import { findReporter } from "./planted.ts";

/** Sentences to be compared with what they cite. */
export interface GroundRequest {
  /** Names of all who spoke in the session. */
  speakers: readonly string[];
  sentences: readonly { text: string; cited: readonly Citation[] }[];
}

interface Citation extends CitedUtterance {
  /** True where it speaks to a machine that reads along. */
  isOrder: boolean;
}

/** For each sentence the places, in what it cites, of the utterances that bear it; none: it is not borne. */
export type GroundResponse = readonly (readonly number[])[];

export function encodeGround(message: GroundRequest | GroundResponse): Uint8Array {
  return Buffer.from(JSON.stringify(message), "utf8");
}

/** Decodes a message that this process encoded. */
export function decodeGround<T extends GroundRequest | GroundResponse>(bytes: Uint8Array): T {
  return JSON.parse(Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString()) as T;
}

/** Compares each sentence with what it cites; the answer is a GroundResponse. A thread runs it. */
export function* groundTask(request: Uint8Array): Generator<Uint8Array | undefined, void> {
  const { speakers, sentences } = decode(request);
  const borne: number[][] = [];
  for (const sentence of sentences) {
    borne.push(bearing(sentence, speakers));
    yield undefined;
  }
  yield encodeGround(borne);
}

/** Utterances that speak to a machine bear only that their speaker said so. */
function bearing(
  { text, cited }: GroundRequest["sentences"][number],
  speakers: readonly string[],
): number[] {
  const reporter = findReporter(text, speakers);
  const places = [...cited.keys()].filter(
    (at) => cited[at]?.isOrder === false || cited[at]?.speaker === reporter,
  );
  const evidence = places.flatMap((at) => cited[at] ?? []);
  return checkSentence({ text, cited: evidence }, speakers).isBorne ? places : [];
}

function decode(request: Uint8Array): GroundRequest {
  try {
    return decodeGround<GroundRequest>(request);
  } catch (error) {
    throw new AppError("bad_request", "The request is no GroundRequest.", { cause: error });
  }
}
