import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { PlanFixture } from "../support/plan-fixture.ts";
import { isWasteful } from "../support/plan-recorder.ts";
import { createTestDatabase, superuserUrl } from "../support/postgres.ts";
import { beginningsOf } from "../support/store-statements.ts";
import { until } from "../support/until.ts";

/** Where the statements are that run while sessions live, whether anybody asks for something or not. */
const RUNNING = [
  "access/audit-entries-store",
  "access/ended-rights-store",
  "features/accounts/sign-in-store",
  "features/admin/overview-store",
  "features/devices/heartbeats-store",
  "features/devices/presence-store",
  "features/erasure/session-erasure-store",
  "features/graph/build-store",
  "features/jobs/queue-store",
  "features/questions/search-store",
  "features/recording/chunk-store",
  "features/recording/device-sessions-store",
  "features/recording/open-chunks-store",
  "features/recording/playback-store",
  "features/recording/silent-sessions-store",
  "features/recording/stream-store",
  "features/sessions/list-store",
  "features/sessions/session-facts-store",
  "features/summaries/job-store",
  "features/transcript/audio-inventories-store",
  "features/transcript/chunks-store",
  "features/transcript/redaction-store",
  "features/transcript/segments-store",
  "features/webhooks/queue-store",
  "journal/chunk-projection",
  "journal/projection",
  "journal/redaction-projection",
  "journal/session-journal",
  "journal/session-writes",
  "live/replay-store",
  "postgres/ceilings",
  "postgres/command-outcomes",
  "postgres/outbox",
  "postgres/outbox-backlog",
  "postgres/parked-commands",
  "postgres/waiting-work",
  "recognition/session-audio-store",
];

describe("plans of statements, in a database of many sessions", () => {
  let fixture: PlanFixture;
  beforeAll(async () => {
    const database = await createTestDatabase();
    const adminUrl = superuserUrl(database);
    fixture = await PlanFixture.open(
      { database, adminUrl },
      { sessions: 1_000, chunks: 100, commands: 5_000 },
    );
  });
  afterAll(() => fixture?.close());

  it("plans: no statement reads much to throw it away, nor a growing table from end to end", async () => {
    await Promise.all([fixture.live(), fixture.stream()]);
    await fixture.askEverything();
    await fixture.askLists();
    const unseen = (): string[] => {
      const texts = fixture.recorder.statements.map(({ text }) => text);
      const ran = (beginning: string) => texts.some((text) => text.includes(beginning));
      return RUNNING.filter((name) => !beginningsOf(name).some(ran));
    };
    await until(() => unseen().length === 0, "every store to be asked", 20_000).catch(() => {});
    expect(unseen()).toEqual([]);
    const wasteful = fixture.recorder.statements.filter(isWasteful);
    expect(wasteful.map(({ text, verdict }) => ({ ...verdict, text }))).toEqual([]);
    expect(fixture.recorder.statements.length).toBeGreaterThan(200);
  });
});
