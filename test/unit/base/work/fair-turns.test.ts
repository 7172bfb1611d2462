import { describe, expect, it } from "vitest";
import { createDeferred, type Deferred } from "../../../../src/base/deferred.ts";
import { FairTurns } from "../../../../src/base/work/fair-turns.ts";

/** Work of tenants that ends when it is told to, in the order in which it began. */
class Work {
  readonly turns: FairTurns;
  readonly begun: string[] = [];
  readonly #running: Deferred<void>[] = [];

  constructor(longestWaitMs = 60_000) {
    this.turns = new FairTurns({
      ...{ queue: "q", what: "Working", atOnce: 2, atOnceOfOne: 1, retryAfter: 1, longestWaitMs },
      waiting: { capacity: 40, share: 30 },
    });
  }

  async ask(tenant: string, name = tenant, signal?: AbortSignal): Promise<string> {
    const work = async () => {
      this.begun.push(name);
      const end = createDeferred<void>();
      this.#running.push(end);
      await end.promise;
      return name;
    };
    return await this.turns.run(tenant, work, signal);
  }

  /** Ends what began first, and lets the next begin. */
  async endOne(): Promise<void> {
    this.#running.shift()?.resolve();
    await settled();
  }
}

async function settled(): Promise<void> {
  for (let turn = 0; turn < 10; turn += 1) await Promise.resolve();
}

function codeOf(asked: Promise<unknown>): Promise<string> {
  return asked.then(
    () => "done",
    (error: { code: string }) => error.code,
  );
}

describe("fair turns", () => {
  it("fair turns: one tenant with fifty workspaces and much to do does not delay another", async () => {
    const work = new Work();
    const flood = Array.from({ length: 50 }, (_, n) => codeOf(work.ask("flood", `flood ${n}`)));
    await settled();
    // Of its own it has one under way, although two might be.
    expect(work.begun).toEqual(["flood 0"]);
    void work.ask("other");
    await settled();
    expect(work.begun).toEqual(["flood 0", "other"]);
    void work.ask("other", "other again");
    void work.ask("third");
    for (let ended = 0; ended < 4; ended += 1) await work.endOne();
    expect(work.begun.slice(2)).toEqual(["flood 1", "other again", "third", "flood 2"]);
    const refused = (await Promise.race([Promise.all(flood.slice(31)), settled()])) as string[];
    expect(new Set(refused)).toEqual(new Set(["overloaded"]));
  });

  it("fair turns: what is refused and what fails gives its turn on", async () => {
    const work = new Work();
    const failing = work.turns.run("a", () => {
      throw new Error("broken");
    });
    await expect(failing).rejects.toThrow("broken");
    void work.ask("a");
    await settled();
    expect(work.begun).toEqual(["a"]);
    expect(work.turns.queues).toMatchObject([{ queue: "q", length: 1, limit: 42, refused: 0 }]);
  });

  it("fair turns: who goes takes no turn, and keeps no place of those who wait", async () => {
    const work = new Work();
    const gone = new AbortController();
    void work.ask("a", "first");
    const flood = Array.from({ length: 30 }, (_, n) =>
      codeOf(work.ask("a", `waits ${n}`, gone.signal)),
    );
    expect(await codeOf(work.ask("a", "refused"))).toBe("overloaded");
    gone.abort();
    expect(new Set(await Promise.all(flood))).toEqual(new Set(["unavailable"]));
    expect(work.turns.queues).toMatchObject([{ length: 1 }]);
    expect(await codeOf(work.ask("b", "gone before", gone.signal))).toBe("unavailable");
    void work.ask("a", "second");
    await settled();
    await work.endOne();
    expect(work.begun).toEqual(["first", "second"]);
  });

  it("fair turns: who waits too long is refused, and takes no turn any more", async () => {
    const work = new Work(1);
    void work.ask("a", "first");
    expect(await codeOf(work.ask("a", "second"))).toBe("overloaded");
    await work.endOne();
    expect(work.begun).toEqual(["first"]);
    expect(work.turns.queues).toMatchObject([{ length: 0 }]);
    void work.ask("a", "third");
    await settled();
    expect(work.begun).toEqual(["first", "third"]);
  });
});
