import { Client, credentials, Metadata } from "@grpc/grpc-js";
import { service as healthService } from "grpc-health-check";
import { afterEach, describe, expect, it } from "vitest";
import { systemClock } from "../../src/base/clock.ts";
import { delay } from "../../src/base/deferred.ts";
import { silentLog } from "../../src/base/log.ts";
import { WorkerClient } from "../../src/inference/worker-client.ts";
import { WorkerTokens } from "../../src/wire/worker-token.ts";
import { WorkerServer } from "../../workers/grpc/server.ts";
import { ThreadPool } from "../../workers/threads/pool.ts";
import { TranscribeProbe } from "../support/transcribe-probe.ts";

const SECOND = 16_000;
const ENTRY = new URL("../support/scripted-thread-entry.ts", import.meta.url);
const PATIENT = { timeout: 20_000 };
const KEY = "a-service-key-of-this-test";

let cleanups: (() => Promise<void> | void)[] = [];
afterEach(async () => {
  for (const cleanup of cleanups.reverse()) await cleanup();
  cleanups = [];
});

interface ServerOptions {
  threads?: number;
  sessions?: number;
  silenceMs?: number;
}

async function startServer(options: ServerOptions = {}) {
  const pool = new ThreadPool({
    threads: options.threads ?? 1,
    sessionsPerThread: options.sessions ?? 4,
    ...(options.silenceMs === undefined ? {} : { silenceMs: options.silenceMs }),
    entry: ENTRY,
    clock: systemClock,
    log: silentLog,
  });
  await pool.start();
  cleanups.push(() => pool.stop());
  const server = new WorkerServer({
    workerId: "test-worker",
    version: "0.0.0",
    host: "127.0.0.1",
    port: 0,
    key: KEY,
    pool,
    log: silentLog,
  });
  const address = `127.0.0.1:${await server.start()}`;
  cleanups.push(() => server.stop(0));
  const client = new WorkerClient();
  cleanups.push(() => client.close());
  return { pool, server, address, client };
}

function openProbe(
  client: WorkerClient,
  address: string,
  key: string | undefined = KEY,
): TranscribeProbe {
  return new TranscribeProbe(client.openTranscription(address, { key }));
}

describe("worker: a stream", () => {
  it("answers Opened, finals in order, Done, and ends cleanly", async () => {
    const { client, address, pool } = await startServer();
    const probe = openProbe(client, address);
    probe.open();
    for (let n = 0; n < 10; n += 1) probe.chunk(n, n * SECOND, SECOND, "test/audio");
    probe.finish();
    expect(await probe.end()).toBeUndefined();
    expect(probe.messages[0]?.$case).toBe("opened");
    expect(probe.messages.at(-1)?.$case).toBe("done");
    expect(probe.words()).toEqual(
      Array.from({ length: 10 }, (_, n) => `${n * SECOND}-${(n + 1) * SECOND} word${n}`),
    );
    await expect.poll(() => pool.sessions, PATIENT).toBe(0);
  });

  it("carries a chunk of several megabytes", async () => {
    const { client, address } = await startServer();
    const probe = openProbe(client, address);
    probe.open();
    probe.chunk(0, 0, SECOND, "test/audio", Buffer.alloc(20 * 1024 * 1024, 1));
    probe.finish();
    expect(await probe.end()).toBeUndefined();
    expect(probe.count("utterance")).toBe(1);
  });

  it("delivers every final to a client that took long, in order", async () => {
    const { client, address } = await startServer();
    const probe = openProbe(client, address);
    probe.open();
    probe.chunk(0, 0, 400, "test/flood");
    probe.chunk(1, 0, SECOND, "test/audio");
    probe.finish();
    expect(await probe.end()).toBeUndefined();
    expect(probe.count("utterance")).toBe(401);
  });

  it("asks its client to wait while the worker is far behind, whatever the size of chunks", async () => {
    const { client, address } = await startServer();
    const probe = openProbe(client, address);
    probe.open();
    const drained = new Promise<number>((resolve) => {
      probe.stream.onDrain(() => resolve(probe.count("utterance")));
    });
    expect(probe.chunk(0, 0, 90 * SECOND, "test/audio")).toBe(true);
    expect(probe.chunk(1, 90 * SECOND, 10 * SECOND, "test/audio")).toBe(false);
    expect(await drained).toBe(10);
    probe.stream.cancel();
  });

  it("counts no audio as waiting that was read but not reported yet", async () => {
    const { client, address } = await startServer();
    const ahead = (): number | undefined => client.queues[0]?.length;
    const probe = openProbe(client, address);
    probe.open();
    await probe.until("opened");
    // The scripted reader reports whole seconds only, and readers as often.
    const length = 10 * SECOND + 15_815;
    probe.chunk(0, 0, length, "test/audio");
    expect(ahead()).toBe(length);
    await probe.until("utterance", 10);
    expect(ahead()).toBe(0);
    probe.stream.cancel();
  });

  it("says nothing more once cancelled, and takes what is sent after its end", async () => {
    const { client, address, pool } = await startServer();
    const probe = openProbe(client, address);
    probe.open();
    await probe.until("opened");
    let ended = false;
    probe.stream.onEnd(() => {
      ended = true;
    });
    probe.chunk(0, 0, 100 * SECOND, "test/audio");
    probe.stream.cancel();
    const said = probe.messages.length;
    await expect.poll(() => pool.sessions, PATIENT).toBe(0);
    expect(probe.chunk(1, 0, SECOND, "test/audio")).toBe(true);
    probe.stream.finish();
    probe.stream.cancel();
    expect(probe.messages.length).toBe(said);
    expect(ended).toBe(false);
  });

  it("costs no other stream its connection, however many that rest are given up", async () => {
    const { client, address, pool } = await startServer({ sessions: 64 });
    const probe = openProbe(client, address);
    probe.open();
    // Node ends a connection over which more than a thousand streams were broken off.
    for (let round = 0; round < 30; round += 1) {
      const resting = Array.from({ length: 50 }, () => openProbe(client, address));
      for (const each of resting) each.open();
      await Promise.all(resting.map((each) => each.until("opened")));
      for (const each of resting) each.stream.cancel();
      await expect.poll(() => pool.sessions, PATIENT).toBe(1);
    }
    probe.chunk(0, 0, SECOND, "test/audio");
    probe.finish();
    expect(await probe.end()).toBeUndefined();
  }, 60_000);

  it("is not read further while a minute of audio waits", async () => {
    const { client, address } = await startServer();
    const probe = openProbe(client, address);
    probe.open();
    const hour = 3_600 * SECOND;
    let drained = false;
    probe.stream.onDrain(() => {
      drained = true;
    });
    const data = Buffer.alloc(256 * 1024);
    for (let n = 0; n < 60; n += 1) probe.chunk(n, n * hour, hour, "test/audio", data);
    await probe.until("utterance", 100);
    expect(drained).toBe(false);
    probe.stream.cancel();
  });
});

describe("worker: what it refuses", () => {
  it("a stream without its key, and Describe too", async () => {
    const { client, address } = await startServer();
    for (const key of ["", "wrong", `${KEY}x`]) {
      const probe = openProbe(client, address, key);
      probe.open();
      expect((await probe.end())?.code).toBe("unauthorized");
    }
    await expect(client.describe(address, 5_000)).rejects.toMatchObject({ code: "unauthorized" });
    const probe = openProbe(client, address, KEY);
    probe.open();
    await probe.until("opened");
    probe.stream.cancel();
  });

  it("a session beyond its capacity, until one is given back", async () => {
    const { client, address, pool } = await startServer({ sessions: 2 });
    const probes = [openProbe(client, address), openProbe(client, address)];
    for (const probe of probes) {
      probe.open();
      await probe.until("opened");
    }
    const refused = openProbe(client, address);
    refused.open();
    expect((await refused.end())?.code).toBe("overloaded");
    probes[0]?.stream.cancel();
    await expect.poll(() => pool.sessions, PATIENT).toBe(1);
    const taken = openProbe(client, address);
    taken.open();
    await taken.until("opened");
  });

  it("what the reader refuses, with its code", async () => {
    const { client, address, pool } = await startServer();
    const language = openProbe(client, address);
    language.open({ language: "xx" });
    expect(await language.end()).toMatchObject({
      code: "bad_request",
      message: expect.stringMatching(/No such language/),
    });
    const audio = openProbe(client, address);
    audio.open();
    audio.chunk(0, 0, SECOND, "test/throw");
    expect((await audio.end())?.code).toBe("not_audio");
    expect(pool.sessions).toBe(0);
  });

  it("audio before Open, Open twice, and audio after Finish", async () => {
    const { client, address, pool } = await startServer();
    const early = openProbe(client, address);
    early.chunk(0, 0, SECOND, "test/audio");
    expect((await early.end())?.code).toBe("bad_request");
    const twice = openProbe(client, address);
    twice.open();
    twice.open();
    expect((await twice.end())?.code).toBe("bad_request");
    await expect.poll(() => pool.sessions, PATIENT).toBe(0);
  });
});

describe("worker: what goes wrong", () => {
  for (const mishap of ["test/crash", "test/hang", "test/uncaught"]) {
    it(`a thread's end (${mishap}) ends its streams only, and it is replaced`, async () => {
      const { client, address, pool } = await startServer({ threads: 2, sessions: 2 });
      const hit = openProbe(client, address);
      hit.open();
      await hit.until("opened");
      const other = openProbe(client, address);
      other.open();
      await other.until("opened");
      hit.chunk(0, 0, SECOND, mishap);
      expect((await hit.end())?.code).toBe("worker_broken");
      other.chunk(0, 0, 2 * SECOND, "test/audio");
      other.finish();
      expect(await other.end()).toBeUndefined();
      await expect.poll(() => pool.capacity, PATIENT).toBe(4);
      const after = openProbe(client, address);
      after.open();
      await after.until("opened");
    }, 60_000);
  }

  it("a client that leaves gives its session back", async () => {
    const { client, address, pool } = await startServer();
    const probe = openProbe(client, address);
    probe.open();
    await probe.until("opened");
    expect(pool.sessions).toBe(1);
    probe.stream.cancel();
    await expect.poll(() => pool.sessions, PATIENT).toBe(0);
    const half = openProbe(client, address);
    half.open();
    await half.until("opened");
    half.stream.finish();
    expect((await half.end())?.code).toBe("unavailable");
    expect(pool.sessions).toBe(0);
  });

  it("a stream of which nothing is heard while it has audio to read is given up", async () => {
    const { address } = await startServer({ silenceMs: 600_000 });
    const client = new WorkerClient({ stallMs: 700 });
    cleanups.push(() => client.close());
    const quiet = openProbe(client, address);
    quiet.open();
    await quiet.until("opened");
    quiet.chunk(0, 0, SECOND, "test/audio");
    await quiet.until("utterance");
    const stuck = openProbe(client, address);
    stuck.open();
    await stuck.until("opened");
    stuck.chunk(0, 0, 5 * SECOND, "test/audio");
    stuck.chunk(1, 5 * SECOND, 5 * SECOND, "test/hang");
    expect(await stuck.end()).toMatchObject({
      code: "worker_broken",
      message: expect.stringMatching(/No sign/),
    });
    // The other one shares the thread that hangs, but waits for nothing.
    const ended = await Promise.race([quiet.ended, delay(1_500).then(() => "open")]);
    expect(ended).toBe("open");
  });

  it("a worker that is not there is told as unavailable", async () => {
    const client = new WorkerClient();
    cleanups.push(() => client.close());
    const probe = openProbe(client, "127.0.0.1:1");
    probe.open();
    expect((await probe.end())?.code).toBe("unavailable");
  });

  it("a stop ends open streams with unavailable and takes no new one", async () => {
    const { client, address, server } = await startServer();
    const probe = openProbe(client, address);
    probe.open();
    await probe.until("opened");
    server.drain();
    const late = openProbe(client, address);
    late.open();
    expect((await late.end())?.code).toBe("unavailable");
    await server.stop(50);
    expect((await probe.end())?.code).toBe("unavailable");
  });
});

describe("worker: what it says of itself", () => {
  it("Describe and health", async () => {
    const { client, address, server } = await startServer({ threads: 2, sessions: 3 });
    expect(await client.describe(address, 5_000, { key: KEY })).toEqual({
      workerId: "test-worker",
      version: "0.0.0",
      capacity: 6,
      sessions: 0,
      engines: ["scripted"],
    });
    expect(await readHealth(address)).toBe("SERVING");
    server.drain();
    expect(await readHealth(address)).toBe("NOT_SERVING");
  });

  it("its services, by reflection", async () => {
    const { address } = await startServer();
    expect(await readServices(address)).toContain("voice.v1.WorkerService");
  });
});

async function bearingToken(address: string): Promise<Metadata> {
  const metadata = new Metadata();
  const token = new WorkerTokens(KEY, Date.now).for(address);
  metadata.set("authorization", `Bearer ${token}`);
  return metadata;
}

/** Asks the standard reflection service for the names of all services; both sides encoded. */
async function readServices(address: string): Promise<string> {
  const client = new Client(address, credentials.createInsecure());
  cleanups.push(() => client.close());
  const same = (bytes: Buffer): Buffer => bytes;
  const path = "/grpc.reflection.v1.ServerReflection/ServerReflectionInfo";
  const call = client.makeBidiStreamRequest(path, same, same, await bearingToken(address));
  return new Promise((resolve, reject) => {
    call.on("data", (answer: Buffer) => resolve(answer.toString("latin1")));
    call.on("error", reject);
    // ServerReflectionRequest { list_services: "*" }
    call.write(Buffer.from([0x3a, 1, 0x2a]));
    call.end();
  });
}

async function readHealth(address: string): Promise<string> {
  const { Check: check } = healthService;
  if (check === undefined) throw new Error("The health service has no Check.");
  const client = new Client(address, credentials.createInsecure());
  cleanups.push(() => client.close());
  const metadata = await bearingToken(address);
  return new Promise((resolve, reject) => {
    client.makeUnaryRequest(
      check.path,
      check.requestSerialize,
      check.responseDeserialize,
      { service: "voice.v1.WorkerService" },
      metadata,
      (error, answer) => {
        if (error !== null) reject(error);
        else resolve((answer as { status: string }).status);
      },
    );
  });
}
