import { AppError } from "../../../src/base/errors.ts";
import {
  RetrieveRequest,
  RetrieveResponse,
  Understanding,
  UnderstandRequest,
} from "../../../src/wire/gen/voice/v1/retrieval.ts";
import { answerQuestion } from "./answer.ts";
import { readQuestion } from "./question.ts";

/** Steps between two progress messages. */
const REPORT_EVERY = 20;
const PASSAGES_PER_STEP = 100;

/**
 * Understand of the gRPC service: the words and days that determine which conversations to read.
 */
export function* understandTask(request: Uint8Array): Generator<Uint8Array | undefined, void> {
  const { query, nowMs } = decode(() => UnderstandRequest.decode(request));
  const { words, phrases, times } = readQuestion(query, [], nowMs);
  const terms = [...new Set([...words, ...phrases.flat()])];
  const { from = 0, to = 0 } = times.days ?? {};
  yield Understanding.encode({ terms, fromMs: from, toMs: to }).finish();
}

/** Retrieve of the gRPC service: quotes what was said, invents nothing, stores nothing. */
export function* retrieveTask(request: Uint8Array): Generator<Uint8Array | undefined, void> {
  const decoded = decode(() => RetrieveRequest.decode(request));
  const passages = decoded.conversations.reduce((sum, each) => sum + each.passages.length, 0);
  // After the reading only a few more steps follow, however long the conversations are.
  const expected = passages / PASSAGES_PER_STEP + 5;
  yield encode({ $case: "progress", value: { done: 0 } });
  const steps = answerQuestion(decoded);
  for (let taken = 1; ; taken += 1) {
    const step = steps.next();
    if (step.done === true) {
      yield encode({ $case: "answer", value: step.value });
      return;
    }
    const done = Math.min(0.99, taken / expected);
    yield taken % REPORT_EVERY === 0 ? encode({ $case: "progress", value: { done } }) : undefined;
  }
}

function decode<T>(read: () => T): T {
  try {
    return read();
  } catch (error) {
    throw new AppError("bad_request", "The request cannot be read.", { cause: error });
  }
}

function encode(message: NonNullable<RetrieveResponse["message"]>): Uint8Array {
  return RetrieveResponse.encode({ message }).finish();
}
