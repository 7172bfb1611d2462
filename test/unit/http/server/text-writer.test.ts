import { describe, expect, it } from "vitest";
import { TextWriter } from "../../../../src/http/server/text-writer.ts";

/** A response whose socket takes `room` texts before it is full. */
function open(room: number) {
  const written: string[] = [];
  let drain: ((offset: number) => boolean) | undefined;
  const state = { isClosed: false, hasEnded: false };
  const writer: TextWriter = new TextWriter(
    {
      cork(work: () => void) {
        work();
        return this as never;
      },
      write(text) {
        written.push(String(text));
        return written.length % (room + 1) !== 0;
      },
      end() {
        state.hasEnded = true;
        return this as never;
      },
      onWritable(handler) {
        drain = handler;
        return this as never;
      },
      close() {
        state.isClosed = true;
        writer.gone();
        return this as never;
      },
    },
    30,
  );
  return { writer, written, state, drain: () => drain?.(0) };
}

describe("text writer", () => {
  it("text writer: waits for a full socket, and goes on when it has room", async () => {
    const { writer, written, state, drain } = open(1);
    expect(await writer.write("one")).toBe(true);
    const second = writer.write("two");
    expect(await Promise.race([second, Promise.resolve("waits")])).toBe("waits");
    drain();
    expect(await second).toBe(true);
    expect(await writer.write("three")).toBe(true);
    writer.end();
    expect([written, state.hasEnded, writer.complete]).toEqual([
      ["one", "two", "three"],
      true,
      true,
    ]);
  });

  it("text writer: a client that takes nothing loses its connection", async () => {
    const { writer, state } = open(0);
    expect(await writer.write("one")).toBe(false);
    expect(state.isClosed).toBe(true);
    expect(await writer.write("two")).toBe(false);
    writer.end();
    expect(state.hasEnded).toBe(false);
  });
});
