import { createHash } from "node:crypto";
import { setTimeout as delay } from "node:timers/promises";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { AppFixture } from "../support/app-fixture.ts";
import { S3Server } from "../support/audio-store/s3-server.ts";
import { ACCESS_KEY, SECRET_KEY } from "../support/audio-store/s3-signature.ts";
import { PairedDevice, PCM } from "../support/paired-device.ts";
import { scrapeQueues } from "../support/scraped-metrics.ts";
import { until } from "../support/until.ts";

/** How long the bucket is away, seconds: a minute every night, ten once for a release. */
const OUTAGE_S = Number(process.env.VOICE_S3_OUTAGE_S ?? 60);
/** Each kind of trouble comes so often. */
const ROUNDS = 2;
const TROUBLES = ["refused", "away", "busy", "hanging"] as const;
/** Devices that wait as long as they are told, and such as come again at once. */
const PATIENT = 4;
const HASTY = 2;
const HASTY_MS = 500;
/** Of the resident memory in the outage, bytes: what 20 s of waiting uploads hold, with room. */
const MOST_GROWTH = 256 * 1024 * 1024;
/** One second of sound. */
const CHUNK_BYTES = 32_000;
const BETWEEN_MS = 1_000;
/** So long a machine that is busy with other things may take. */
const PATIENCE_MS = 300_000;
const ANSWER_MS = 120_000;
const SAVED = ["AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY"] as const;

interface Tally {
  requests: number;
  /** Chunks of each device. */
  stored: number[];
  refused: number;
  /** Requests whose connection ended without an answer, as one that was kept too long may. */
  broken: number;
  /** Answers that a device is not told to come again by. */
  wrong: string[];
}

describe("a bucket that is away under load", () => {
  const server = new S3Server();
  const before = SAVED.map((name) => process.env[name]);
  let service: AppFixture;

  beforeAll(async () => {
    await server.start();
    process.env.AWS_ACCESS_KEY_ID = ACCESS_KEY;
    process.env.AWS_SECRET_ACCESS_KEY = SECRET_KEY;
    service = await AppFixture.start({
      AUDIO_STORE: `s3://${server.bucket}/voice`,
      AUDIO_S3_ENDPOINT: server.endpoint,
      AUDIO_S3_PATH_STYLE: "1",
    });
  });
  afterAll(async () => {
    for (const [n, name] of SAVED.entries()) {
      const value = before[n];
      if (value === undefined) delete process.env[name];
      else process.env[name] = value;
    }
    await service?.stop();
    await server.stop();
  });

  /** Sends chunks one after the other, each until it is stored, for as long as `goesOn`. */
  async function record(
    { device, n }: { device: PairedDevice; n: number },
    goesOn: () => boolean,
    tally: Tally,
  ): Promise<Buffer[]> {
    const sent: Buffer[] = [];
    const url = `${service.api}/sessions/${device.sessionId}/upload-audio`;
    while (goesOn()) {
      const chunk = Buffer.alloc(CHUNK_BYTES);
      chunk.write(`${device.id} ${sent.length}`);
      for (;;) {
        const headers = {
          ...{ "x-api-key": device.key, "content-type": PCM },
          "x-chunk-sequence": String(sent.length),
        };
        const signal = AbortSignal.timeout(ANSWER_MS);
        tally.requests += 1;
        const request = fetch(url, { method: "POST", headers, body: chunk, signal });
        const response = await request.catch((error: unknown) => {
          if (!(error instanceof TypeError)) throw error;
          return undefined;
        });
        if (response === undefined) {
          tally.broken += 1;
          await delay(HASTY_MS);
          continue;
        }
        const text = await response.text();
        if (response.status === 201 || response.status === 200) break;
        tally.refused += 1;
        const told = Number(response.headers.get("retry-after")) * 1_000;
        if (response.status !== 503 || !(told > 0)) tally.wrong.push(`${response.status} ${text}`);
        await delay(n < PATIENT ? told : HASTY_MS);
      }
      tally.stored[n] = sent.length + 1;
      sent.push(chunk);
      await delay(BETWEEN_MS);
    }
    return sent;
  }

  /** Has each trouble in turn, and the bucket well again at the end. */
  async function trouble(): Promise<void> {
    const { port } = new URL(server.endpoint);
    const each = (OUTAGE_S * 1_000) / (ROUNDS * TROUBLES.length);
    for (let round = 0; round < ROUNDS; round += 1) {
      for (const kind of TROUBLES) {
        if (kind === "refused") await server.stop();
        else server.mood = kind;
        await delay(each);
        if (kind === "refused") await server.start(Number(port));
      }
    }
    server.mood = "well";
  }

  /** What the process holds and what waits in it, looked at once a second. */
  function watched() {
    const rest = process.memoryUsage().rss;
    const seen = { rest, most: rest, longest: 0, full: [] as string[] };
    const timer = setInterval(() => {
      seen.most = Math.max(seen.most, process.memoryUsage().rss);
      scrapeQueues(service.ready.ops_url ?? "").then(
        ({ queues }) => {
          seen.longest = Math.max(seen.longest, queues.get("audio_files")?.length ?? 0);
          for (const [name, { length, limit }] of queues) {
            if (length > limit) seen.full.push(`${name} ${length} of ${limit}`);
          }
        },
        (error: unknown) => seen.full.push(String(error)),
      );
    }, 1_000);
    return { seen, end: () => clearInterval(timer) };
  }

  /** Records through the trouble, and until each device had something stored after it. */
  async function recordThrough(devices: readonly PairedDevice[], tally: Tally) {
    let isOver = false;
    const recordings = devices.map((device, n) => record({ device, n }, () => !isOver, tally));
    const beyond = async (counts: readonly number[], what: string, enough: "some" | "every") => {
      const isStored = (count: number, n: number) => (tally.stored[n] ?? 0) > count;
      await until(() => counts[enough](isStored), what, PATIENCE_MS);
    };
    try {
      await beyond([...tally.stored], "all devices to record", "every");
      const asked = server.asked.length / tally.stored.reduce((sum, each) => sum + each, 0);
      const { seen, end } = watched();
      await trouble();
      end();
      const [back, stored] = [performance.now(), [...tally.stored]];
      await beyond(stored, "the first upload to be stored again", "some");
      const firstMs = performance.now() - back;
      await beyond(stored, "each device's upload to be stored again", "every");
      const healedMs = performance.now() - back;
      isOver = true;
      return { ...seen, asked, firstMs, healedMs, sent: await Promise.all(recordings) };
    } finally {
      isOver = true;
      await Promise.allSettled(recordings);
    }
  }

  it(`${OUTAGE_S} s without it: uploads are asked to come again, nothing is lost, and it heals`, {
    timeout: OUTAGE_S * 1_000 + 4 * PATIENCE_MS,
  }, async () => {
    const devices: PairedDevice[] = [];
    for (let n = 0; n < PATIENT + HASTY; n += 1) {
      const device = await PairedDevice.pair(service);
      await device.start();
      devices.push(device);
    }
    const tally: Tally = {
      requests: 0,
      stored: devices.map(() => 0),
      refused: 0,
      broken: 0,
      wrong: [],
    };
    const { sent, rest, most, longest, full, ...times } = await recordThrough(devices, tally);
    let lost = 0;
    for (const [n, device] of devices.entries()) {
      const chunks = sent[n] ?? [];
      await device.stop(chunks.length - 1);
      await device.completed();
      const { body } = await device.get<{ complete: boolean }>("/completeness");
      if (!body.complete) lost += 1;
      for (const chunk of chunks) {
        const name = createHash("sha256").update(chunk).digest("hex");
        const kept = server.objects.get(`voice/${device.sessionId}/${name}`);
        if (kept?.data.equals(chunk) !== true) lost += 1;
      }
    }
    const mega = (bytes: number) => Math.round(bytes / 1e6);
    const stored = tally.stored.reduce((sum, each) => sum + each, 0);
    console.log(
      `S3 away for ${OUTAGE_S} s: ${tally.requests} requests, ${stored} stored, ${tally.refused} answers of 503, ${tally.broken} without one, ${lost} lost; first stored ${Math.round(times.firstMs)} ms after it was back, all devices ${Math.round(times.healedMs)} ms; at most ${longest} files waited; resident ${mega(rest)} MB before, at most ${mega(most)} MB; ${times.asked.toFixed(1)} requests to it for an upload before`,
    );
    expect(tally.wrong).toEqual([]);
    expect(tally.refused).toBeGreaterThan(devices.length);
    expect(lost).toBe(0);
    expect(full).toEqual([]);
    expect(most - rest).toBeLessThan(MOST_GROWTH);
  });
});
