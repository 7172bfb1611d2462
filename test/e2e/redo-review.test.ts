import { execFile } from "node:child_process";
import { join } from "node:path";
import { promisify } from "node:util";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { layTurns, seededRandom, speak } from "../eval/made-conversation.ts";
import { call, PairedDevice } from "../support/paired-device.ts";
import { until } from "../support/until.ts";
import { WholeService } from "../support/whole-service.ts";

const MAIN = join(import.meta.dirname, "../../src/cli/main.ts");
const SAID = [
  "the report about Okonkwo came from Tolliver last week",
  "please ask Marisol whether Sokolov can come to the meeting",
];
const NAMES = ["Okonkwo", "Tolliver", "Marisol", "Sokolov"];
const CHUNK = 2 * 32_000;
const LIMIT_MS = 180_000;

interface Comparison {
  transcription_id: string;
  engine: string;
  counts: Record<string, number>;
  edits_replaced: number;
  parts: { kind: string; current?: { text: string }; candidate?: { text: string } }[];
}

describe("redo for review", () => {
  let service: WholeService;
  let device: PairedDevice;

  beforeAll(async () => {
    service = await WholeService.start();
    device = await PairedDevice.pair(service);
    const turns: { speaker: string; pcm: Int16Array }[] = [];
    for (const text of SAID) turns.push({ speaker: "slt", pcm: await speak("slt", text) });
    const { pcm } = layTurns("", turns, seededRandom(1));
    const bytes = Buffer.from(pcm.buffer, pcm.byteOffset, pcm.byteLength);
    await device.start();
    const count = Math.ceil(bytes.length / CHUNK);
    for (let n = 0; n < count; n += 1) {
      await device.upload(n, bytes.subarray(n * CHUNK, (n + 1) * CHUNK));
    }
    await device.stop(count - 1);
    await device.completed();
  }, LIMIT_MS);
  afterAll(() => service?.stop());

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
    const flags = ["--disable-warning=ExperimentalWarning", MAIN, "redo", ...args];
    const connection = ["--base-url", service.api, "--token", device.token];
    const env = { PATH: process.env.PATH, XDG_CONFIG_HOME: join(service.folder, "config") };
    const { stdout } = await promisify(execFile)(process.execPath, [...flags, ...connection], {
      env,
    });
    return stdout;
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
      expect([status, diff.engine]).toEqual([200, "moonshine-tiny-en"]);
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
      const asked = await voice("--review", "--vocabulary", "Kubernetes, Silver Fern", sessionId);
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
