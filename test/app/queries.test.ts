import { beforeAll, describe, expect, it } from "vitest";
import { AppFixture } from "../support/app-fixture.ts";
import { call, PairedDevice, type Segment, scriptedChunks } from "../support/paired-device.ts";
import { newOwner } from "../support/workspace-owner.ts";

interface Answer {
  answer: string;
  tools_used: string[];
  citations: { session_id: string; segment_id: string; speaker_label: string; text: string }[];
}

describe("queries", () => {
  let service: AppFixture;
  let device: PairedDevice;
  let segments: Segment[];

  beforeAll(async () => {
    service = await AppFixture.shared();
    device = await PairedDevice.pair(service, await newOwner(service, "admin"));
    await device.start();
    const chunks = scriptedChunks(4);
    for (const [sequence, pcm] of chunks.entries()) await device.upload(sequence, pcm);
    await device.stop(chunks.length - 1);
    await device.completed();
    segments = await device.segments();
  });

  async function ask(path: string, query: string): Promise<Answer> {
    const { token } = device;
    const { status, body } = await call<Answer>(service.api, "POST", path, {
      token,
      body: { query },
    });
    expect(status).toBe(200);
    return body;
  }

  /** The segment in which the words were recognised. */
  function saying(words: RegExp): string {
    const segment = segments.find(({ text }) => words.test(text));
    if (segment === undefined) throw new Error(`Nobody said ${words}.`);
    return segment.id;
  }

  it.each([
    ["What should the price stay below?", /hundred/],
    ["When do we need the final report?", /final report/],
    ["Who will write to the customers?", /customers/],
  ])("queries: %s", async (query, words) => {
    const answer = await ask(`/sessions/${device.sessionId}/hirag-query`, query);
    expect(answer.citations.map(({ segment_id }) => segment_id)).toContain(saying(words));
    expect(answer.answer).toMatch(/said at 00:\d\d/);
    for (const { segment_id, text } of answer.citations) {
      expect(segments.find(({ id }) => id === segment_id)?.text).toBe(text);
    }
  });

  it("queries: what was never said is not answered", async () => {
    const path = `/sessions/${device.sessionId}/hirag-query`;
    expect(await ask(path, "What did they say about elephants?")).toMatchObject({
      answer: "I found nothing about that in this conversation.",
      citations: [],
    });
    const { status } = await call(service.api, "POST", path, {
      token: device.token,
      body: { query: "x".repeat(2_001) },
    });
    expect(status).toBe(400);
  });

  it("queries: the workspace answers and is searched", async () => {
    const { token } = device;
    const { body: record } = await device.get<{ workspace_id: string }>("");
    const path = `/workspaces/${record.workspace_id}`;
    const answer = await ask(`${path}/agentic-query`, "Which sessions speak of the price?");
    expect(answer.citations.map(({ session_id }) => session_id)).toEqual([device.sessionId]);
    expect(answer.tools_used).toContain("list_sessions");
    const found = await call<{ items: { segment_id: string; snippet: string }[] }>(
      service.api,
      "GET",
      `${path}/search?q=customers`,
      { token },
    );
    expect(found.body.items[0]?.segment_id).toBe(saying(/customers/));
    expect(found.body.items[0]?.snippet).toContain("<mark>customers</mark>");
  });
});
