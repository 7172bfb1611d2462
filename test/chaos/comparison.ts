import { writeFileSync } from "node:fs";
import { join } from "node:path";
import type { Crew } from "./crew.ts";
import type { Recording } from "./recording.ts";
import { completed, type Examiner, type Outcome, readOutcome } from "./verdict.ts";

export interface ChaosFigures {
  readonly sessions: number;
  readonly chunks: number;
  readonly viewers: number;
  readonly events: number;
  readonly reconnects: number;
  readonly retries: number;
}

/** Writes the events of sessions that are not as they should be into a folder. */
export async function keepEvidence(
  examiner: Examiner,
  recordings: readonly Recording[],
  folder: string | undefined,
): Promise<void> {
  if (folder === undefined) return;
  for (const { sessionId } of recordings) {
    const lines = await examiner.history(sessionId);
    writeFileSync(join(folder, `${sessionId}.events`), `${lines.join("\n")}\n`);
  }
}

/** What sessions came to that nothing disturbed. */
export function readCalmly(
  recordings: readonly Recording[],
  direct: Crew["user"],
): Promise<Outcome[]> {
  const outcomes = recordings.map(async ({ sessionId }) => {
    await completed(direct, sessionId);
    return readOutcome(direct, sessionId);
  });
  return Promise.all(outcomes);
}

export function figuresOf(crews: readonly Crew[]): ChaosFigures {
  const recordings = crews.flatMap((crew) => crew.recordings);
  const followers = recordings.flatMap((each) => each.followers);
  return {
    sessions: recordings.length,
    chunks: recordings.reduce((sum, { chunks }) => sum + chunks.length, 0),
    viewers: followers.length,
    events: followers.reduce((sum, { seqs }) => sum + seqs.length, 0),
    reconnects: followers.reduce((sum, { reconnects }) => sum + reconnects, 0),
    retries: crews.reduce((sum, { retries }) => sum + retries, 0),
  };
}
