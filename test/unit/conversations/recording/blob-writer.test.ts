import { describe, expect, it } from "vitest";
import { isAppError } from "../../../../src/base/errors.ts";
import {
  BlobWriter,
  FlushPace,
  flushesAtOnce,
  type WriterEvents,
} from "../../../../src/conversations/recording/durable-files/blob-writer.ts";
import { WriterService } from "../../../../src/conversations/recording/durable-files/writer-service.ts";
import { settled, VirtualRuntime } from "../../../support/late/virtual-runtime.ts";
import { SeededRandom } from "../../../support/seeded-random.ts";
import { SlowDisk } from "../../../support/slow-disk.ts";

interface Outcome {
  path: string;
  /** Seconds after the start. */
  at: number;
  /** `durable`, or the code of the error. */
  how: string;
  retryAfter?: number | undefined;
}

/** Until nothing goes on but by time: a write takes a few turns of the event loop. */
async function calm(): Promise<void> {
  for (let turn = 0; turn < 4; turn += 1) await settled();
}

/** A writer whose thread is in this one, on a disk of the test. */
function writerOn(flushMs: number, flushes = 4) {
  const runtime = new VirtualRuntime();
  const began = runtime.monotonic();
  const disk = new SlowDisk(runtime, flushMs);
  const threads: WriterEvents[] = [];
  const writer = new BlobWriter({
    base: "/audio",
    temporaryFolder: "/audio/tmp",
    flushes,
    runtime,
    start(order, events) {
      threads.push(events);
      const service = new WriterService(disk, order, events.onAnswer);
      return {
        post: (request) => service.serve(request),
        stop: async () => events.onEnd(undefined),
      };
    },
  });
  const outcomes: Outcome[] = [];
  async function write(session: number, name = "a"): Promise<Outcome> {
    const folder = `/audio/${session}`;
    const path = `${folder}/${name}`;
    const outcome = await writer.write({ folder, name, content: Buffer.from(path) }).then(
      () => ({ how: disk.survives(path) ? "durable" : "LOST" }),
      (error: unknown) => {
        const { code, retryAfter } = error as { code: string; retryAfter?: number };
        return { how: isAppError(error) ? code : `raw ${code}`, retryAfter };
      },
    );
    const told = { path, at: (runtime.monotonic() - began) / 1_000, ...outcome };
    outcomes.push(told);
    return told;
  }
  /** Comes again when it was told to, until it is done. */
  async function bring(session: number): Promise<Outcome> {
    for (;;) {
      const told = await write(session);
      if (told.how === "durable") return told;
      await runtime.delay((told.retryAfter ?? Number.NaN) * 1_000);
    }
  }
  return {
    ...{ writer, disk, threads, outcomes, write, bring },
    async pass(seconds: number) {
      await calm();
      await runtime.pass(seconds * 1_000, calm);
    },
    waiting: () => writer.figures("q").length,
  };
}

const each = (count: number) => Array.from({ length: count }, (_, at) => at);

describe("blob writer", () => {
  it("slow disk: with 8 s a flush, seven of eight files are durable in time, and the last when it comes again", async () => {
    const { bring, pass, outcomes, disk } = writerOn(8_000, 8);
    for (const session of each(8)) void bring(session);
    await pass(60);
    expect(outcomes.map(({ how, at }) => [how, at])).toEqual([
      ...Array(7).fill(["durable", 16]),
      ["timeout", 25],
      ["durable", 32],
    ]);
    expect([...disk.written.values()]).toEqual(Array(8).fill(1));
    expect([disk.most, disk.left]).toEqual([8, 0]);
  });

  // From such a flush on, a group of 64 files on four threads took longer than it may.
  it.each([1, 2])(
    "slow disk: %s s a flush and 64 devices that come again: files become durable all the time",
    async (seconds) => {
      const { bring, pass, outcomes, disk } = writerOn(seconds * 1_000);
      const done: Outcome[] = [];
      for (const session of each(64)) void bring(session).then((outcome) => done.push(outcome));
      const rates: number[] = [];
      for (let turn = 0; turn < 20 && done.length < 64; turn += 1) {
        const before = done.length;
        await pass(20);
        rates.push(done.length - before);
      }
      // Four flushes at a time, two and a bit for a file.
      expect(done).toHaveLength(64);
      expect(Math.min(...rates.slice(0, -1))).toBeGreaterThanOrEqual(Math.floor(25 / seconds));
      // At most those that were under way when their callers' time was over are written twice.
      const written = [...disk.written.values()].reduce((sum, times) => sum + times, 0);
      expect(written).toBeLessThanOrEqual(64 + 16 / seconds);
      for (const { how, retryAfter } of outcomes) {
        expect(["durable", "overloaded", "timeout"]).toContain(how);
        if (how !== "durable") expect(retryAfter).toBeGreaterThan(0);
      }
    },
  );

  it("hanging disk: callers are told in time, what is under way is written once, and it heals by itself", async () => {
    const { write, pass, outcomes, disk, waiting, writer } = writerOn(Number.POSITIVE_INFINITY);
    // Three are begun, as nothing was measured yet; the others wait here.
    for (const session of each(5)) void write(session);
    await pass(24);
    expect([outcomes, waiting(), disk.flushes]).toEqual([[], 5, 3]);
    await pass(2);
    expect(outcomes.map(({ how, at, retryAfter }) => [how, at, retryAfter])).toEqual(
      Array(5).fill(["timeout", 25, 5]),
    );
    // Those that were not begun are none of the disk's any more.
    expect(waiting()).toBe(3);
    // All come again: three wait for what is under way, two have new jobs.
    for (const session of each(5)) void write(session);
    void write(1);
    await pass(10);
    expect([waiting(), disk.flushes]).toEqual([5, 3]);
    const probe = writer.probe();
    disk.heal(10);
    await pass(5);
    expect(outcomes.slice(5).map(({ how }) => how)).toEqual(Array(6).fill("durable"));
    expect([...disk.written.values()]).toEqual(Array(5).fill(1));
    expect(await probe).toEqual({ room: { free: 50, size: 100 } });
    expect([waiting(), disk.left]).toEqual([0, 0]);
  });

  it("slow disk: who would wait in vain is refused at once, and told when to come", async () => {
    const { write, pass, outcomes } = writerOn(4_000);
    for (const session of each(3)) await Promise.all([write(session), pass(12)]);
    // A file takes 2.25 s of the disk, so that the seventh would have to wait for more than 25 s.
    for (const session of each(20)) void write(100 + session);
    await calm();
    const refused = outcomes.filter(({ how }) => how === "overloaded");
    expect(refused).toHaveLength(12);
    for (const { retryAfter } of refused) expect(retryAfter).toBeGreaterThanOrEqual(5);
    await pass(30);
    expect(outcomes.filter(({ how }) => how === "durable")).toHaveLength(11);
  });

  it("faults: each caller is told of its own file, and a thread that ends is followed by another", async () => {
    const { write, pass, outcomes, disk, threads, waiting } = writerOn(1_000);
    void write(1);
    await calm();
    disk.fault = "EROFS";
    void write(2);
    await calm();
    expect(outcomes.map(({ how }) => how)).toEqual(["raw EROFS"]);
    disk.fault = undefined;
    await pass(3);
    expect(outcomes.map(({ how }) => how)).toEqual(["raw EROFS", "durable"]);
    void write(3);
    await calm();
    threads[0]?.onEnd(new Error("it crashed"));
    await calm();
    expect(outcomes.at(-1)).toMatchObject({ how: "unavailable", retryAfter: 1 });
    void write(3);
    await pass(3);
    expect(outcomes.at(-1)?.how).toBe("durable");
    expect([threads.length, waiting()]).toEqual([2, 0]);
  });

  it("durability: nobody is answered before bytes and names survive a power failure", async () => {
    const random = new SeededRandom(7);
    const { write, pass, outcomes, disk } = writerOn(5);
    let sent = 0;
    for (let turn = 0; turn < 200; turn += 1) {
      disk.flushMs = 1 + random.below(50);
      const count = random.below(6);
      for (const at of each(count)) void write(random.below(8), `${turn}-${at}`);
      sent += count;
      await pass(random.below(20) / 1_000);
    }
    await pass(60);
    expect(outcomes).toHaveLength(sent);
    expect(outcomes.filter(({ how }) => how !== "durable")).toEqual([]);
    expect(disk.most).toBe(4);
    // Folders are shared: fewer than one flush for the bytes and two for the folders of each.
    expect(disk.flushes).toBeLessThan(3 * sent);
  });

  it("logs: an entry goes before files that wait, is durable with its name, and is told its own fault", async () => {
    const { writer, write, pass, disk, outcomes } = writerOn(1_000);
    const place = { folder: "/audio/log", path: "/audio/log/x.log" };
    const seen: string[] = [];
    const append = (at: number) =>
      writer.append(place, at, Buffer.alloc(10)).then(
        () => seen.push(`${at} ${disk.survives(place.path) ? "durable" : "LOST"}`),
        (error: { code: string }) => seen.push(`${at} ${error.code}`),
      );
    for (const at of each(40)) void write(at);
    await pass(0.5);
    void append(0);
    // Behind the four flushes that are under way, and no other.
    await pass(2);
    expect(seen).toEqual(["0 durable"]);
    expect(outcomes.length).toBeLessThan(4);
    void append(10);
    await pass(2);
    expect(seen).toEqual(["0 durable", "10 durable"]);
    disk.fault = "ENOSPC";
    void append(20);
    await pass(1);
    expect(seen).toEqual(["0 durable", "10 durable", "20 ENOSPC"]);
  });

  it("pace: flushes leave threads to the process, and files under way follow the flush", () => {
    const atOnce = (size?: string) => flushesAtOnce(size ? { UV_THREADPOOL_SIZE: size } : {});
    expect([undefined, "4", "8", "12", "64", "x"].map(atOnce)).toEqual([2, 2, 4, 8, 8, 2]);
    const filesAt = (ms: number) => {
      const pace = new FlushPace(4);
      pace.measured(ms);
      return pace.files;
    };
    expect(new FlushPace(4).files).toBe(3);
    expect([1, 100, 500, 1_000, 40_000].map(filesAt)).toEqual([64, 64, 35, 17, 3]);
  });
});
