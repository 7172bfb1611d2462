import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { Activation } from "../../../src/actor/activation.ts";
import { silentLog } from "../../../src/base/log.ts";
import { type Runtime, systemRuntime } from "../../../src/base/runtime.ts";
import { sessionBehaviour } from "../../../src/session/behaviour.ts";
import type { SessionCommand } from "../../../src/session/command.ts";
import { GAP_WAIT } from "../../../src/session/decide-audio.ts";
import type { SessionEvent } from "../../../src/session/event.ts";
import type { SessionState } from "../../../src/session/state.ts";
import type { SessionWrite } from "../../../src/session/write.ts";
import { MemoryJournal } from "../../support/memory/memory-journal.ts";

const ID = "01900000-0000-7000-8000-000000000001";
const MINUTE = 60_000;

/** A host whose wall clock is off, and whose monotonic one began elsewhere. */
function hostWith(skew: number): Runtime {
  return {
    ...systemRuntime,
    now: () => Date.now() + skew,
    monotonic: () => performance.now() + 5 * skew,
  };
}

describe("clocks of activations", () => {
  beforeEach(() => vi.useFakeTimers());
  afterEach(() => vi.useRealTimers());

  const journal = new MemoryJournal<SessionEvent, SessionWrite>();
  const events = () => journal.read(ID).events;
  const hasGap = () => events().some(({ event }) => event.type === "GapDeclared");

  async function activate(skew: number) {
    const activation = new Activation<SessionState, SessionEvent, SessionWrite, SessionCommand>(
      ID,
      {
        behaviour: sessionBehaviour,
        journal,
        createEffects: () => [],
        runtime: hostWith(skew),
        log: silentLog,
        mailboxCapacity: 100,
        batchSize: 10,
        snapshotEvery: 100,
        appendAttempts: 1,
        onRefused: () => {},
        onFailed: () => {},
      },
    );
    await activation.start();
    return activation;
  }

  it.each([
    [0, -60],
    [0, 60],
    [30, -30],
    [-30, 30],
    [30, 30],
  ])(
    "clocks: a gap is waited for as long on hosts that are off by %i and %i min",
    async (one, other) => {
      journal.create(ID);
      const first = await activate(one * MINUTE);
      await first.ask({ type: "Start", jobId: "j", language: "en" }, "start");
      const size = { frames: 16_000, sampleRate: 16_000 };
      const missedSince = Date.now();
      await first.ask({ type: "ChunkStored", chunkId: "c1", sequence: 1, ...size }, "chunk");
      await vi.advanceTimersByTimeAsync(3_000);
      await first.stop();
      const second = await activate(other * MINUTE);
      await vi.advanceTimersByTimeAsync(GAP_WAIT - 3_001);
      expect(hasGap()).toBe(false);
      await vi.advanceTimersByTimeAsync(100);
      expect(hasGap()).toBe(true);
      for (const { at } of events()) {
        expect(at).toBeGreaterThanOrEqual(missedSince);
        expect(at).toBeLessThanOrEqual(Date.now());
      }
      await second.stop();
    },
  );
});
