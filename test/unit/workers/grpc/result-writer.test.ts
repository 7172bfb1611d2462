import { Duplex } from "node:stream";
import { describe, expect, it } from "vitest";
import { MAX_WAITING, ResultWriter } from "../../../../workers/grpc/transcribe-call.ts";
import type { EncodedCall } from "../../../../workers/grpc/worker-service.ts";
import type { EncodedResult } from "../../../../workers/threads/thread-protocol.ts";

/** A stream that takes a message only when the test lets it. */
class SlowCall extends Duplex {
  readonly taken: string[] = [];
  #take: (() => void) | undefined;

  constructor() {
    super({ objectMode: true, writableHighWaterMark: 2 });
  }

  override _read(): void {}

  override _write(bytes: Buffer, _encoding: string, taken: () => void): void {
    this.taken.push(bytes.toString());
    this.#take = taken;
  }

  /** Takes all there is, and what comes meanwhile. */
  async takeAll(): Promise<void> {
    for (let take = this.#take; take !== undefined; take = this.#take) {
      this.#take = undefined;
      take();
      await new Promise((resolve) => setImmediate(resolve));
    }
  }
}

function result(kind: EncodedResult["kind"], text: string): EncodedResult {
  return { kind, bytes: Buffer.from(text) };
}

function create() {
  const call = new SlowCall();
  const congestion: boolean[] = [];
  const overflows: number[] = [];
  const writer: ResultWriter = new ResultWriter({
    call: call as unknown as EncodedCall,
    onCongestion: (congested) => congestion.push(congested),
    onOverflow: () => overflows.push(writer.waiting),
  });
  return { call, writer, congestion, overflows };
}

describe("result writer: a slow client", () => {
  it("stops the session, keeps finals, and only the newest hypothesis", async () => {
    const { call, writer, congestion } = create();
    for (const n of [1, 2, 3]) writer.write(result("utterance", `final ${n}`));
    for (const n of [1, 2, 3]) writer.write(result("hypothesis", `interim ${n}`));
    writer.write(result("utterance", "final 4"));
    expect(congestion).toEqual([true]);
    await call.takeAll();
    expect(call.taken).toEqual(["final 1", "final 2", "final 3", "interim 3", "final 4"]);
    expect(congestion).toEqual([true, false]);
  });

  it("ends after the last waiting result", async () => {
    const { call, writer } = create();
    for (const n of [1, 2, 3, 4]) writer.write(result("utterance", `${n}`));
    writer.end();
    writer.write(result("utterance", "late"));
    expect(call.writableEnded).toBe(false);
    await call.takeAll();
    expect(call.taken).toEqual(["1", "2", "3", "4"]);
    expect(call.writableEnded).toBe(true);
  });

  it("says when more waits than may", async () => {
    const { writer, overflows } = create();
    // Two are with the stream; the others wait.
    for (let n = 0; n < MAX_WAITING + 2; n += 1) writer.write(result("utterance", `${n}`));
    expect(overflows).toEqual([]);
    writer.write(result("utterance", "one too many"));
    expect(overflows).toEqual([MAX_WAITING + 1]);
  });
});
