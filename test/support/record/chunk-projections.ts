import type { Recorded } from "../../../src/actor/journal.ts";
import type { SessionEvent } from "../../../src/session/event.ts";
import { isUnder } from "./journal-statements.ts";
import type { Conversation } from "./record-client.ts";
import type { RecordTables } from "./record-tables.ts";
import type { ChunkRow } from "./rows.ts";

/** Where rows are written, and by which names new ones go. */
export interface Projection {
  tx: Conversation;
  t: RecordTables;
  /** Of the session. */
  id: string;
  newId(): string;
}

type Change = Pick<ChunkRow, "status" | "error"> & { start: number | null; length: number | null };

/** What a batch leaves each chunk with: one statement however many there are. */
export async function projectChunks(
  { tx, t, id }: Projection,
  events: readonly Recorded<SessionEvent>[],
): Promise<void> {
  const changes = new Map<number, Change>();
  for (const { event } of events) collect(changes, event);
  if (changes.size === 0) return;
  await tx.run(async (s) => {
    const redactions = s.all(t.redactions, id);
    for (const [sequence, { status, error, start, length }] of changes) {
      await s.update(t.chunks, `${id}:${sequence}`, (row) => {
        const place = {
          start_sample: start ?? row.start_sample,
          length_samples: length ?? row.length_samples,
        };
        const isMoved =
          place.start_sample !== row.start_sample || place.length_samples !== row.length_samples;
        const isRedacted = isMoved && redactions.some((span) => isUnder(place, span));
        return { status, error, ...place, silence_wanted: row.silence_wanted + Number(isRedacted) };
      });
    }
  });
}

function collect(changes: Map<number, Change>, event: SessionEvent): void {
  switch (event.type) {
    case "ChunkPlaced":
    case "GapFilled": {
      const { start, length } = event;
      changes.set(event.sequence, { status: "processing", error: "", start, length });
      return;
    }
    case "ChunkTranscribed":
    case "ChunkFailed": {
      const { start = null, length = null } = changes.get(event.sequence) ?? {};
      const failed = event.type === "ChunkFailed";
      const status = failed ? "failed" : "completed";
      const error = failed ? event.message : "";
      changes.set(event.sequence, { status, error, start, length });
      return;
    }
    default:
      return;
  }
}
