import type { UserSession } from "../../src/cli/client/user-session.ts";
import type { operations } from "../../src/client/gen/api-schema.ts";

/** A segment as REST lists it. */
export type Segment =
  operations["listSegments"]["responses"]["200"]["content"]["application/json"]["items"][number];

/** What must be the same however often the line went dead. */
export interface Outcome {
  /** Label, times and words of each segment. */
  readonly segments: string[];
  /** Sequence, status and words of each chunk. */
  readonly chunks: string[];
  readonly listed: readonly Segment[];
}

const PAGE = 50;

/** All of them, page by page. */
export async function readSegments(user: UserSession, sessionId: string): Promise<Segment[]> {
  const found: Segment[] = [];
  const path = { session_id: sessionId };
  for (let cursor: string | undefined; ; ) {
    const page = { limit: PAGE, words: true };
    const query = cursor === undefined ? page : { ...page, cursor };
    const { items, next_cursor } = await user.call((client) =>
      client.GET("/sessions/{session_id}/segments", { params: { path, query } }),
    );
    found.push(...items);
    if (next_cursor === null || next_cursor === undefined) return found;
    cursor = next_cursor;
  }
}

export async function readOutcome(user: UserSession, sessionId: string): Promise<Outcome> {
  const path = { session_id: sessionId };
  const listed = await readSegments(user, sessionId);
  const { chunks } = await user.call((client) =>
    client.GET("/sessions/{session_id}/chunks", { params: { path } }),
  );
  return {
    listed,
    segments: listed.map(
      ({ speaker_label, start_ms, end_ms, text }) =>
        `${speaker_label} ${start_ms}-${end_ms}: ${text}`,
    ),
    chunks: chunks.map(
      ({ chunk_sequence, transcription_status, transcription_text }) =>
        `${chunk_sequence} ${transcription_status}: ${transcription_text}`,
    ),
  };
}

/** Without capital and mark: where a recording is cut, the recogniser sets others. */
export function plainWord(word: string): string {
  return word.toLowerCase().replace(/[.,?!]/g, "");
}

/** All words, in order. */
export function wordsOf(segments: readonly Pick<Segment, "text">[]): string[] {
  return segments.flatMap(({ text }) =>
    text
      .split(/\s+/)
      .map(plainWord)
      .filter((word) => word !== ""),
  );
}

/** Words of either side that are not in the longest sequence that both have. */
export function compareWords(
  found: readonly string[],
  wanted: readonly string[],
): { missing: string[]; extra: string[] } {
  const width = wanted.length + 1;
  const common = new Uint32Array((found.length + 1) * width);
  const at = (i: number, j: number) => common[i * width + j] ?? 0;
  for (let i = found.length - 1; i >= 0; i -= 1) {
    for (let j = wanted.length - 1; j >= 0; j -= 1) {
      common[i * width + j] =
        found[i] === wanted[j] ? at(i + 1, j + 1) + 1 : Math.max(at(i + 1, j), at(i, j + 1));
    }
  }
  const missing: string[] = [];
  const extra: string[] = [];
  let [i, j] = [0, 0];
  while (i < found.length || j < wanted.length) {
    if (i < found.length && j < wanted.length && found[i] === wanted[j]) {
      i += 1;
      j += 1;
    } else if (j < wanted.length && (i === found.length || at(i, j + 1) >= at(i + 1, j))) {
      missing.push(wanted[j] ?? "");
      j += 1;
    } else {
      extra.push(found[i] ?? "");
      i += 1;
    }
  }
  return { missing, extra };
}
