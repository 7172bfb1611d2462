import { readFileSync } from "node:fs";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { systemClock } from "../../src/base/clock.ts";
import { silentLog } from "../../src/base/log.ts";
import { WorkerClient } from "../../src/inference/worker-client.ts";
import { WorkerServer } from "../../workers/grpc/server.ts";
import { InferencePool } from "../../workers/inference/inference-pool.ts";
import { ThreadPool } from "../../workers/threads/pool.ts";
import { TranscribeProbe } from "../support/transcribe-probe.ts";
import { WORKER_KEY } from "../support/worker-key.ts";

const ENTRY = new URL("../support/fragile-thread-entry.ts", import.meta.url);
const CONVERSATION = new URL("../../deploy/demo/conversation.wav", import.meta.url);
const WAV_HEADER_BYTES = 44;
const CHUNK = 2 * 16_000;
const MEDIA_TYPE = "audio/pcm;rate=16000;channels=1;encoding=s16le";
const LIMIT_MS = 120_000;

/** The shipped conversation in chunks of two seconds. */
const pcm = readFileSync(CONVERSATION).subarray(WAV_HEADER_BYTES);
const chunks = Array.from({ length: Math.ceil(pcm.byteLength / (2 * CHUNK)) }, (_, sequence) => {
  const data = pcm.subarray(sequence * 2 * CHUNK, (sequence + 1) * 2 * CHUNK);
  return { sequence, start: sequence * CHUNK, length: data.byteLength / 2, data };
});

let inference: InferencePool;
let pool: ThreadPool;
let server: WorkerServer;
let client: WorkerClient;
let address: string;
let undisturbed: [TranscribeProbe, TranscribeProbe];

beforeAll(async () => {
  inference = new InferencePool({ threads: 1 });
  await inference.start();
  pool = new ThreadPool({
    threads: 2,
    sessionsPerThread: 2,
    entry: ENTRY,
    connect: () => inference.connect(),
    clock: systemClock,
    log: silentLog,
    // A busy machine is no silent thread.
    silenceMs: 60_000,
  });
  await pool.start();
  const identity = { workerId: "speech", version: "0.0.0", key: WORKER_KEY };
  server = new WorkerServer({ ...identity, host: "127.0.0.1", port: 0, pool, log: silentLog });
  address = `127.0.0.1:${await server.start()}`;
  client = new WorkerClient();
  undisturbed = await Promise.all([readAll(), readAll()]);
}, 2 * LIMIT_MS);

afterAll(async () => {
  client.close();
  await server.stop(0);
  await pool.stop();
  inference.stop();
});

function start(): TranscribeProbe {
  return new TranscribeProbe(client.openTranscription(address, { key: WORKER_KEY }));
}

function send(probe: TranscribeProbe, from: number, to = chunks.length): void {
  for (const { sequence, start, length, data } of chunks.slice(from, to)) {
    probe.chunk(sequence, start, length, MEDIA_TYPE, data);
  }
}

async function readAll(): Promise<TranscribeProbe> {
  const probe = start();
  probe.open();
  send(probe, 0);
  probe.finish();
  expect(await probe.end(LIMIT_MS)).toBeUndefined();
  return probe;
}

describe("worker: speech", () => {
  it("reads two sessions at once, each as the other", async () => {
    const [one, two] = undisturbed;
    expect(one.words().length).toBeGreaterThan(40);
    expect(one.words()).toEqual(two.words());
    await expect.poll(() => pool.sessions, { timeout: 20_000 }).toBe(0);
  });

  it(
    "goes on elsewhere when a thread dies, with the same words",
    async () => {
      const hit = start();
      hit.open();
      const middle = Math.floor(chunks.length / 2);
      send(hit, 0, middle);
      await hit.until("utterance", 2, LIMIT_MS);
      hit.chunk(middle, middle * CHUNK, CHUNK, "test/crash");
      expect((await hit.end(LIMIT_MS))?.code).toBe("worker_broken");

      const checkpoint = hit.checkpoints().at(-1);
      if (checkpoint === undefined) throw new Error("No checkpoint came before the crash.");
      const resumed = start();
      resumed.open({ checkpoint });
      send(resumed, Math.max(0, Math.floor(checkpoint.position / CHUNK) - 1));
      resumed.finish();
      expect(await resumed.end(LIMIT_MS)).toBeUndefined();
      expect([...hit.words(), ...resumed.words()]).toEqual(undisturbed[0].words());
    },
    3 * LIMIT_MS,
  );
});
