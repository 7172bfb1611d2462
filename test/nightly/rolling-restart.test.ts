import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type Answer, adminToken, call, cut, PairedDevice, PCM } from "../support/paired-device.ts";
import { until } from "../support/until.ts";
import { Viewer } from "../support/viewer.ts";
import { type PartName, WholeService } from "../support/whole-service.ts";

const DEVICES = 3;
const CHUNKS = 20;
const EXIT_MS = 25_000;

/** What a client may meet while a front goes away: no connection, or a front that says so. */
const REFUSED = new Set([503]);

describe("rolling restart", () => {
  let service: WholeService;
  beforeAll(async () => {
    service = await WholeService.start({ VOICE_CLUSTER: "1", DRAIN_MS: "2000" });
  });
  afterAll(() => service?.stop());

  const [piece] = cut(1);
  const failures: string[] = [];

  /** One upload through any front; the other one when a front refuses. */
  async function upload(device: PairedDevice, sequence: number): Promise<Answer> {
    for (let turn = sequence; ; turn += 1) {
      const front = service.ready.fronts[turn % 2]?.base_url;
      const headers = { "content-type": PCM, "x-chunk-sequence": String(sequence) };
      const path = `/sessions/${device.sessionId}/upload-audio`;
      try {
        const bytes = piece as Buffer;
        const options = { key: device.key, bytes, headers };
        const answer = await call(`${front}/api`, "POST", path, options);
        if (answer.status < 300) return answer;
        if (!REFUSED.has(answer.status)) failures.push(`${sequence}: ${answer.status}`);
      } catch (error) {
        if (!(error instanceof TypeError)) throw error;
      }
      await new Promise((wake) => setTimeout(wake, 100));
    }
  }

  /** Ends a part as a deployment does; the milliseconds until the process was gone. */
  async function restart(part: PartName): Promise<number> {
    const pid = service.signal(part, "SIGTERM");
    const startedAt = performance.now();
    await until(() => !isRunning(pid), `${part} to exit`, EXIT_MS * 2);
    const took = performance.now() - startedAt;
    await service.replaced(part, pid);
    return took;
  }

  it("rolling restart: every acknowledged chunk is there once, and nothing else failed", async () => {
    const token = await adminToken(service);
    const devices = await Promise.all(
      Array.from({ length: DEVICES }, () => PairedDevice.pair(service)),
    );
    await Promise.all(devices.map((device) => device.start()));
    await service.balanced(60_000);
    const live = service.ready.fronts[0]?.live_url ?? "";
    const viewer = await new Viewer(live, { authorization: `Bearer ${token}` }).opened();
    let rolling = true;
    const sent = devices.map(async (device) => {
      let sequence = 0;
      // At least so many, and until the last part is back.
      for (; rolling || sequence < CHUNKS; sequence += 1) {
        const { status } = await upload(device, sequence);
        if (status !== 201 && status !== 200) failures.push(`${sequence}: ${status}`);
        await new Promise((wake) => setTimeout(wake, 500));
      }
      return sequence;
    });
    const exits: number[] = [];
    for (const part of ["front-1", "sessions-1", "front-2", "sessions-2"] as const) {
      exits.push(await restart(part));
      await service.balanced(60_000);
    }
    rolling = false;
    const counts = await Promise.all(sent);
    expect(failures).toEqual([]);
    expect(Math.max(...exits)).toBeLessThan(EXIT_MS);
    expect(await viewer.closed()).toBe(1001);
    for (const [n, device] of devices.entries()) {
      await device.stop((counts[n] ?? 0) - 1);
      await device.completed();
      const chunks = await device.chunks();
      const sequences = chunks.map(({ chunk_sequence }) => chunk_sequence);
      expect(sequences).toEqual(Array.from({ length: counts[n] ?? 0 }, (_, each) => each));
      expect(chunks.filter((each) => each.transcription_status !== "completed")).toEqual([]);
    }
    console.info(`exits after ${exits.map((ms) => `${(ms / 1000).toFixed(1)} s`).join(", ")}`);
  });
});

function isRunning(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false;
  }
}
