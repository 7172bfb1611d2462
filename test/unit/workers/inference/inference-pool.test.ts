import { once } from "node:events";
import { afterEach, describe, expect, it } from "vitest";
import { InferencePool } from "../../../../workers/inference/inference-pool.ts";
import type {
  InferenceCall,
  InferenceRequest,
} from "../../../../workers/inference/inference-protocol.ts";

const ENTRY = new URL("../../../support/held-inference-entry.ts", import.meta.url);

describe("inference pool", () => {
  let pool: InferencePool;
  afterEach(() => pool.stop());

  async function started(threads: number) {
    pool = new InferencePool({ threads, entry: ENTRY });
    await pool.start();
    const port = pool.connect();
    const ask = (id: number, kind: "embed" | "segment", share: string, samples = 1): void => {
      const request: InferenceRequest = { kind, pcm: new Int16Array(samples), isFinal: true };
      port.postMessage({ kind: "run", id, request, share } satisfies InferenceCall);
    };
    return { port, ask };
  }

  it.each([1, 2])(
    "a share of which nothing runs is served at once, though another has all places of %i threads",
    async (threads) => {
      const { port, ask } = await started(threads);
      for (let id = 1; id <= 50; id += 1) ask(id, "segment", "mallory");
      ask(51, "embed", "alice");
      const [event] = await once(port, "message", { signal: AbortSignal.timeout(20_000) });
      expect(event).toMatchObject({ kind: "done", id: 51 });
      ask(52, "embed", "alice");
      const [next] = await once(port, "message", { signal: AbortSignal.timeout(20_000) });
      expect(next).toMatchObject({ kind: "done", id: 52 });
      port.close();
    },
  );

  it("a share that is light beside another has all that its piece asks for run at once", async () => {
    const { port, ask } = await started(1);
    ask(1, "embed", "mallory", 10_000);
    await once(port, "message", { signal: AbortSignal.timeout(20_000) });
    for (let id = 2; id <= 50; id += 1) ask(id, "segment", "mallory");
    for (const id of [51, 52]) ask(id, "segment", "alice");
    ask(53, "embed", "alice");
    const [event] = await once(port, "message", { signal: AbortSignal.timeout(20_000) });
    expect(event).toMatchObject({ kind: "done", id: 53 });
    ask(54, "segment", "alice");
    ask(55, "embed", "alice");
    // No more than so many.
    await expect(once(port, "message", { signal: AbortSignal.timeout(300) })).rejects.toMatchObject(
      { name: "AbortError" },
    );
    port.close();
  });

  it("places are bounded all the same", async () => {
    const { port, ask } = await started(1);
    for (let id = 1; id <= 10; id += 1) ask(id, "segment", `account ${id}`);
    ask(11, "embed", "alice");
    // It waits behind them, so that this one alone could be answered before.
    await expect(once(port, "message", { signal: AbortSignal.timeout(300) })).rejects.toMatchObject(
      { name: "AbortError" },
    );
    expect(pool.queues).toMatchObject([{ length: 11 }]);
    port.close();
  });
});
