import { describe, expect, it } from "vitest";
import { SecondsHistogram } from "../../../src/base/metrics/seconds-histogram.ts";
import { OpsMetrics } from "../../../src/http/operations.ts";

const queues = { queues: [] };
const figure = (name: string, kind?: "counter" | "gauge") => {
  return { name, help: "Help", ...(kind && { kind }), read: () => 3 };
};

describe("metrics", () => {
  it("are told with their kind", async () => {
    const figures = [figure("voice_calls_total", "counter"), figure("voice_calls_open")];
    const text = await new OpsMetrics(figures, queues).text();
    expect(text).toContain("# TYPE voice_calls_total counter\nvoice_calls_total 3\n");
    expect(text).toContain("# TYPE voice_calls_open gauge\nvoice_calls_open 3\n");
  });

  it("tell times as a histogram", async () => {
    const times = new SecondsHistogram();
    for (const seconds of [0.2, 0.2, 0.7, 99]) times.add(seconds);
    const figures = [{ name: "voice_answer_seconds", help: "Help", times }];
    const text = await new OpsMetrics([], queues, [], figures).text();
    expect(text).toContain("# TYPE voice_answer_seconds histogram\n");
    expect(text).toContain('voice_answer_seconds_bucket{le="0.25"} 2\n');
    expect(text).toContain('voice_answer_seconds_bucket{le="1"} 3\n');
    expect(text).toContain('voice_answer_seconds_bucket{le="+Inf"} 4\n');
    expect(text).toContain("voice_answer_seconds_count 4\n");
  });

  it.each([
    figure("voice_calls", "counter"),
    figure("voice_calls_total"),
    figure("calls_total", "counter"),
  ])("are refused under a name that says another kind: $name $kind", (odd) => {
    expect(() => new OpsMetrics([odd], queues)).toThrow(odd.name);
  });
});
