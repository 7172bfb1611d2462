import { describe, expect, it } from "vitest";
import type { Recogniser } from "../../../../workers/speech/recogniser.ts";
import { RecogniserPool } from "../../../../workers/speech/recogniser-pool.ts";

class CountedRecogniser implements Recogniser {
  readonly engine = "counted";
  readonly engineVersion = "1";
  restored = 0;
  closed = false;

  isAdapted(): boolean {
    return false;
  }
  calibrate(): void {}
  start(): void {}
  feed(): void {}
  hypothesis(): never[] {
    return [];
  }
  finish(): never[] {
    return [];
  }
  discard(): void {}
  state(): Uint8Array {
    return new Uint8Array(0);
  }
  restore(): void {
    this.restored += 1;
  }
  close(): void {
    this.closed = true;
  }
}

function makePool(size: number, waiters = 1, waitMs = 10_000) {
  const made: CountedRecogniser[] = [];
  const create = async (): Promise<CountedRecogniser> => {
    const recogniser = new CountedRecogniser();
    made.push(recogniser);
    return recogniser;
  };
  return { pool: new RecogniserPool(create, { size, waiters, waitMs }), made };
}

describe("recogniser pool", () => {
  it("recogniser pool: uses again what was given back, in its initial state", async () => {
    const { pool, made } = makePool(1);
    const first = await pool.take();
    pool.give(first);
    expect(await pool.take()).toBe(first);
    expect(made).toHaveLength(1);
    expect(made[0]?.restored).toBe(1);
  });

  it("recogniser pool: makes one ahead while any is in use, and never more than its size", async () => {
    const { pool, made } = makePool(3);
    await pool.start();
    expect(made).toHaveLength(1);
    const taken = [await pool.take()];
    await expect.poll(() => made.length).toBe(2);
    taken.push(await pool.take());
    await expect.poll(() => made.length).toBe(3);
    taken.push(await pool.take());
    expect(new Set(taken)).toEqual(new Set(made));
    const waiting = pool.take();
    pool.give(taken[0] as CountedRecogniser);
    expect(await waiting).toBe(taken[0]);
    expect(made).toHaveLength(3);
  });

  it("recogniser pool: many at once get one each, not more than its size", async () => {
    const { pool, made } = makePool(3, 0);
    const taken = await Promise.allSettled(Array.from({ length: 5 }, () => pool.take()));
    expect(taken.filter(({ status }) => status === "fulfilled")).toHaveLength(3);
    expect(made).toHaveLength(3);
  });

  it("recogniser pool: what cannot be made is told to whoever asks, and tried again", async () => {
    let fails = true;
    const create = async () => {
      if (fails) throw new Error("no model");
      return new CountedRecogniser();
    };
    const pool = new RecogniserPool(create, { size: 1, waitMs: 10_000, waiters: 1 });
    await expect(pool.start()).rejects.toThrow("no model");
    await expect(pool.take()).rejects.toThrow("no model");
    fails = false;
    expect(await pool.take()).toBeInstanceOf(CountedRecogniser);
  });

  it("recogniser pool: one that is being made when the pool closes is closed", async () => {
    const { pool, made } = makePool(2);
    const first = await pool.take();
    await pool.close();
    expect(made.map(({ closed }) => closed)).toEqual([false, true]);
    pool.give(first);
    expect(made[0]?.closed).toBe(true);
  });

  it("recogniser pool: who waits gets the next that is given back, the rest is refused", async () => {
    const { pool } = makePool(1);
    const first = await pool.take();
    const second = pool.take();
    await expect(pool.take()).rejects.toMatchObject({ code: "overloaded" });
    pool.give(first);
    expect(await second).toBe(first);
  });

  it("recogniser pool: waiting ends", async () => {
    const { pool } = makePool(1, 1, 1);
    await pool.take();
    await expect(pool.take()).rejects.toMatchObject({ code: "overloaded" });
  });

  it("recogniser pool: a broken one is replaced, a closed pool gives none", async () => {
    const { pool, made } = makePool(1);
    pool.give(await pool.take(), true);
    expect(made[0]?.closed).toBe(true);
    const second = await pool.take();
    const waiting = pool.take();
    void pool.close();
    await expect(waiting).rejects.toMatchObject({ code: "unavailable" });
    await expect(pool.take()).rejects.toMatchObject({ code: "unavailable" });
    pool.give(second);
    expect(made[1]?.closed).toBe(true);
  });
});
