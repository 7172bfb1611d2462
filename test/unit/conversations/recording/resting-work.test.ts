import { describe, expect, it } from "vitest";
import { AppError } from "../../../../src/base/errors.ts";
import { silentLog } from "../../../../src/base/log.ts";
import { BackedOffItems } from "../../../../src/base/work/backed-off-items.ts";
import { ChunkAssembler } from "../../../../src/conversations/recording/chunk-assembler.ts";
import type { OpenChunks } from "../../../../src/conversations/recording/stream-records.ts";
import { AudioRedaction } from "../../../../src/conversations/transcript/redaction.ts";
import { NO_LOGS } from "../../../support/fragment-logs.ts";
import { ManualClock, runtimeBy } from "../../../support/manual-clock.ts";
import { NO_MENDING } from "../../../support/verified-audio.ts";

const ids = (count: number) => Array.from({ length: count }, (_, sequence) => sequence);

describe("work that fails again and again", () => {
  it("rests for twice as long each time, up to ten minutes, and begins anew once it worked", () => {
    const clock = new ManualClock();
    const resting = new BackedOffItems(clock);
    const waits: number[] = [];
    for (let failures = 0; failures < 12; failures += 1) {
      resting.failed("a");
      const begun = clock.monotonic();
      while (resting.isBackingOff("a")) clock.advance(1_000);
      waits.push((clock.monotonic() - begun) / 1_000);
    }
    expect(waits).toEqual([1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 600, 600]);
    resting.worked("a");
    resting.failed("a");
    clock.advance(1_000);
    expect(resting.isBackingOff("a")).toBe(false);
  });

  it("keeps a thousand in mind", () => {
    const resting = new BackedOffItems(new ManualClock());
    for (const at of ids(1_001)) resting.failed(String(at));
    expect([resting.size, resting.isBackingOff("0"), resting.isBackingOff("1")]).toEqual([
      1_000,
      false,
      true,
    ]);
  });

  it("redacted audio: a file that cannot be read is not read each second", async () => {
    const clock = new ManualClock();
    const tried: number[] = [];
    const records = {
      pending: async () => [
        { sessionId: "s", sequence: 0 },
        { sessionId: "s", sequence: 1 },
      ],
      exclusively: async ({ sequence }: { sequence: number }) => {
        tried.push(sequence);
        if (sequence === 0) throw new Error("EIO");
        return true;
      },
    };
    const redaction = new AudioRedaction(records, {} as never, silentLog, { clock });
    for (let second = 0; second < 60; second += 1) {
      await redaction.run();
      clock.advance(1_000);
    }
    expect(tried.filter((sequence) => sequence === 1)).toHaveLength(60);
    expect(tried.filter((sequence) => sequence === 0)).toHaveLength(6);
  });

  it("abandoned streams: fifty that fail keep no other from its turn", async () => {
    const clock = new ManualClock();
    const open = new Set(ids(51));
    const tried = ids(51).map(() => 0);
    const openChunks = {
      abandoned: async (_age: number, limit: number) =>
        [...open].slice(0, limit).map((sequence) => ({ sessionId: "s", sequence })),
      read: async ({ sequence }: { sequence: number }) => {
        tried[sequence] = (tried[sequence] ?? 0) + 1;
        if (sequence < 50) throw new Error("EIO");
        open.delete(sequence);
        return undefined;
      },
    } as unknown as OpenChunks;
    const runtime = { ...runtimeBy(clock), delay: async () => {} };
    const [blobs, notifier, mending] = [{} as never, {} as never, NO_MENDING];
    const ports = { openChunks, runtime, log: silentLog, blobs, logs: NO_LOGS, notifier, mending };
    const assembler = new ChunkAssembler(ports);
    const assembled: number[] = [];
    for (let run = 0; run < 12; run += 1) {
      assembled.push(await assembler.assembleAbandoned());
      clock.advance(5_000);
    }
    expect(assembled.slice(0, 2)).toEqual([0, 1]);
    expect(tried[50]).toBe(1);
    expect(Math.max(...tried)).toBeLessThan(8);
  });

  it("abandoned streams: on a disk that hangs one is tried at a time, and each but once", async () => {
    const clock = new ManualClock();
    const found = ids(3).map((sequence) => ({ sessionId: "s", sequence }));
    const tried: number[] = [];
    const openChunks = {
      abandoned: async () => found,
      read: async ({ sequence }: { sequence: number }) => {
        tried.push(sequence);
        throw new AppError("timeout", "It hangs.");
      },
    } as unknown as OpenChunks;
    const runtime = { ...runtimeBy(clock), delay: async () => {} };
    const none = { blobs: {} as never, notifier: {} as never, mending: {} as never };
    const ports = { openChunks, runtime, log: silentLog, logs: NO_LOGS, ...none };
    const assembler = new ChunkAssembler(ports);
    await assembler.assembleAbandoned();
    await assembler.assembleAbandoned();
    expect(tried).toEqual([0, 1]);
    await assembler.assemble({ sessionId: "s", sequence: 9 });
    expect(tried).toEqual([0, 1, 9]);
  });
});
