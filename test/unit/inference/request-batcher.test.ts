import { describe, expect, it } from "vitest";
import { RequestBatcher } from "../../../src/inference/grpc-transcription.ts";
import type { TranscribeRequest } from "../../../src/wire/gen/voice/v1/worker.ts";

function chunk(sequence: number, bytes = 8): TranscribeRequest {
  const value = { sequence, start: 0, length: 1, mediaType: "", data: Buffer.alloc(bytes) };
  return { message: { $case: "chunk", value } };
}

function create() {
  const written: number[][] = [];
  const sink = {
    writableNeedDrain: false,
    write: ({ message }: TranscribeRequest): boolean => {
      const requests = message?.$case === "batch" ? message.value.requests : [{ message }];
      written.push(requests.map((each) => sequenceOf(each)));
      return !sink.writableNeedDrain;
    },
  };
  return { batcher: new RequestBatcher(sink), sink, written };
}

function sequenceOf({ message }: TranscribeRequest): number {
  return message?.$case === "chunk" ? message.value.sequence : Number.NaN;
}

const turn = () => new Promise<void>((resolve) => setImmediate(resolve));

describe("request batcher", () => {
  it("writes the first at once and what follows in the turn together, in order", async () => {
    const { batcher, written } = create();
    for (const sequence of [0, 1, 2]) batcher.write(chunk(sequence));
    expect(written).toEqual([[0]]);
    await turn();
    expect(written).toEqual([[0], [1, 2]]);
  });

  it("lets none wait that comes by itself", async () => {
    const { batcher, written } = create();
    for (const sequence of [0, 1, 2]) {
      batcher.write(chunk(sequence));
      await turn();
    }
    expect(written).toEqual([[0], [1], [2]]);
  });

  it("goes on with batches while every turn brings more", async () => {
    const { batcher, written } = create();
    for (const start of [0, 3, 6]) {
      for (const offset of [0, 1, 2]) batcher.write(chunk(start + offset));
      await turn();
    }
    expect(written.flat()).toEqual([0, 1, 2, 3, 4, 5, 6, 7, 8]);
    expect(written.slice(2)).toEqual([
      [3, 4, 5],
      [6, 7, 8],
    ]);
  });

  it("writes a batch that is large enough without waiting, and says when the sink is full", () => {
    const { batcher, sink, written } = create();
    for (let sequence = 0; sequence < 65; sequence += 1) batcher.write(chunk(sequence));
    expect(written.map(({ length }) => length)).toEqual([1, 64]);
    expect(batcher.write(chunk(65, 128 * 1024))).toBe(true);
    sink.writableNeedDrain = true;
    expect(batcher.write(chunk(66, 128 * 1024))).toBe(false);
    expect(written.at(-1)).toEqual([65, 66]);
    expect(batcher.write(chunk(67))).toBe(false);
  });

  it("writes what waits when told, and nothing once closed", async () => {
    const { batcher, written } = create();
    for (const sequence of [0, 1]) batcher.write(chunk(sequence));
    batcher.flush();
    expect(written).toEqual([[0], [1]]);
    batcher.write(chunk(2));
    batcher.close();
    await turn();
    expect(written).toEqual([[0], [1]]);
  });
});
