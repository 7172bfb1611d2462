import { afterEach, describe, expect, it } from "vitest";
import { systemClock } from "../../src/base/clock.ts";
import { silentLog } from "../../src/base/log.ts";
import { systemRuntime } from "../../src/base/runtime.ts";
import { WorkerSummariser } from "../../src/conversations/summaries/job.ts";
import { Placement } from "../../src/inference/placement.ts";
import { WorkerClient } from "../../src/inference/worker-client.ts";
import type { SummariseRequest } from "../../src/wire/gen/voice/v1/text.ts";
import { TextServiceService } from "../../src/wire/gen/voice/v1/worker_services.ts";
import { WorkerServer } from "../../workers/grpc/server.ts";
import { groundInThread } from "../../workers/grpc/summarise.ts";
import { LanguageModel } from "../../workers/language-model/language-model.ts";
import { ModelNotes } from "../../workers/text/model-notes/model-notes.ts";
import { ThreadPool } from "../../workers/threads/pool.ts";
import { ModelServer } from "../support/model-server.ts";
import { saidBy, summariseText } from "../support/summarise-text.ts";
import { TextThreadCommands } from "../support/text-commands.ts";
import { TranscribeProbe } from "../support/transcribe-probe.ts";
import { until } from "../support/until.ts";

const ENTRY = new URL("../support/scripted-thread-entry.ts", import.meta.url);
const TEXT_ENTRY = new URL("../support/command-text-entry.ts", import.meta.url);
const KEY = "a-service-key-of-this-test";
const SECOND = 16_000;

const TALK = saidBy(
  ["Anna", "today we will talk about the launch of the new system"],
  ["Ben", "i will write to our customers before the end of this month"],
);

/** Long enough that it takes a while: some 40,000 words. */
const LONG = saidBy(
  ...Array.from({ length: 4_000 }, (_, n): [string, string] => [
    `S${n % 5}`,
    `The ${n % 7} engines of train ${n} need ${n % 11} new brakes and stronger wheels today.`,
  ]),
);

let cleanups: (() => Promise<void> | void)[] = [];
afterEach(async () => {
  for (const cleanup of cleanups.reverse()) await cleanup();
  cleanups = [];
});

async function startWorker(options: { threads?: number; model?: LanguageModel } = {}) {
  const pool = new ThreadPool({
    threads: options.threads ?? 1,
    sessionsPerThread: 1,
    entry: ENTRY,
    textEntry: TEXT_ENTRY,
    clock: systemClock,
    log: silentLog,
    // A busy machine is no silent thread.
    silenceMs: 60_000,
  });
  await pool.start();
  cleanups.push(() => pool.stop());
  const identity = { workerId: "text", version: "0.0.0", key: KEY };
  const { model } = options;
  const notes =
    model &&
    new ModelNotes({ model, ground: (asked, signal) => groundInThread(pool, asked, signal) });
  const server = new WorkerServer({
    ...identity,
    notes,
    host: "127.0.0.1",
    port: 0,
    pool,
    log: silentLog,
  });
  const address = `127.0.0.1:${await server.start()}`;
  cleanups.push(() => server.stop(0));
  const client = new WorkerClient();
  cleanups.push(() => client.close());
  const placement = new Placement({ runtime: systemRuntime, silenceMs: 60_000 });
  placement.update({
    worker_id: "text",
    address,
    capacity: 1,
    sessions: 1,
    version: "0.0.0",
    engines: [],
    draining: false,
  });
  return { pool, server, address, client, placement };
}

function commandThreads(): TextThreadCommands {
  const threads = new TextThreadCommands();
  cleanups.push(() => threads.close());
  return threads;
}

async function startModel(server: ModelServer): Promise<LanguageModel> {
  const settings = {
    ...{ baseUrl: server.url, model: "small", key: undefined, isLocal: true },
    ...{ requestTokens: 8_000, timeoutMs: 60_000, concurrency: 2 },
  };
  const model = new LanguageModel({ settings, log: silentLog });
  cleanups.push(() => model.stop());
  await model.probe();
  return model;
}

function request(summaryType: string, segments = TALK): SummariseRequest {
  return { summaryType, language: "en", segments, sections: [] };
}

const quietly = () => ({ signal: new AbortController().signal, onProgress: () => {} });

describe("worker: summaries", () => {
  it("come over gRPC as the engine makes them, with progress, beside a full house", async () => {
    const { client, placement, pool, address } = await startWorker();
    const probe = new TranscribeProbe(client.openTranscription(address, { key: KEY }));
    probe.open();
    await probe.until("opened");
    const summariser = new WorkerSummariser({ placement, client, key: KEY });
    const told: number[] = [];
    const { signal } = new AbortController();
    const summary = await summariser.summarise(request("action_items"), {
      signal,
      onProgress: (fraction) => told.push(fraction),
    });
    const { fractions: _fractions, ...expected } = summariseText("action_items", TALK);
    expect(summary).toEqual(expected);
    expect(told[0]).toBe(0);
    expect(pool.sessions).toBe(1);
    probe.stream.cancel();
  });

  it("keep no session waiting, however long a thread for text is blocked", async () => {
    const { client, placement, address } = await startWorker();
    const summariser = new WorkerSummariser({ placement, client, key: KEY });
    const threads = commandThreads();
    await threads.block();
    let isDone = false;
    const work = summariser.summarise(request("brief"), quietly()).finally(() => {
      isDone = true;
    });
    const probe = new TranscribeProbe(client.openTranscription(address, { key: KEY }));
    probe.open();
    probe.chunk(0, 0, SECOND, "test/audio");
    probe.finish();
    expect(await probe.end()).toBeUndefined();
    expect(isDone).toBe(false);
    threads.release();
    expect((await work).items.length).toBeGreaterThan(0);
  });

  it("are worded by a language model, and compared in a thread with what they cite", async () => {
    const models = await ModelServer.start();
    cleanups.push(() => models.close());
    const points = [
      { text: "Today they will talk about the launch of the new system.", cites: [1] },
      { text: "Ben will write to the customers before the end of this month.", cites: [2] },
      { text: "Ben will write to the press before the end of this year.", cites: [2] },
    ];
    models.answer = () => ({ text: JSON.stringify({ points }) });
    const model = await startModel(models);
    const { client, placement } = await startWorker({ model });
    const summariser = new WorkerSummariser({ placement, client, key: KEY });
    const told: number[] = [];
    const share = { mayLeave: false, tenant: "t", tokens: 10_000, later: false };
    const asked = { ...request("brief"), model: share };
    const summary = await summariser.summarise(asked, {
      signal: new AbortController().signal,
      onProgress: (fraction) => told.push(fraction),
    });
    expect(summary).toMatchObject({
      ...{ engine: "grounded-1", text: `${points[0]?.text} ${points[1]?.text}` },
      model: { name: "small", outcome: "worded", dropped: 1, tokens: 120 },
    });
    expect(told).toEqual(told.toSorted((a, b) => a - b));
    // Without a share nobody asks the model.
    expect((await summariser.summarise(request("brief"), quietly())).engine).toMatch(/^extractive/);
    expect(models.requests).toHaveLength(1);
  });

  it("whoever gives a summary up gives up the request to the model", async () => {
    const models = await ModelServer.start();
    cleanups.push(() => models.close());
    models.answer = () => "hang";
    const { client, placement } = await startWorker({ model: await startModel(models) });
    const given = new AbortController();
    const share = { mayLeave: false, tenant: "t", tokens: 10_000, later: false };
    const work = new WorkerSummariser({ placement, client, key: KEY }).summarise(
      { ...request("brief"), model: share },
      { signal: given.signal, onProgress: () => {} },
    );
    // Awaited below; it must not count as unhandled when the wait for the request fails.
    work.catch(() => {});
    await until(() => models.requests.length === 1, "the request");
    given.abort();
    await expect(work).rejects.toMatchObject({ code: "unavailable" });
    await until(() => models.abandoned === 1, "its end");
  });

  it("refuses without the key, an unknown type, and when there is no worker", async () => {
    const { client, placement } = await startWorker();
    const locked = new WorkerSummariser({ placement, client, key: "wrong" });
    await expect(locked.summarise(request("brief"), quietly())).rejects.toMatchObject({
      code: "unauthorized",
    });
    const open = new WorkerSummariser({ placement, client, key: KEY });
    await expect(open.summarise(request("poem"), quietly())).rejects.toMatchObject({
      code: "bad_request",
      message: expect.stringMatching(/poem/),
    });
    const lonely = new WorkerSummariser({
      placement: new Placement({ runtime: systemRuntime }),
      client,
      key: KEY,
    });
    await expect(lonely.summarise(request("brief"), quietly())).rejects.toMatchObject({
      code: "overloaded",
    });
  });

  it("a worker that was heard but is gone is waited for: no attempt was made", async () => {
    const { client, placement, server } = await startWorker();
    await server.stop(0);
    const summariser = new WorkerSummariser({ placement, client, key: KEY });
    await expect(summariser.summarise(request("brief"), quietly())).rejects.toMatchObject({
      code: "overloaded",
    });
  });

  it("ends with its deadline and with its caller, and the thread is free again", async () => {
    const { client, address, pool, placement } = await startWorker();
    const { signal } = new AbortController();
    const late = client.stream(address, TextServiceService.summarise, request("topics", LONG), {
      key: KEY,
      deadlineMs: 50,
      signal,
      onMessage: () => {},
    });
    await expect(late).rejects.toMatchObject({ code: "timeout" });
    const leaving = new AbortController();
    const summariser = new WorkerSummariser({ placement, client, key: KEY });
    const given = summariser.summarise(request("topics", LONG), {
      signal: leaving.signal,
      onProgress: () => leaving.abort(),
    });
    await expect(given).rejects.toMatchObject({ code: "unavailable" });
    await until(() => pool.texts === 0, "the thread to be free");
    const summary = await summariser.summarise(request("brief"), quietly());
    expect(summary.items.length).toBeGreaterThan(0);
  });

  it("a call ends whose caller leaves, or whose time is over, before it has begun", async () => {
    const { client, address } = await startWorker();
    const leaving = new AbortController();
    const call = (deadlineMs: number) =>
      client.stream(address, TextServiceService.summarise, request("topics", LONG), {
        ...{ key: KEY, deadlineMs, signal: leaving.signal },
        onMessage: () => {},
      });
    await expect(call(0)).rejects.toMatchObject({ code: "timeout" });
    const left = call(60_000);
    leaving.abort();
    await expect(left).rejects.toMatchObject({ code: "unavailable" });
  });

  it("takes a few at once and refuses more", async () => {
    const { client, address } = await startWorker();
    const placement = new Placement({ runtime: systemRuntime, silenceMs: 60_000 });
    placement.update({
      worker_id: "text",
      address,
      capacity: 1,
      sessions: 0,
      version: "",
      engines: [],
      draining: false,
    });
    const summariser = new WorkerSummariser({ placement, client, key: KEY });
    const works = Array.from({ length: 12 }, () =>
      summariser.summarise(request("topics", LONG), quietly()),
    );
    const settled = await Promise.allSettled(works);
    const refused = settled.filter(({ status }) => status === "rejected");
    expect(refused.length).toBeGreaterThanOrEqual(1);
    for (const one of refused) expect(one).toMatchObject({ reason: { code: "overloaded" } });
    expect(settled.some(({ status }) => status === "fulfilled")).toBe(true);
  });

  it("goes on while audio breaks a thread; is told as unavailable when its own is lost or the worker stops", async () => {
    const { client, address, placement, server, pool } = await startWorker();
    const summariser = new WorkerSummariser({ placement, client, key: KEY });
    const threads = commandThreads();
    const probe = new TranscribeProbe(client.openTranscription(address, { key: KEY }));
    probe.open();
    await probe.until("opened");
    const unharmed = summariser.summarise(request("topics", LONG), quietly());
    unharmed.catch(() => {});
    await until(() => pool.texts === 1, "the work to begin");
    probe.chunk(0, 0, SECOND, "test/crash");
    await until(() => pool.capacity === 0, "the thread for audio to be lost");
    expect((await unharmed).items.length).toBeGreaterThan(0);
    const lost = summariser.summarise(request("topics", LONG), quietly());
    lost.catch(() => {});
    await until(() => pool.texts === 1, "the work to begin");
    threads.end();
    await expect(lost).rejects.toMatchObject({ code: "unavailable" });
    const again = () => summariser.summarise(request("brief"), quietly()).then(() => true);
    await until(() => again().catch(() => false), "the thread for text to be back", 20_000);
    const cut = client.stream(address, TextServiceService.summarise, request("topics", LONG), {
      key: KEY,
      deadlineMs: 60_000,
      signal: new AbortController().signal,
      onMessage: () => {},
    });
    cut.catch(() => {});
    await until(() => pool.texts === 1, "the work to begin");
    await server.stop(0);
    await expect(cut).rejects.toMatchObject({ code: "unavailable" });
  });
});
