import { afterEach, beforeEach, describe, expect, it } from "vitest";
import type { RecordedRevocations } from "../../../src/access/ended-rights-store.ts";
import { RevocationReader } from "../../../src/access/revocation-reader.ts";
import type { RevocationEvent } from "../../../src/access/revocations.ts";
import { AppError } from "../../../src/base/errors.ts";
import { silentLog } from "../../../src/base/log.ts";
import { settled, VirtualRuntime } from "../../support/late/virtual-runtime.ts";

const user = (userId: string): RevocationEvent => ({ kind: "user", userId });
const MINUTE = 60_000;

describe("reader of ended rights", () => {
  let runtime: VirtualRuntime;
  let asked: (string | undefined)[];
  let told: RevocationEvent[];
  let deaf: boolean;
  let answer: (snapshot: string | undefined, most: number) => Promise<RecordedRevocations>;
  let reader: RevocationReader;

  const found = (ended: RevocationEvent[] = [], server = 1): RecordedRevocations => ({
    snapshot: `look ${asked.length}`,
    server,
    at: runtime.now(),
    ended,
  });

  beforeEach(async () => {
    runtime = new VirtualRuntime();
    asked = [];
    told = [];
    answer = async () => found();
    const since = (snapshot: string | undefined, most: number) => {
      asked.push(snapshot);
      return answer(snapshot, most);
    };
    deaf = false;
    const tell = (event: RevocationEvent): void => {
      if (deaf) throw new Error("not heard");
      told.push(event);
    };
    reader = new RevocationReader({ record: { since }, notify: tell, runtime, log: silentLog });
    await reader.start();
  });
  afterEach(() => reader.stop());

  const pass = (ms: number) => runtime.pass(ms, settled);

  it("looks every 2 s, each time from where the last poll ended", async () => {
    await pass(6_000);
    expect(asked).toEqual([undefined, "look 1", "look 2", "look 3"]);
  });

  it("tells what it finds, once", async () => {
    answer = async () => found([user("a"), user("b")]);
    await pass(2_000);
    answer = async () => found();
    await pass(4_000);
    expect(told).toEqual([user("a"), user("b")]);
  });

  it("record away: tells nothing, and goes on from where it stood", async () => {
    answer = async () => {
      throw new AppError("unavailable", "away");
    };
    await pass(60_000);
    expect(told).toEqual([]);
    expect(new Set(asked.slice(1))).toEqual(new Set(["look 1"]));
    answer = async (snapshot) => found(snapshot === "look 1" ? [user("a")] : []);
    await pass(4_000);
    expect(told).toEqual([user("a")]);
  });

  it("one look at a time; one without an answer is given up, and the next is another", async () => {
    answer = () => new Promise(() => {});
    await pass(9_000);
    expect(asked).toHaveLength(2);
    await pass(5_000);
    expect(asked).toHaveLength(3);
    await pass(10_000);
  });

  it("a look after minutes without one: rows may be gone, everybody is in doubt", async () => {
    answer = async () => {
      throw new AppError("unavailable", "away");
    };
    await pass(9 * MINUTE);
    answer = async () => found([user("a")]);
    await pass(2_000);
    expect(told).toEqual([{ kind: "unknown" }]);
  });

  it("another server: its numbers are not those of the last, everybody is in doubt", async () => {
    answer = async () => found([], 2);
    await pass(6_000);
    expect(told).toEqual([{ kind: "unknown" }]);
  });

  it("more than a thousand at a time: everybody is in doubt", async () => {
    answer = async (_, most) => found(Array.from({ length: most }, (_each, n) => user(`${n}`)));
    await pass(2_000);
    expect(told).toEqual([{ kind: "unknown" }]);
  });

  it("what could not be told is read and told again", async () => {
    answer = async (snapshot) => found(snapshot === "look 1" ? [user("a")] : []);
    deaf = true;
    await pass(2_000);
    deaf = false;
    await pass(4_000);
    expect(told).toEqual([user("a")]);
  });
});
