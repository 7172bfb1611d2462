import { describe, expect, it } from "vitest";
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

  it.each([
    figure("voice_calls", "counter"),
    figure("voice_calls_total"),
    figure("calls_total", "counter"),
  ])("are refused under a name that says another kind: $name $kind", (odd) => {
    expect(() => new OpsMetrics([odd], queues)).toThrow(odd.name);
  });
});
