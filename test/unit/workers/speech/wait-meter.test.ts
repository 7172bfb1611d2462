import { afterEach, beforeEach, expect, it, vi } from "vitest";
import { WaitMeter } from "../../../../workers/speech/metered-recogniser.ts";

beforeEach(() => {
  vi.useFakeTimers({ toFake: ["performance"] });
});
afterEach(() => {
  vi.useRealTimers();
});

it("sums up waits from their first look to the one at which they are over", () => {
  const meter = new WaitMeter();
  const look = (waits: boolean, afterMs: number) => {
    vi.advanceTimersByTime(afterMs);
    meter.sample(waits);
  };
  look(false, 10);
  look(true, 10);
  look(true, 30);
  expect(meter.ms).toBe(0);
  look(false, 20);
  expect(meter.ms).toBe(50);
  look(false, 100);
  look(true, 100);
  look(false, 5);
  expect(meter.ms).toBe(55);
});
