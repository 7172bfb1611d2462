/** A word in seconds of the stream. */
export interface StreamedWord {
  text: string;
  start: number;
  end: number;
  confidence: number;
}

/** What a server of Deepgram's streaming protocol says. */
export type ServerMessage =
  /** Words of [start, end), seconds of the stream; an interim one is replaced by the next. */
  | {
      kind: "results";
      start: number;
      end: number;
      words: StreamedWord[];
      isFinal: boolean;
      /** All audio before a Finalize is final now. */
      isFlushed: boolean;
    }
  /** The server can do no more, and closes. */
  | { kind: "error" }
  /** UtteranceEnd, SpeechStarted, Metadata and what is newer than this client. */
  | { kind: "other" };

/** The message in a text frame; undefined for one that is no message of the protocol. */
export function parseMessage(text: string): ServerMessage | undefined {
  const message = objectOf(text);
  if (message === undefined || typeof message.type !== "string") return undefined;
  if (message.type === "Error") return { kind: "error" };
  if (message.type !== "Results") return { kind: "other" };
  const { start, duration, is_final, from_finalize } = message;
  if (!isNumber(start) || !isNumber(duration)) return undefined;
  const words = wordsOf(message.channel);
  if (words === undefined) return undefined;
  const [isFinal, isFlushed] = [is_final === true, from_finalize === true];
  return { kind: "results", start, end: start + duration, words, isFinal, isFlushed };
}

function wordsOf(channel: unknown): StreamedWord[] | undefined {
  const { alternatives } = fieldsOf(channel);
  if (!Array.isArray(alternatives)) return undefined;
  const { words = [] } = fieldsOf(alternatives[0]);
  if (!Array.isArray(words)) return undefined;
  return words.flatMap((each: unknown) => {
    const { word, punctuated_word, start, end, confidence } = fieldsOf(each);
    const text = typeof punctuated_word === "string" ? punctuated_word : word;
    if (typeof text !== "string" || text === "" || !isNumber(start) || !isNumber(end)) return [];
    const sure = isNumber(confidence) ? Math.max(0, Math.min(1, confidence)) : 0;
    return [{ text, start, end: Math.max(start, end), confidence: sure }];
  });
}

function objectOf(text: string): Record<string, unknown> | undefined {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === "object" && value !== null ? fieldsOf(value) : undefined;
  } catch {
    return undefined;
  }
}

function fieldsOf(value: unknown): Record<string, unknown> {
  return typeof value === "object" && value !== null ? (value as Record<string, unknown>) : {};
}

function isNumber(value: unknown): value is number {
  return typeof value === "number" && Number.isFinite(value);
}
