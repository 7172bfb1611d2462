import {
  type SegmentEdits,
  spreadWords,
} from "../../../src/conversations/transcript/segments-store.ts";
import type { TwinParts } from "./twin-journal.ts";

/** Edited texts until the append that puts them in place, over tables in memory. */
export class TwinEdits implements SegmentEdits {
  readonly #parts: TwinParts;

  constructor(parts: TwinParts) {
    this.#parts = parts;
  }

  put(edit: Parameters<SegmentEdits["put"]>[0]): Promise<boolean> {
    const { client, t } = this.#parts;
    const { id, sessionId, segmentId, text, byUserId } = edit;
    return client.transaction(async (tx) => {
      const segment = await tx.run(async (s) => {
        // The session is looked at anew under its lock, the segment as it was when this began.
        const found = s.get(t.segments, `${sessionId}:${segmentId}`);
        if (found === undefined) return undefined;
        const session = await s.lock(
          t.sessions,
          sessionId,
          "share",
          ({ status }) => status !== "deleted",
        );
        return session && found;
      });
      if (segment === undefined) return false;
      const { start_sample: start, end_sample: end, confidence } = segment;
      const words = JSON.stringify(spreadWords(text, { start, end, confidence }));
      await tx.run((s) =>
        s.insertNew(t.edits, {
          id,
          session_id: sessionId,
          segment_id: segmentId,
          text,
          words,
          by_user_id: byUserId,
        }),
      );
      return true;
    });
  }
}
