import { describe, expect, it } from "vitest";
import { AppError } from "../../../../src/base/errors.ts";
import { newId } from "../../../../src/base/ids.ts";
import { silentLog } from "../../../../src/base/log.ts";
import { FragmentLogs } from "../../../../src/conversations/recording/audio-files/fragment-logs.ts";
import {
  fromLog,
  readFragments,
  toLogEntry,
} from "../../../../src/conversations/recording/audio-files/stored-fragments.ts";
import { settled, VirtualRuntime } from "../../../support/late/virtual-runtime.ts";

const fragment = (n: number, length = 100) => ({
  index: n,
  frames: n + 1,
  data: Buffer.alloc(length, n),
});

/** A store in memory that does what the test says. */
function create() {
  const runtime = new VirtualRuntime();
  const logs = new Map<string, Buffer>();
  let fault: (() => Promise<never>) | undefined;
  const store = {
    logPaceMs: 40,
    async appendLog(_session: string, log: string, at: number, bytes: Uint8Array) {
      await fault?.();
      const before = logs.get(log) ?? Buffer.alloc(0);
      expect(before).toHaveLength(at);
      logs.set(log, Buffer.concat([before, bytes]));
    },
    async readLog(_session: string, log: string) {
      const found = logs.get(log);
      if (found === undefined) throw new AppError("not_found", "none");
      return found;
    },
    async removeLog(_session: string, log: string) {
      logs.delete(log);
    },
  };
  const all = new FragmentLogs({
    store,
    runtime: {
      newId,
      after: (ms, work) => runtime.after(ms, work),
      monotonic: () => runtime.monotonic(),
    },
    log: silentLog,
  });
  const fail = (next: (() => Promise<never>) | undefined) => {
    fault = next;
  };
  return { logs, runtime, store, all, fail };
}

const failing = (code: "storage_full" | "unavailable" | "not_found") => () =>
  Promise.reject(new AppError(code, "no"));

describe("logs of streams", () => {
  it("hold fragments one behind the other, and give them back as they were", async () => {
    const { all, logs, store } = create();
    const log = all.open("s");
    for (const n of [0, 1, 2]) expect(await log?.add(fragment(n))).toBeDefined();
    const name = log?.name ?? "";
    expect(fromLog(logs.get(name) ?? Buffer.alloc(0))).toEqual([
      fragment(0),
      fragment(1),
      fragment(2),
    ]);
    // Of what was written behind the acknowledged fragments nothing counts.
    const recorded = { fragments: 2, log: name, rows: [] };
    expect(await readFragments(store, "s", recorded)).toEqual([fragment(0), fragment(1)]);
  });

  it("are read up to what is cut off or damaged, wherever that is", async () => {
    const entries = [0, 1, 2].map((n) => toLogEntry(fragment(n)));
    const whole = Buffer.concat(entries);
    for (let cut = 0; cut < whole.length; cut += 7) {
      expect(fromLog(whole.subarray(0, cut))).toHaveLength(Math.floor(cut / 116));
    }
    for (let at = 0; at < whole.length; at += 5) {
      const damaged = Buffer.from(whole);
      damaged.writeUInt8((damaged[at] ?? 0) ^ 1, at);
      expect(fromLog(damaged)).toHaveLength(Math.floor(at / 116));
    }
  });

  it("leave fragments to the record once one is refused, and are tried again with a later chunk", async () => {
    const place = create();
    const { all, runtime, store } = place;
    const log = all.open("s");
    expect(await log?.add(fragment(0))).toBeDefined();
    place.fail(failing("storage_full"));
    expect(await log?.add(fragment(1))).toBeUndefined();
    place.fail(undefined);
    // What was given up could yet come to stand where the next one would.
    expect(await log?.add(fragment(2))).toBeUndefined();
    expect(all.open("other")).toBeUndefined();
    const rows = [fragment(1), fragment(2)];
    const recorded = { fragments: 3, log: log?.name, rows };
    expect(await readFragments(store, "s", recorded)).toEqual([fragment(0), ...rows]);
    await runtime.pass(10_000, settled);
    expect(await all.open("other")?.add(fragment(0))).toBeDefined();
  });

  it("wait two seconds for a store that hangs, and not longer", async () => {
    const place = create();
    const log = place.all.open("s");
    place.fail(() => new Promise(() => {}));
    let added: string | undefined = "not told";
    void log?.add(fragment(0)).then((name) => {
      added = name;
    });
    await place.runtime.pass(1_900, settled);
    expect(added).toBe("not told");
    await place.runtime.pass(200, settled);
    expect(added).toBeUndefined();
  });

  it("that come to be after they were given up are removed", async () => {
    const place = create();
    let go = () => {};
    place.fail(
      () =>
        new Promise((resolve) => {
          go = () => resolve(undefined as never);
        }),
    );
    void place.all.open("s")?.add(fragment(0));
    await place.runtime.pass(2_100, settled);
    expect(place.logs.size).toBe(0);
    go();
    await settled();
    await place.runtime.pass(10, settled);
    expect(place.logs.size).toBe(0);
  });

  it("that are gone with their session keep no other stream from the store", async () => {
    const place = create();
    const log = place.all.open("s");
    place.fail(failing("not_found"));
    expect(await log?.add(fragment(1))).toBeUndefined();
    expect(place.all.open("other")).toBeDefined();
  });

  it("stay for a minute after their chunk is stored, and go at the latest with the process", async () => {
    const { all, logs, runtime } = create();
    const [first, second] = [newId(), newId()];
    for (const name of [first, second]) logs.set(name, Buffer.alloc(1));
    all.retire("s", first);
    await runtime.pass(59_000, settled);
    all.retire("s", second);
    expect(logs.size).toBe(2);
    await runtime.pass(2_000, settled);
    expect([...logs.keys()]).toEqual([second]);
    await all.stop();
    expect(logs.size).toBe(0);
  });
});
