import { Registry } from "prom-client";
import { describe, expect, it } from "vitest";
import { LoopDelay, registerProcessMetrics } from "../../../src/base/loop-delay.ts";

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
    expect(delay.read(({ min }) => min)).toBe(0);
  });

  it("loop delay: every figure of the process is told under its usual name, once", async () => {
    const registry = new Registry();
    registerProcessMetrics(registry);
    const text = await registry.metrics();
    for (const part of ["", "_min", "_max", "_mean", "_stddev", "_p50", "_p90", "_p99"]) {
      expect(text.match(new RegExp(`^nodejs_eventloop_lag${part}_seconds \\d`, "gm"))).toHaveLength(
        1,
      );
    }
    expect(text).toMatch(/^process_resident_memory_bytes \d/m);
  });
});
