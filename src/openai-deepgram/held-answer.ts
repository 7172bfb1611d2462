import { delay } from "../base/deferred.ts";
import type { Reply } from "../rest/route.ts";
import type { AnswerForm } from "./answers.ts";
import type { FileCall } from "./file-calls.ts";

/** After this time an answer begins although nothing of it is known yet, milliseconds. */
const PATIENCE_MS = 20_000;
const BLANK_MS = 4_000;

/** How an answer begins before its text is there. */
interface Lead {
  /** The first bytes of every such answer; a text that begins with them goes on behind them. */
  first: string;
  /** May be repeated behind them without meaning anything. */
  blank: string;
}

/** White space, which JSON, plain text and SubRip may have in front. */
export const WHITE_SPACE: Lead = { first: "\n", blank: "\n" };
/** A WebVTT file begins with its mark; blank lines may follow it. */
export const WEBVTT: Lead = { first: "WEBVTT\n", blank: "\n" };

interface HeldAnswer {
  contentType: string;
  lead: Lead;
  form: AnswerForm;
}

/**
 * The answer to a call once it is read. Clients and proxies give up on an answer that does not begin
 * within a minute or five, which long recordings take: its lead, then, is sent first. An error that
 * comes before that has its own status and media type; one that comes after it ends the connection, as
 * the status is told by then.
 */
export async function heldOpen(
  call: Pick<FileCall, "transcribe">,
  { contentType, lead, form }: HeldAnswer,
  signal: AbortSignal,
): Promise<Reply> {
  const headers = { "content-type": contentType };
  const whole = call.transcribe(signal, form);
  // Once the answer has begun nobody may be left to hear of an error.
  whole.catch(() => {});
  const first = await soon(whole, PATIENCE_MS);
  if (first !== undefined) return { status: 200, headers, body: first.text };
  return { status: 200, headers, events: { open: () => leadBefore(whole, lead) } };
}

async function* leadBefore(whole: Promise<string>, { first, blank }: Lead): AsyncGenerator<string> {
  yield first;
  for (;;) {
    const found = await soon(whole, BLANK_MS);
    if (found !== undefined) {
      const { text } = found;
      return yield text.startsWith(first) ? text.slice(first.length) : text;
    }
    yield blank;
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
