import { join } from "node:path";
import { beforeAll, describe, expect, it } from "vitest";
import { AppFixture } from "../support/app-fixture.ts";
import { call, PairedDevice, scriptedChunks } from "../support/paired-device.ts";
import { until } from "../support/until.ts";
import { voiceOutput } from "../support/voice-run.ts";
import { newOwner } from "../support/workspace-owner.ts";

/** Each sounds like a word of the scripted conversation, to an engine that knows it. */
const NAMES = ["Mondrian", "Marchetti", "Systema", "Custance"];
const LIMIT_MS = 180_000;

interface Comparison {
  transcription_id: string;
  engine: string;
  counts: Record<string, number>;
  edits_replaced: number;
  parts: { kind: string; current?: { text: string }; candidate?: { text: string } }[];
}

describe("redo for review", () => {
  let service: AppFixture;
  let device: PairedDevice;

  beforeAll(async () => {
    service = await AppFixture.shared();
    device = await PairedDevice.pair(service, await newOwner(service, "admin"));
    await device.start();
    const chunks = scriptedChunks(2);
    for (const [n, pcm] of chunks.entries()) await device.upload(n, pcm);
    await device.stop(chunks.length - 1);
    await device.completed();
  }, LIMIT_MS);

  const send = <T = Record<string, unknown>>(method: string, path: string, body?: unknown) =>
    call<T>(service.api, method, `/sessions/${device.sessionId}/transcriptions${path}`, {
      token: device.token,
      ...(body === undefined ? {} : { body }),
    });
  const text = async () => (await device.segments()).map((segment) => segment.text).join(" ");
  const namesIn = (words: string) =>
    NAMES.filter((name) => words.toLowerCase().includes(name.toLowerCase()));

  async function redo(body: object): Promise<void> {
    const { status, body: job } = await send("POST", "", body);
    expect(status).toBe(202);
    const isDone = async () => {
      const { body: now } = await call(service.api, "GET", `/jobs/${String(job.id)}`, {
        token: device.token,
      });
      return now.status === "completed";
    };
    await until(isDone, "the redo to complete", 60_000);
  }

  async function voice(...args: string[]): Promise<string> {
    const connection = ["--base-url", service.api, "--token", device.token];
    const folder = join(service.folder, "config");
    return voiceOutput(["redo", ...args, ...connection], { folder });
  }

  it(
    "redo for review: what a vocabulary would change is seen first, discarded, and accepted another time",
    async () => {
      const before = await device.segments();
      expect(namesIn(await text())).toEqual([]);
      expect((await send("GET", "/candidate")).status).toBe(404);
      await redo({ vocabulary: NAMES, review: true });
      expect(await device.segments()).toEqual(before);

      const { status, body: diff } = await send<Comparison>("GET", "/candidate");
      expect([status, diff.engine]).toEqual([200, "scripted"]);
      const candidate = diff.parts.map((part) => part.candidate?.text ?? "").join(" ");
      expect(namesIn(candidate).length).toBeGreaterThanOrEqual(3);
      const current = diff.parts.flatMap((part) => part.current?.text ?? []).join(" ");
      expect(current).toBe(await text());
      const { same = 0, replaced = 0, removed = 0, speaker_changed: moved = 0 } = diff.counts;
      expect(replaced).toBeGreaterThanOrEqual(3);
      expect(same + moved + replaced + removed).toBe(current.split(" ").length);

      const other = { transcription_id: crypto.randomUUID() };
      expect((await send("POST", "/candidate/accept", other)).status).toBe(409);
      for (let time = 0; time < 2; time += 1) {
        expect((await send("POST", "/candidate/discard")).status).toBe(200);
      }
      expect((await send("POST", "/candidate/accept")).status).toBe(409);
      expect((await send("GET", "/candidate")).status).toBe(404);
      expect(await device.segments()).toEqual(before);

      await redo({ vocabulary: NAMES, review: true });
      const { transcription_id } = (await send<Comparison>("GET", "/candidate")).body;
      for (let time = 0; time < 2; time += 1) {
        const accepted = await send("POST", "/candidate/accept", { transcription_id });
        expect(accepted.body).toMatchObject({ success: true, outcome: "accepted" });
      }
      expect(namesIn(await text()).length).toBeGreaterThanOrEqual(3);
      const ids = before.map(({ id }) => id);
      expect((await device.segments()).some(({ id }) => ids.includes(id))).toBe(false);
    },
    LIMIT_MS,
  );

  it(
    "redo for review: the command shows, accepts and discards",
    async () => {
      const { sessionId } = device;
      const words = await text();
      const asked = await voice("--review", "--vocabulary", "Priceton, Launceston", sessionId);
      expect(asked).toContain(`voice redo diff ${sessionId}`);
      const shown = await voice("diff", sessionId);
      expect(shown).toMatch(/\d\d:\d\d {2}S1 {2}.*\[-.*-\]\{\+.*\+\}/);
      expect(shown).toMatch(/Words: \d+ the same, \d+ replaced/);
      expect(shown).not.toContain("\u001b");
      const { counts } = JSON.parse(await voice("diff", sessionId, "--json")) as Comparison;
      expect(counts.replaced).toBeGreaterThan(0);
      expect(await voice("discard", sessionId)).toContain("the text stays");
      expect(await text()).toBe(words);
      await expect(voice("accept", sessionId)).rejects.toMatchObject({
        code: 1,
        stderr: expect.stringContaining("discarded"),
      });
    },
    LIMIT_MS,
  );
});
