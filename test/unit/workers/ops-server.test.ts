import { afterEach, describe, expect, test } from "vitest";
import { QueueMetrics } from "../../../src/base/queue-metrics.ts";
import { type RunningOps, startOps } from "../../../workers/ops-server.ts";

describe("worker's operations port", () => {
  let ops: RunningOps | undefined;
  let isReady = true;
  const ask = async (path: string) => {
    const answer = await fetch(`http://127.0.0.1:${ops?.port}${path}`);
    return { status: answer.status, body: await answer.text() };
  };

  afterEach(() => ops?.stop());

  test("worker's operations port: is ready until the worker stops, and alive for longer", async () => {
    ops = await startOps("127.0.0.1", 0, new QueueMetrics(), () => isReady);
    expect(await ask("/health/live")).toEqual({ status: 200, body: '{"status":"ok"}' });
    expect(await ask("/health/ready")).toEqual({ status: 200, body: '{"status":"ok"}' });
    isReady = false;
    expect(await ask("/health/live")).toMatchObject({ status: 200 });
    expect(await ask("/health/ready")).toEqual({ status: 503, body: '{"status":"stopping"}' });
    expect(await ask("/health")).toMatchObject({ status: 404 });
    expect(await ask("/metrics")).toMatchObject({ status: 200 });
  });
});
