import { describe, expect, it } from "vitest";
import { createDeferred, type Deferred } from "../../../../src/base/deferred.ts";
import {
  AudioWatch,
  type DiskState,
} from "../../../../src/conversations/recording/durable-files/audio-watch.ts";
import { KeptLog } from "../../../support/kept-log.ts";
import { settled, VirtualRuntime } from "../../../support/late/virtual-runtime.ts";
import { codeOf } from "../../../support/route-call.ts";

const GIB = 1024 ** 3;

/** A disk whose tries end when the test says so. */
function watched() {
  const runtime = new VirtualRuntime();
  const log = new KeptLog();
  const tries: Deferred<DiskState>[] = [];
  const disk = {
    probe() {
      const answer = createDeferred<DiskState>();
      tries.push(answer);
      return answer.promise;
    },
  };
  const watch = new AudioWatch({ disk, runtime, log });
  watch.start();
  return {
    watch,
    log,
    tries,
    pass: (ms: number) => runtime.pass(ms, settled),
    async answer(state: DiskState) {
      tries.at(-1)?.resolve(state);
      await settled();
    },
  };
}

describe("audio watch", () => {
  it("audio watch: room and faults of the disk, each try anew", async () => {
    const { watch, answer, pass, tries } = watched();
    const states: [DiskState, string, RegExp | undefined][] = [
      [{ room: { free: 50 * GIB, size: 100 * GIB } }, "ok", undefined],
      [{ room: { free: 9 * GIB, size: 100 * GIB } }, "degraded", /9 % left/],
      [{ room: { free: 4096, size: 100 * GIB } }, "down", /full/],
      [{ fault: "EROFS", room: { free: 50 * GIB, size: 100 * GIB } }, "down", /EROFS/],
      [{ fault: "ENOSPC" }, "down", /ENOSPC/],
      [{}, "ok", undefined],
    ];
    for (const [at, [state, status, message]] of states.entries()) {
      expect(tries).toHaveLength(at + 1);
      await answer(state);
      expect(watch.check.status).toBe(status);
      if (message !== undefined) expect(watch.check.message).toMatch(message);
      expect(watch.room).toEqual(state.room);
      // Writes themselves tell what is wrong: a small file may find room, and a healed disk is used.
      watch.admit();
      await pass(10_000);
    }
  });

  it("audio watch: a disk that hangs holds one try, keeps uploads out, and is back when it ends", async () => {
    const { watch, answer, pass, tries, log } = watched();
    await pass(3_000);
    expect(watch.check.status).toBe("degraded");
    await pass(8_000);
    expect([watch.check.status, watch.seconds]).toEqual(["down", 11]);
    expect(await codeOf((async () => watch.admit())())).toBe("unavailable");
    await pass(600_000);
    expect(tries).toHaveLength(1);
    expect(log.lines.map(({ level }) => level)).toEqual(["warn"]);
    await answer({});
    watch.admit();
    expect(watch.check.status).toBe("degraded");
    await pass(10_000);
    await answer({});
    expect(watch.check.status).toBe("ok");
    expect(log.lines.map(({ level }) => level)).toEqual(["warn", "info"]);
  });

  it("audio watch: a probe that fails itself is a fault, and after the stop nothing is tried", async () => {
    const { watch, tries, pass } = watched();
    tries[0]?.reject(new Error("the thread ended"));
    await settled();
    expect(watch.check).toEqual({
      status: "down",
      message: expect.stringContaining("thread ended"),
    });
    watch.stop();
    await pass(60_000);
    expect(tries).toHaveLength(1);
  });
});
