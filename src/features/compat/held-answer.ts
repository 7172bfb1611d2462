import { delay } from "../../base/deferred.ts";
import type { Reply } from "../../rest/route.ts";
import type { FileCall, Transcription, WrittenAs } from "./file-calls.ts";

/** After this time an answer of JSON begins, with white space, milliseconds. */
const PATIENCE_MS = 20_000;
const BLANK_MS = 4_000;

interface HeldAnswer {
  contentType: string;
  /** White space may stand before it. */
  isJson: boolean;
  writtenAs: WrittenAs;
  render(said: Transcription): string;
}

/**
 * The answer to a call once it is read. Clients and proxies give up on an answer that does not begin
 * within a minute or five, which long recordings take: of JSON, then, white space is sent first. An
 * error that comes after that ends the connection, as the status is told by then.
 */
export async function heldOpen(
  call: FileCall,
  { contentType, isJson, writtenAs, render }: HeldAnswer,
  signal: AbortSignal,
): Promise<Reply> {
  const headers = { "content-type": contentType };
  const whole = call.transcribe(signal, writtenAs).then(render);
  // Once the answer has begun nobody may be left to hear of an error.
  whole.catch(() => {});
  const first = isJson ? await soon(whole, PATIENCE_MS) : { text: await whole };
  if (first !== undefined) return { status: 200, headers, body: first.text };
  return { status: 200, headers, events: { open: () => blanksBefore(whole) } };
}

async function* blanksBefore(whole: Promise<string>): AsyncGenerator<string> {
  yield " ";
  for (;;) {
    const found = await soon(whole, BLANK_MS);
    if (found !== undefined) return yield found.text;
    yield " ";
  }
}

/** Undefined when the text does not come within `ms`. */
async function soon(whole: Promise<string>, ms: number): Promise<{ text: string } | undefined> {
  const waiting = new AbortController();
  try {
    return await Promise.race([
      whole.then((text) => ({ text })),
      delay(ms, waiting.signal).then(() => undefined),
    ]);
  } finally {
    waiting.abort();
  }
}
