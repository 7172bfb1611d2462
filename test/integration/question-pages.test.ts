import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { newId } from "../../src/base/ids.ts";
import {
  ConversationStore,
  PASSAGES_PAGE,
} from "../../src/conversations/questions/conversations-store.ts";
import { SessionFixture } from "../support/session-fixture.ts";
import { SessionStory } from "../support/session-story.ts";

const SECOND = 16_000;

describe("passages of questions", () => {
  let fixture: SessionFixture;
  let sessionId: string;

  beforeAll(async () => {
    fixture = await SessionFixture.open();
    const { device } = await fixture.ownDevice();
    sessionId = await fixture.start(device, { title: "T" });
    const story = await SessionStory.open(fixture, sessionId);
    const segment = story.spoken("S1", 0, "one two");
    const { segmentId, start, end, label } = segment;
    const place = { segmentId, start, end, label, cluster: 0, checkpoint: 0 };
    const begun = { type: "SessionStarted", sessionId, jobId: newId(), language: "en" } as const;
    await story.tell([begun, { type: "SegmentFinalised", ...place }], [segment]);
    await repeat(PASSAGES_PAGE + 1);
  });
  afterAll(() => fixture?.close());

  /** The same segment so many times more, one second after the other. */
  async function repeat(times: number): Promise<void> {
    const columns = await fixture.sql<{ name: string }>(
      `select column_name as name from information_schema.columns
       where table_name = 'segments' and is_generated = 'NEVER'`,
    );
    const names = columns.map(({ name }) => name);
    const values = names.map((name) => {
      if (name === "id") return "gen_random_uuid()";
      return name === "start_sample" || name === "end_sample" ? `${name} + n * ${SECOND}` : name;
    });
    await fixture.sql(
      `insert into segments (${names.join(", ")})
       select ${values.join(", ")} from segments, generate_series(1, ${times}) as n
       where session_id = $1`,
      [sessionId],
    );
  }

  it("passages: are read over several pages in order, each once, up to the limit", async () => {
    const store = new ConversationStore(fixture.pool);
    const [whole] = await store.read([sessionId], PASSAGES_PAGE * 3);
    const starts = whole?.passages.map(({ startMs }) => startMs) ?? [];
    expect(starts).toEqual(Array.from({ length: PASSAGES_PAGE + 2 }, (_, n) => n * 1_000));
    const [limited] = await store.read([sessionId], PASSAGES_PAGE + 1);
    expect(limited?.passages).toHaveLength(PASSAGES_PAGE + 1);
  });
});
