import type { RedactedSpans } from "../../../src/conversations/recording/playback-store.ts";
import type {
  ChunkName,
  RedactedChunk,
  RedactionRecords,
  SilencedFile,
} from "../../../src/conversations/transcript/redaction.ts";
import type { Span } from "../../../src/session/segments.ts";
import { isUnder } from "./journal-statements.ts";
import type { ChunkRow } from "./rows.ts";
import type { TwinParts } from "./twin-journal.ts";

/** Chunks whose file still has what was redacted, over tables in memory. */
export class TwinRedactions implements RedactionRecords {
  readonly #parts: TwinParts;

  constructor(parts: TwinParts) {
    this.#parts = parts;
  }

  pending(limit: number, after?: ChunkName): Promise<ChunkName[]> {
    const { client, t } = this.#parts;
    return client.query((s) =>
      s
        .all(t.chunks)
        .filter((row) => row.silence_wanted > row.silence_done)
        .map(({ session_id: sessionId, sequence }) => ({ sessionId, sequence }))
        .sort(inOrder)
        .filter((chunk) => after === undefined || inOrder(chunk, after) > 0)
        .slice(0, limit),
    );
  }

  exclusively(
    { sessionId, sequence }: ChunkName,
    work: (chunk: RedactedChunk) => Promise<SilencedFile>,
  ): Promise<boolean> {
    const { client, t } = this.#parts;
    const key = `${sessionId}:${sequence}`;
    return client.transaction(
      async (tx) => {
        if (!(await tx.run((s) => s.advisory(`audio:${sessionId}`, false)))) return false;
        const read = await tx.run((s) => {
          const row = s.get(t.chunks, key);
          return row && { row, spans: s.all(t.redactions, sessionId) };
        });
        if (read === undefined) return false;
        const { row, spans } = read;
        const under = spans.filter((span) => isUnder(row, span));
        const touching = under.map((span) => ({ from: span.start_sample, to: span.end_sample }));
        const { bytes, replace } = await work(toChunk(row, touching));
        await replace?.();
        const done = { silence_done: row.silence_wanted, bytes };
        await tx.run((s) => s.update(t.chunks, key, () => done));
        return true;
      },
      { retries: 0 },
    );
  }
}

function inOrder(a: ChunkName, b: ChunkName): number {
  if (a.sessionId === b.sessionId) return a.sequence - b.sequence;
  return a.sessionId < b.sessionId ? -1 : 1;
}

function toChunk(row: ChunkRow, spans: RedactedChunk["spans"]): RedactedChunk {
  return {
    sequence: row.sequence,
    start: row.start_sample ?? 0,
    length: row.length_samples ?? 0,
    mediaType: row.media_type,
    blob: row.sha256,
    spans,
  };
}

/** What nobody may hear any more, over tables in memory. */
export class TwinRedactedSpans implements RedactedSpans {
  readonly #parts: TwinParts;

  constructor(parts: TwinParts) {
    this.#parts = parts;
  }

  of(sessionId: string): Promise<Span[]> {
    const { client, t } = this.#parts;
    return client.query((s) => {
      const segments = s.all(t.segments, sessionId).filter(({ redacted }) => redacted);
      const spans = [...s.all(t.redactions, sessionId), ...segments]
        .map(({ start_sample: start, end_sample: end }) => ({ start, end }))
        .sort((a, b) => a.start - b.start);
      return merge(spans);
    });
  }
}

/** Spans that touch become one. */
function merge(spans: readonly Span[]): Span[] {
  const merged: Span[] = [];
  for (const { start, end } of spans) {
    const last = merged.at(-1);
    if (last === undefined || start > last.end) merged.push({ start, end });
    else last.end = Math.max(last.end, end);
  }
  return merged;
}
