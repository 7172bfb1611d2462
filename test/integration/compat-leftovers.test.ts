import { existsSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { CompatLeftovers, leftoversList } from "../../src/openai-deepgram/leftovers-store.ts";
import { PrivacyFixture } from "../support/privacy-fixture.ts";

/** What a process that ended in the middle of a call leaves behind. */
describe("sessions that programs did not keep", () => {
  let privacy: PrivacyFixture;
  beforeAll(async () => {
    privacy = await PrivacyFixture.open();
  });
  afterAll(() => privacy.close());

  async function change(sessionId: string, how: string): Promise<void> {
    await privacy.fixture.sql(`update sessions set ${how} where id = $1`, [sessionId]);
  }

  async function statusOf(sessionId: string): Promise<unknown> {
    const sql = "select status from sessions where id = $1";
    return (await privacy.fixture.sql(sql, [sessionId]))[0]?.status;
  }

  it("leftovers: only what ended a while ago, and was not to be kept, is deleted, once", async () => {
    const [left, young, running, kept] = await Promise.all(
      Array.from({ length: 4 }, () => privacy.record()),
    );
    if (!left || !young || !running || !kept) throw new Error("Four were recorded.");
    const long = "updated_at = now() - interval '6 minutes'";
    const ended = "status = 'completed'";
    await change(left.sessionId, `delete_at_end = true, ${ended}, ${long}`);
    await change(young.sessionId, `delete_at_end = true, ${ended}, updated_at = now()`);
    await change(running.sessionId, `delete_at_end = true, status = 'processing', ${long}`);
    await change(kept.sessionId, `${ended}, ${long}`);
    const leftovers = new CompatLeftovers(privacy.fixture.pool);
    const list = leftoversList(leftovers, privacy.sessions);
    expect(await list.run()).toEqual({ done: 1, more: false });
    expect(await list.run()).toEqual({ done: 0, more: false });
    expect(await statusOf(left.sessionId)).toBe("deleted");
    expect(existsSync(join(privacy.fixture.folder, left.sessionId))).toBe(false);
    expect(await statusOf(young.sessionId)).toBe("completed");
    expect(await statusOf(running.sessionId)).toBe("processing");
    expect(await statusOf(kept.sessionId)).toBe("completed");
  });
});
