import { afterEach, describe, expect, test } from "vitest";
import { OpsServer } from "../../../src/base/ops-server.ts";
import { QueueMetrics } from "../../../src/base/queue-metrics.ts";
import type { LanguageModelStatus } from "../../../src/wire/language-model.ts";
import { opsSource } from "../../../workers/ops-source.ts";

describe("worker's operations port", () => {
  let ops: OpsServer | undefined;
  let port = 0;
  const status = { isDraining: false, held: 0, capacity: 4, isAnnounced: true };
  const model = {
    status: { name: "small", local: true, answers: true, abilities: [] } as LanguageModelStatus,
    metricsText: () => `voice_model_up ${model.status.answers ? 1 : 0}\n`,
  };
  const ask = async (path: string) => {
    const answer = await fetch(`http://127.0.0.1:${port}${path}`);
    return { status: answer.status, body: await answer.text() };
  };
  const ready = async () => {
    const { status, body } = await ask("/health/ready");
    return [status, JSON.parse(body)] as const;
  };

  afterEach(() => ops?.stop());

  test("worker's operations port: is ready until the worker stops, and alive for longer", async () => {
    ops = new OpsServer(
      opsSource(new QueueMetrics(), {
        version: "1.0.0",
        isDraining: () => status.isDraining,
        sessions: () => status,
        isAnnounced: () => status.isAnnounced,
        model,
      }),
    );
    port = await ops.start("127.0.0.1", 0);
    const ok = { status: "ok" };
    expect(await ready()).toEqual([
      200,
      { status: "ok", version: "1.0.0", checks: { threads: ok, language_model: ok, nats: ok } },
    ]);
    status.held = 4;
    const full = { status: "degraded", message: "All 4 places for sessions are taken." };
    expect(await ready()).toMatchObject([200, { status: "degraded", checks: { threads: full } }]);
    model.status = { ...model.status, answers: false, reason: "It is away." };
    const away = { status: "degraded", message: "It is away." };
    expect(await ready()).toMatchObject([200, { checks: { language_model: away } }]);
    expect((await ask("/metrics")).body).toContain("voice_model_up 0\n");
    status.capacity = 0;
    const message = "No recognition thread is running at the moment.";
    expect(await ready()).toMatchObject([503, { success: false, message, status: "down" }]);
    status.isDraining = true;
    expect(await ready()).toMatchObject([503, { message: "The worker is stopping." }]);
    expect(await ask("/health/live")).toMatchObject({ status: 200, body: '{"status":"ok"}\n' });
    expect(await ask("/health")).toMatchObject({ status: 404 });
    expect(await ask("/metrics")).toMatchObject({ status: 200 });
  });
});
