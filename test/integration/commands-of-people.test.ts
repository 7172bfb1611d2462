import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { newId } from "../../src/base/ids.ts";
import { CommandFixture } from "../support/command-fixture.ts";
import { until } from "../support/until.ts";

/** Longer than any of these tests; each heals it. */
const FOR_GOOD = 60_000;

describe("wishes of people", () => {
  let wishes: CommandFixture;
  beforeAll(async () => {
    wishes = await CommandFixture.open();
  });
  afterAll(() => wishes?.close());

  it("wish: what its caller was told was not done is not done later, whatever the clocks say", async () => {
    const spoken = await wishes.speak("as it was heard");
    const away = wishes.ways.host.inflict({ kind: "stall", ms: FOR_GOOD });
    const first = await wishes.edit(spoken, "x");
    expect(first).toMatchObject({ status: 503, code: "unavailable" });
    expect(first.message).toContain("not done");
    wishes.ways.host.heal();
    await away;
    expect(await wishes.edit(spoken, "y")).toMatchObject({ status: 200, text: "y" });
    expect(await wishes.said(spoken)).toEqual({ text: "y", edits: 1 });
  });

  it("wish: one that was done is answered, though the host's answer is lost", async () => {
    const spoken = await wishes.speak("as it was heard");
    wishes.isMute = true;
    expect(await wishes.edit(spoken, "x")).toMatchObject({ status: 200, text: "x" });
    wishes.isMute = false;
    expect(await wishes.said(spoken)).toEqual({ text: "x", edits: 1 });
  });

  it("wish: when the record is away as well nobody can tell, and the same key tells later", async () => {
    const spoken = await wishes.speak("as it was heard");
    const key = newId();
    wishes.isMute = true;
    const asked = wishes.edit(spoken, "x", key);
    await until(async () => (await wishes.said(spoken)).edits === 1, "the edit");
    const away = wishes.ways.front.inflict({ kind: "stall", ms: FOR_GOOD });
    expect(await asked).toMatchObject({ status: 503, code: "outcome_unknown" });
    wishes.ways.front.heal();
    await away;
    wishes.isMute = false;
    expect(await wishes.edit(spoken, "x", key)).toMatchObject({ status: 200, text: "x" });
    expect(await wishes.edit(spoken, "x", key)).toMatchObject({ status: 200, text: "x" });
    expect((await wishes.said(spoken)).edits).toBe(1);
    // Another wish is another one, with a key or without.
    expect(await wishes.edit(spoken, "y", key)).toMatchObject({ status: 200, text: "y" });
    expect(await wishes.edit(spoken, "z")).toMatchObject({ status: 200, text: "z" });
    expect((await wishes.said(spoken)).edits).toBe(3);
  });

  it("wish: an edit on a condition that is asked again is not refused for what it changed itself", async () => {
    const spoken = await wishes.speak("as it was heard");
    const [key, tag] = [newId(), await wishes.tag(spoken)];
    expect(tag).not.toBe("");
    const first = await wishes.edit(spoken, "x", key, tag);
    expect(first).toMatchObject({ status: 200, text: "x" });
    expect(await wishes.edit(spoken, "x", key, tag)).toMatchObject({ status: 200, text: "x" });
    const stale = { status: 412, code: "precondition_failed" };
    expect(await wishes.edit(spoken, "y", key, tag)).toMatchObject(stale);
    expect(await wishes.edit(spoken, "x", newId(), tag)).toMatchObject(stale);
    expect(await wishes.edit(spoken, "x", undefined, tag)).toMatchObject(stale);
    expect(await wishes.said(spoken)).toEqual({ text: "x", edits: 1 });
  });

  it("news: what is told twice, at once or later, is one event and one webhook", async () => {
    const { sessionId, workspaceId } = await wishes.speak("as it was heard");
    await wishes.fixture.sql(
      "insert into webhooks (id, workspace_id, url, secret) values ($1, $2, 'https://h.test', '')",
      [newId(), workspaceId],
    );
    const told = async () => {
      const rows = await wishes.fixture.sql<{ type: string; count: number }>(
        `select type, count(*)::int from events
         where session_id = $1 and type = any($2) group by type
         union all
         select event_type, count(*)::int from webhook_deliveries
         where data->>'session_id' = $1::text group by event_type order by 1`,
        [sessionId, ["SummaryUpdated", "ConcernRaised"]],
      );
      return rows.map(({ type, count }) => `${type} ${count}`);
    };
    const news = [
      { type: "SummaryStored", jobId: newId(), summaryType: "notes" },
      { type: "ConcernStored", concernId: newId() },
    ].map((command) => ({ command, id: newId() }));
    // As the bus and the sweep both do when an actor takes long to be there.
    const tell = () =>
      Promise.all(
        news.flatMap(({ command, id }) => [
          wishes.tell(sessionId, command, id),
          wishes.tell(sessionId, command, id),
        ]),
      );
    await tell();
    await wishes.forget(sessionId);
    await tell();
    expect(await told()).toEqual([
      "ConcernRaised 1",
      "SummaryUpdated 1",
      "concern.raised 1",
      "summary.completed 1",
    ]);
  });
});
