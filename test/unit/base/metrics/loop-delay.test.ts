import { describe, expect, it } from "vitest";
import { LoopDelay } from "../../../../src/base/metrics/loop-delay.ts";
import { OpsMetrics } from "../../../../src/http/operations.ts";
import { opsSource } from "../../../../workers/ops-source.ts";

describe("event loop delay", () => {
  it("loop delay: is watched while the process works, and not while it rests", () => {
    const delay = new LoopDelay();
    delay.sample(0.5);
    expect(delay.isWatching).toBe(true);
    delay.sample(0.001);
    expect(delay.isWatching).toBe(false);
  });

  it("loop delay: nothing watched is told as no delay", () => {
    const delay = new LoopDelay();
    expect(delay.text()).toMatch(/^nodejs_eventloop_lag_min_seconds 0$/m);
  });

  it("loop delay: a pause of measuring is no delay", () => {
    const { delay, pass } = watchedBy();
    delay.sample(0.5);
    pass(990, 10);
    delay.sample(0.001);
    pass(1_000);
    delay.sample(0.5);
    pass(10);
    delay.tick();
    expect(delay.longestMs).toBeCloseTo(10, 0);
  });

  it("loop delay: what held the loop up is told, in the midst of work and after a rest", () => {
    const { delay, pass } = watchedBy();
    delay.sample(0.5);
    pass(700);
    delay.tick();
    expect(delay.longestMs).toBeCloseTo(700, -1);
    delay.sample(0.001);
    pass(2_500);
    delay.sample(0.9);
    expect(delay.text()).toMatch(/^nodejs_eventloop_lag_max_seconds 1\.5/m);
    expect(delay.longestMs).toBe(0);
  });

  it("loop delay: every figure of the process is told under its usual name, once", async () => {
    const queues = { queues: [] };
    const sessions = () => ({ held: 0, capacity: 1 });
    const standing = { version: "1", isDraining: () => false, sessions, isAnnounced: () => true };
    const main = await new OpsMetrics([], queues).text();
    const worker = await opsSource(queues, standing).metrics.text();
    for (const text of [main, worker]) expectEachOnce(text);
  });
});

/** One whose clock stands still but for what passes; with `every`, ticks are on time. */
function watchedBy() {
  let now = 0;
  const delay = new LoopDelay(() => now);
  const pass = (ms: number, every = ms + 1): void => {
    const end = now + ms;
    for (; now + every <= end; ) {
      now += every;
      delay.tick();
    }
    now = end;
  };
  return { delay, pass };
}

function expectEachOnce(text: string): void {
  for (const part of ["", "_min", "_max", "_mean", "_stddev", "_p50", "_p90", "_p99"]) {
    expect(text.match(new RegExp(`^nodejs_eventloop_lag${part}_seconds \\d`, "gm"))).toHaveLength(
      1,
    );
  }
  expect(text).toMatch(/^process_resident_memory_bytes \d/m);
}
