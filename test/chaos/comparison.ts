import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { until } from "../support/until.ts";
import type { Crew } from "./crew.ts";
import { type Outcome, readOutcome } from "./outcome.ts";
import type { Recording } from "./recording.ts";
import type { Examiner } from "./verdict.ts";

const SETTLE_MS = 240_000;

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

async function completed(user: Crew["user"], sessionId: string): Promise<void> {
  const params = { path: { session_id: sessionId } };
  const isCompleted = async (): Promise<boolean> => {
    const session = await user.call((client) => client.GET("/sessions/{session_id}", { params }));
    return session.status === "completed";
  };
  await until(isCompleted, `session ${sessionId} to complete`, SETTLE_MS);
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
