import { afterEach, beforeEach, expect, it, vi } from "vitest";
import { WaitingWatch } from "../../../../src/cli/commands/follow-session.ts";

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

it("cli waiting: after the stop it is told for which chunks, once for each set of them", async () => {
  let asked = 0;
  let waiting: { chunk_sequences: number[]; message: string } | undefined;
  const user = {
    call: async () => {
      asked += 1;
      if (waiting === undefined && asked === 2) throw new Error("away");
      return { waiting } as never;
    },
  };
  const told: string[] = [];
  let isStopped = false;
  const watch = new WaitingWatch(user, {
    sessionId: "s",
    isStopped: () => isStopped,
    onWaiting: (message) => void told.push(message),
  });
  const look = () => vi.advanceTimersByTimeAsync(2_000);
  await look();
  expect([asked, watch.message]).toEqual([0, undefined]);
  isStopped = true;
  await look();
  await look();
  expect([asked, told]).toEqual([2, []]);
  waiting = { chunk_sequences: [1, 2], message: "12 s ago" };
  await look();
  waiting = { chunk_sequences: [1, 2], message: "14 s ago" };
  await look();
  expect([told, watch.message]).toEqual([["12 s ago"], "14 s ago"]);
  waiting = { chunk_sequences: [2], message: "1 s ago" };
  await look();
  expect(told).toEqual(["12 s ago", "1 s ago"]);
  isStopped = false;
  expect(watch.message).toBeUndefined();
  watch.stop();
});
