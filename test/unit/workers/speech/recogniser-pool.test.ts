import { afterEach, describe, expect, it, vi } from "vitest";
import type { Recogniser } from "../../../../workers/speech/recogniser.ts";
import { RecogniserPool } from "../../../../workers/speech/recogniser-pool.ts";

class CountedRecogniser implements Recogniser {
  readonly engine = "counted";
  readonly engineVersion = "1";
  restored = 0;
  closed = false;

  async useVocabulary(): Promise<void> {}
  dropVocabulary(): void {}
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

function makePool(size: number, waiters = 1, waitMs = 10_000, onShrunk = () => {}) {
  const made: CountedRecogniser[] = [];
  const create = async (): Promise<CountedRecogniser> => {
    const recogniser = new CountedRecogniser();
    made.push(recogniser);
    return recogniser;
  };
  return { pool: new RecogniserPool(create, { size, waiters, waitMs, onShrunk }), made };
}

describe("recogniser pool", () => {
  afterEach(() => {
    vi.useRealTimers();
  });

  it("recogniser pool: of those that stay idle one is kept, and what the others held is given back", async () => {
    vi.useFakeTimers();
    let shrunk = 0;
    const { pool, made } = makePool(3, 1, 10_000, () => {
      shrunk += 1;
    });
    const used = [await pool.take(), await pool.take()];
    await vi.waitFor(() => expect(made).toHaveLength(3));
    for (const recogniser of used) pool.give(recogniser);
    vi.advanceTimersByTime(59_000);
    expect(made.filter(({ closed }) => closed)).toHaveLength(0);
    vi.advanceTimersByTime(1_000);
    expect(made.filter(({ closed }) => closed)).toHaveLength(2);
    expect(shrunk).toBe(1);
    const kept = await pool.take();
    expect(made.find(({ closed }) => !closed)).toBe(kept);
  });

  it("recogniser pool: one that was idle and is needed again is not closed", async () => {
    vi.useFakeTimers();
    const { pool, made } = makePool(2);
    const first = await pool.take();
    await vi.waitFor(() => expect(made).toHaveLength(2));
    pool.give(first);
    vi.advanceTimersByTime(59_000);
    const again = await pool.take();
    vi.advanceTimersByTime(59_000);
    pool.give(again);
    vi.advanceTimersByTime(59_000);
    expect(made.filter(({ closed }) => closed)).toHaveLength(0);
    await pool.close();
    expect(made.every(({ closed }) => closed)).toBe(true);
    expect(vi.getTimerCount()).toBe(0);
  });

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
