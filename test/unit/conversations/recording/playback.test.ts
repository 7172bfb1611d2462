import { expect, it } from "vitest";
import { systemClock } from "../../../../src/base/clock.ts";
import { AppError } from "../../../../src/base/errors.ts";
import { sessionAudioRoutes } from "../../../../src/conversations/recording/playback.ts";
import type { Recording } from "../../../../src/conversations/recording/playback-store.ts";
import type { Request } from "../../../../src/rest/route.ts";

const SAMPLES = 4;
const HEAD = 44;

/** Pieces of the answer to a request with these headers, until it ends or fails. */
async function answered(read: Recording["read"], headers: Record<string, string> = {}) {
  const recording: Recording = { samples: SAMPLES, version: "1", redactions: "0", read };
  const options = { recordings: { open: async () => recording }, clock: systemClock };
  const [route] = sessionAudioRoutes(options as never);
  const request = { method: "GET", headers } as Partial<Request>;
  const session = { id: "s", status: "completed" };
  const { status, stream } = (await route?.handle(request as Request, { session } as never)) ?? {};
  const pieces: Uint8Array[] = [];
  let fault: unknown;
  try {
    const signal = new AbortController().signal;
    for await (const piece of stream?.open(signal) ?? []) pieces.push(piece as Uint8Array);
  } catch (error) {
    fault = error;
  }
  return { status, length: stream?.length, bytes: Buffer.concat(pieces), fault };
}

async function* all(from: number, to: number) {
  yield Buffer.from([1, 2, 3, 4, 5, 6, 7, 8].slice(2 * from, 2 * to));
}

it("nothing is sent before the first sound was read: a store that cannot be read is told by the status", async () => {
  const away = new AppError("unavailable", "The service's storage cannot be used just now.");
  // biome-ignore lint/correctness/useYield: it fails before
  const { bytes, fault } = await answered(async function* () {
    throw away;
  });
  expect([bytes.length, fault]).toEqual([0, away]);
});

it.each([
  ["all of it", undefined, HEAD + 8, [1, 2, 3, 4, 5, 6, 7, 8]],
  ["the head alone", "bytes=0-43", HEAD, []],
  ["a part of the head", "bytes=40-43", 4, undefined],
  ["across the head's end", "bytes=42-46", 5, undefined],
  ["odd bytes of samples", "bytes=45-50", 6, [2, 3, 4, 5, 6, 7]],
])("%s", async (_name, range, length, sound) => {
  const answer = await answered(all, range === undefined ? {} : { range });
  expect(answer).toMatchObject({ status: range === undefined ? 200 : 206, length });
  expect(answer.bytes).toHaveLength(length);
  const whole = (await answered(all)).bytes;
  const from = Number(/=(\d+)/.exec(range ?? "=0")?.[1]);
  expect(answer.bytes).toEqual(whole.subarray(from, from + length));
  if (sound !== undefined) expect([...answer.bytes].slice(Math.max(0, HEAD - from))).toEqual(sound);
});

it("a recording without sound is its head", async () => {
  const { bytes, fault } = await answered(async function* () {}, { range: "bytes=0-43" });
  expect([bytes.length, fault]).toEqual([HEAD, undefined]);
});
