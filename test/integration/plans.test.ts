import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { isWasteful } from "../support/plan-recorder.ts";
import { PlanStage } from "../support/plan-stage.ts";
import { createTestDatabase, superuserUrl } from "../support/postgres.ts";
import { beginningsOf } from "../support/store-statements.ts";
import { until } from "../support/until.ts";

/** Where the statements are that run while sessions live, whether anybody asks for something or not. */
const RUNNING = [
  "audio-inventories",
  "audio-streams",
  "audit-entries",
  "chunk-group",
  "chunk-projection",
  "chunk-standing",
  "chunks",
  "chunks-listing",
  "command-outcomes",
  "ended-rights",
  "graph-builds",
  "heartbeats",
  "job-queue",
  "live-beat",
  "live-log",
  "logins",
  "outbox-backlog",
  "outbox-writer",
  "overview",
  "parked-commands",
  "projection",
  "recording-devices",
  "redacted-spans",
  "redaction-projection",
  "redactions",
  "retention",
  "segments",
  "session-audio",
  "session-backlog",
  "session-deletion",
  "session-facts",
  "session-journal",
  "session-recordings",
  "session-writes",
  "sessions-device",
  "silent-sessions",
  "summary-book",
  "transcript-search",
  "unsealed-chunks",
  "waiting-work",
  "webhook-events",
  "webhook-queue",
];

describe("plans of statements, in a database of many sessions", () => {
  let stage: PlanStage;
  beforeAll(async () => {
    const database = await createTestDatabase();
    const adminUrl = superuserUrl(database);
    stage = await PlanStage.open(
      { database, adminUrl },
      { sessions: 1_000, chunks: 100, commands: 5_000 },
    );
  });
  afterAll(() => stage?.close());

  it("plans: no statement reads much to throw it away, nor a growing table from end to end", async () => {
    await Promise.all([stage.live(), stage.stream()]);
    await stage.askEverything();
    const unseen = (): string[] => {
      const texts = stage.recorder.statements.map(({ text }) => text);
      const ran = (beginning: string) => texts.some((text) => text.includes(beginning));
      return RUNNING.filter((name) => !beginningsOf(name).some(ran));
    };
    await until(() => unseen().length === 0, "every store to be asked", 20_000).catch(() => {});
    expect(unseen()).toEqual([]);
    const wasteful = stage.recorder.statements.filter(isWasteful);
    expect(wasteful.map(({ text, verdict }) => ({ ...verdict, text }))).toEqual([]);
    expect(stage.recorder.statements.length).toBeGreaterThan(200);
  });
});
