import { describe, expect, it } from "vitest";
import { AppError, type ErrorCode } from "../../../src/base/errors.ts";
import type { WorkerCallsOptions } from "../../../src/inference/worker-calls.ts";
import { WorkerVoices } from "../../../src/inference/worker-voices.ts";

const COMPARED = { method: "m", print: new Uint8Array(1), speechMs: 12_000, logRatios: [] };

/** A worker that fails so often, in this way, before it answers; and who was told that it failed. */
function voicesOf(failures: number, code: ErrorCode, { only = false } = {}) {
  let asked = 0;
  const failed: string[] = [];
  const stream: WorkerCallsOptions["client"]["stream"] = async (
    _to,
    _method,
    _request,
    settings,
  ) => {
    asked += 1;
    if (asked <= failures) throw new AppError(code, "Not now.");
    settings.onMessage(COMPARED as never);
  };
  const voices = new WorkerVoices({
    placement: {
      pickForText: () => (only && failed.length > 0 ? undefined : "worker"),
      failed: (address) => failed.push(address),
      succeeded: () => {},
    },
    client: { stream, close: () => {} },
    key: undefined,
    absentMs: 0,
  });
  return { voices, failed, asked: () => asked };
}

describe("voices that a worker compares", () => {
  it("wait for a worker that works on several texts already", async () => {
    const { voices, failed, asked } = voicesOf(2, "overloaded");
    expect(await voices.compare(new Uint8Array(2), [])).toMatchObject({ speechMs: 12_000 });
    expect([asked(), failed]).toEqual([3, []]);
  });

  it("go to another worker when one is lost, and end after a few", async () => {
    const lost = voicesOf(1, "unavailable");
    await lost.voices.compare(new Uint8Array(2), []);
    expect([lost.asked(), lost.failed]).toEqual([2, ["worker"]]);
    const away = voicesOf(100, "unavailable");
    await expect(away.voices.compare(new Uint8Array(2), [])).rejects.toMatchObject({
      code: "unavailable",
    });
    expect(away.asked()).toBe(5);
  });

  it("say what failed where the only worker has just failed", async () => {
    const { voices } = voicesOf(100, "unavailable", { only: true });
    await expect(voices.compare(new Uint8Array(2), [])).rejects.toMatchObject({
      message: "Not now.",
    });
  });

  it("are not asked for again where their sound is at fault", async () => {
    const { voices, asked } = voicesOf(1, "invalid_body");
    await expect(voices.compare(new Uint8Array(2), [])).rejects.toMatchObject({
      code: "invalid_body",
    });
    expect(asked()).toBe(1);
  });
});
