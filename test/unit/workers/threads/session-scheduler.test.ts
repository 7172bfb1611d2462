import { describe, expect, it } from "vitest";
import {
  type Open,
  TranscribeRequest,
  TranscribeResponse,
} from "../../../../src/wire/gen/voice/v1/worker.ts";
import { MOONSHINE } from "../../../../src/wire/speech-engines.ts";
import type { Reader, ReaderFactory, RequestMessage } from "../../../../workers/speech/reader.ts";
import { SessionScheduler } from "../../../../workers/threads/session-scheduler.ts";
import type { SessionBatch, ThreadEvent } from "../../../../workers/threads/thread-protocol.ts";
import { ScriptedReader, scriptedReaders } from "../../../support/scripted-reader.ts";

const SECOND = 16_000;
const PATIENT = { timeout: 10_000 };

function encode(message: RequestMessage): Uint8Array {
  return TranscribeRequest.encode({ message }).finish();
}

function encodeAny(message: TranscribeRequest["message"]): Uint8Array {
  return TranscribeRequest.encode({ message }).finish();
}

function openValue(tellWhenRead: boolean, attempt = 1): Open {
  const base = { sessionId: "s", attempt, language: "", vocabulary: [], interimResults: true };
  return { ...base, tellWhenRead };
}

function open(tellWhenRead = false, attempt = 1): Uint8Array {
  return encode({ $case: "open", value: openValue(tellWhenRead, attempt) });
}

function chunk(sequence: number, seconds: number): Uint8Array {
  const length = seconds * SECOND;
  const value = { sequence, start: 0, length, mediaType: "test/audio", data: Buffer.alloc(0) };
  return encode({ $case: "chunk", value });
}

function create() {
  const events: ThreadEvent[] = [];
  const host = new SessionScheduler({
    readers: scriptedReaders,
    emit: (event) => events.push(event),
  });
  const batches = (): SessionBatch[] =>
    events.flatMap((event) => (event.kind === "results" ? event.batches : []));
  return { host, events, batches };
}

describe("session host: times", () => {
  it("a final tells how long it took since its audio came", async () => {
    const { host, batches } = create();
    await host.open(1, open());
    const before = performance.now();
    host.feed(1, chunk(0, 1));
    const finals = () =>
      batches()
        .flatMap(({ results }) => results)
        .filter(({ kind }) => kind === "utterance")
        .map(({ bytes }) => TranscribeResponse.decode(bytes).message);
    await expect.poll(finals, PATIENT).toHaveLength(1);
    const [final] = finals();
    const time = final?.$case === "utterance" ? final.value.time : undefined;
    expect(time?.engine).toBe(0);
    expect(time?.total).toBeGreaterThan(0);
    expect(time?.total).toBeLessThanOrEqual((performance.now() - before) * 1_000);
    host.closeAll();
  });
});

describe("session host: turns", () => {
  it("a short session is not kept waiting by the backlog of another", async () => {
    const { host, batches } = create();
    await host.open(1, open());
    await host.open(2, open());
    host.feed(1, chunk(0, 600));
    host.feed(2, chunk(0, 1));
    host.feed(2, encode({ $case: "finish", value: {} }));
    await expect
      .poll(() => batches().some(({ session, done }) => session === 2 && done), PATIENT)
      .toBe(true);
    const own = batches().findIndex(({ session, done }) => session === 2 && done);
    expect(own).toBeLessThanOrEqual(2 * 11);
    host.closeAll();
  });

  it("what a session says does not wait for the steps of others", async () => {
    const events: ThreadEvent[] = [];
    const told: number[] = [];
    const busy = (open: Open): Reader => ({
      opened: {
        engine: "busy",
        engineVersion: "",
        diarisationModelVersion: "",
        detectedLanguage: "",
      },
      engineMs: 0,
      enqueue: () => {},
      queuedSamples: () => 0,
      step: () => {
        told.push(events.filter(({ kind }) => kind === "results").length);
        const until = performance.now() + 5;
        while (performance.now() < until);
        const value = { position: Number(open.attempt) };
        return { messages: [{ $case: "speechStarted", value }], idle: true, done: false };
      },
      close: () => {},
    });
    const readers: ReaderFactory = {
      engines: [{ ...MOONSHINE, name: "busy" }],
      open: async (open) => busy(open),
      close: async () => {},
    };
    const host = new SessionScheduler({ readers, emit: (event) => events.push(event) });
    for (const session of [1, 2, 3]) await host.open(session, open());
    for (const session of [1, 2, 3]) host.feed(session, chunk(0, 1));
    await expect.poll(() => told.length, PATIENT).toBe(3);
    expect(told).toEqual([0, 1, 2]);
    host.closeAll();
  });

  it("a session whose final is waited for goes first, and holds up the others no longer", async () => {
    const steps: number[] = [];
    const reader = (session: number): Reader => {
      let left = 3;
      return {
        opened: new ScriptedReader(openValue(false)).opened,
        engineMs: 0,
        get isUrgent() {
          return session === 2 && left > 0;
        },
        enqueue: () => {},
        queuedSamples: () => 0,
        step: () => {
          steps.push(session);
          left -= 1;
          return { messages: [], idle: left === 0, done: false };
        },
        close: () => {},
      };
    };
    const readers: ReaderFactory = {
      engines: [{ ...MOONSHINE, name: "steps" }],
      open: async ({ attempt }) => reader(attempt),
      close: async () => {},
    };
    const host = new SessionScheduler({ readers, emit: () => {} });
    for (const session of [1, 2, 3]) await host.open(session, open(false, session));
    for (const session of [1, 2, 3]) host.feed(session, chunk(0, 1));
    await expect.poll(() => steps.length, PATIENT).toBe(9);
    expect(steps).toEqual([2, 2, 2, 1, 3, 1, 3, 1, 3]);
    host.closeAll();
  });

  it("the sessions of a busy share hold up those of another for one step alone", async () => {
    const steps: (string | undefined)[] = [];
    const reader = ({ share }: Open): Reader => {
      let left = share === "few" ? 4 : 50;
      return {
        opened: new ScriptedReader(openValue(false)).opened,
        engineMs: 0,
        enqueue: () => {},
        queuedSamples: () => 0,
        step: () => {
          steps.push(share);
          const until = performance.now() + 1;
          while (performance.now() < until);
          left -= 1;
          return { messages: [], idle: left === 0, done: false };
        },
        close: () => {},
      };
    };
    const readers: ReaderFactory = {
      engines: [{ ...MOONSHINE, name: "steps" }],
      open: async (open) => reader(open),
      close: async () => {},
    };
    const host = new SessionScheduler({ readers, emit: () => {} });
    const openOf = (share: string) =>
      encode({ $case: "open", value: { ...openValue(false), share } });
    for (const session of [1, 2, 3]) await host.open(session, openOf("many"));
    await host.open(4, openOf("few"));
    for (const session of [1, 2, 3]) host.feed(session, chunk(0, 1));
    await expect.poll(() => steps.length, PATIENT).toBeGreaterThan(20);
    const before = steps.length;
    host.feed(4, chunk(0, 1));
    await expect.poll(() => steps.length, PATIENT).toBe(3 * 50 + 4);
    const last = steps.lastIndexOf("few");
    // One round of the others may have begun.
    expect(
      steps.slice(before, last).filter((share) => share === "many").length,
    ).toBeLessThanOrEqual(3);
    host.closeAll();
  });

  it("a batch is read like its requests one by one, and told of together", async () => {
    const { host, events, batches } = create();
    await host.open(1, open());
    const requests: TranscribeRequest[] = [0, 1, 2].map((sequence) => {
      const place = { sequence, start: sequence * SECOND, length: SECOND };
      const value = { ...place, mediaType: "test/audio", data: Buffer.alloc(0) };
      return { message: { $case: "chunk", value } };
    });
    requests.push({ message: { $case: "finish", value: {} } });
    const batch = encodeAny({ $case: "batch", value: { requests } });
    const { finishing } = host.feed(1, batch);
    expect(finishing).toBe(true);
    await expect.poll(() => batches().at(-1)?.done, PATIENT).toBe(true);
    const kinds = batches().flatMap(({ results }) => results.map(({ kind }) => kind));
    expect(kinds).toEqual(["utterance", "utterance", "utterance", "done"]);
    // 30 steps of next to no work.
    expect(events.filter(({ kind }) => kind === "results").length).toBeLessThan(30);
  });

  it("a batch in a batch, or one with Open, is refused", async () => {
    const { host } = create();
    await host.open(1, open());
    const inner: TranscribeRequest["message"] = { $case: "batch", value: { requests: [] } };
    const requests = [{ message: inner }];
    const batch = encodeAny({ $case: "batch", value: { requests } });
    expect(() => host.feed(1, batch)).toThrow("A batch holds no other one.");
    const again = TranscribeRequest.decode(open());
    const opening = encodeAny({ $case: "batch", value: { requests: [again] } });
    expect(() => host.feed(1, opening)).toThrow("opened already");
    host.closeAll();
  });

  it("a held session makes no step, and goes on when let go", async () => {
    const { host, batches } = create();
    await host.open(1, open());
    host.hold(1, true);
    host.feed(1, chunk(0, 2));
    await host.open(2, open());
    host.feed(2, chunk(0, 1));
    await expect.poll(() => batches().at(-1)?.queuedSamples, PATIENT).toBe(0);
    expect(batches().every(({ session }) => session === 2)).toBe(true);
    host.hold(1, false);
    await expect
      .poll(
        () => batches().flatMap(({ session, results }) => (session === 1 ? results : [])),
        PATIENT,
      )
      .toHaveLength(2);
    host.closeAll();
  });

  it("tells when all was read, to who asked for it", async () => {
    const { host, batches } = create();
    await host.open(1, open(true));
    await host.open(2, open());
    const told = () => batches().flatMap(({ results }) => results.map(({ kind }) => kind));
    for (const [sequence, end] of [24_000, 40_000].entries()) {
      const length = end / SECOND;
      host.feed(2, chunk(sequence, length));
      host.feed(1, chunk(sequence, length));
      const want = sequence + 1;
      await expect
        .poll(() => told().filter((kind) => kind === "progress").length, PATIENT)
        .toBe(want);
      const all = batches().flatMap(({ results }) => results);
      const newest = all.findLast(({ kind }) => kind === "progress")?.bytes ?? new Uint8Array();
      expect(TranscribeResponse.decode(newest).message).toMatchObject({
        value: { processedTo: end },
      });
    }
    host.closeAll();
  });

  it("tells once that all was read when no more audio came", async () => {
    const { host, batches } = create();
    await host.open(1, open());
    host.feed(1, chunk(0, 1.5));
    const results = () => batches().flatMap(({ results }) => results);
    await expect.poll(() => results().length, PATIENT).toBeGreaterThan(0);
    host.reportIdle();
    expect(results().filter(({ kind }) => kind === "progress")).toEqual([]);
    for (let call = 0; call < 3; call++) host.reportIdle();
    const told = results().filter(({ kind }) => kind === "progress");
    expect(told).toHaveLength(1);
    expect(TranscribeResponse.decode(told[0]?.bytes ?? new Uint8Array()).message).toMatchObject({
      value: { processedTo: 24_000 },
    });
    host.closeAll();
  });

  it("results are encoded responses with their kind", async () => {
    const { host, batches } = create();
    await host.open(1, open());
    host.feed(1, chunk(0, 1));
    await expect.poll(() => batches().flatMap(({ results }) => results), PATIENT).toHaveLength(1);
    const [result] = batches().flatMap(({ results }) => results);
    expect(result?.kind).toBe("utterance");
    const decoded = TranscribeResponse.decode(result?.bytes ?? new Uint8Array());
    expect(decoded.message?.$case).toBe("utterance");
  });
});

describe("session host: refusals", () => {
  it("asks for Open first, and once", async () => {
    const { host } = create();
    await expect(host.open(1, chunk(0, 1))).rejects.toMatchObject({ code: "bad_request" });
    await host.open(1, open());
    expect(() => host.feed(1, open())).toThrow(/opened already/);
    expect(() => host.feed(2, chunk(0, 1))).toThrow(/has ended/);
    expect(() => host.feed(1, new Uint8Array([255, 255]))).toThrow(/no TranscribeRequest/);
    expect(() => host.feed(1, new Uint8Array())).toThrow(/empty/);
  });
});
