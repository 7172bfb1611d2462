import { describe, expect, it } from "vitest";
import { LoopDelay } from "../../../src/base/loop-delay.ts";
import { OpsMetrics } from "../../../src/http/operations.ts";
import { opsSource } from "../../../workers/ops-source.ts";

describe("event loop delay", () => {
  it("loop delay: is watched while the process works, and not while it rests", () => {
    const delay = new LoopDelay();
    delay.look(0.5);
    expect(delay.isWatching).toBe(true);
    delay.look(0.001);
    expect(delay.isWatching).toBe(false);
  });

  it("loop delay: nothing watched is told as no delay", () => {
    const delay = new LoopDelay();
    expect(delay.text()).toMatch(/^nodejs_eventloop_lag_min_seconds 0$/m);
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

function expectEachOnce(text: string): void {
  for (const part of ["", "_min", "_max", "_mean", "_stddev", "_p50", "_p90", "_p99"]) {
    expect(text.match(new RegExp(`^nodejs_eventloop_lag${part}_seconds \\d`, "gm"))).toHaveLength(
      1,
    );
  }
  expect(text).toMatch(/^process_resident_memory_bytes \d/m);
}
