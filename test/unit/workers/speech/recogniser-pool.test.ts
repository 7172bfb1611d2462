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
  const create = (): CountedRecogniser => {
    const recogniser = new CountedRecogniser();
    made.push(recogniser);
    return recogniser;
  };
  return { pool: new RecogniserPool(create, { size, waiters, waitMs }), made };
}

describe("recogniser pool", () => {
  it("recogniser pool: uses again what was given back, in its initial state", async () => {
    const { pool, made } = makePool(2);
    const first = await pool.take();
    pool.give(first);
    expect(await pool.take()).toBe(first);
    expect(made).toHaveLength(1);
    expect(made[0]?.restored).toBe(1);
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
    pool.close();
    await expect(waiting).rejects.toMatchObject({ code: "unavailable" });
    await expect(pool.take()).rejects.toMatchObject({ code: "unavailable" });
    pool.give(second);
    expect(made[1]?.closed).toBe(true);
  });
});
