import { describe, expect, it } from "vitest";
import { AppError } from "../../../src/base/errors.ts";
import type { Log } from "../../../src/base/log.ts";
import { systemRuntime } from "../../../src/base/runtime.ts";
import { TroubleLog } from "../../../src/base/trouble-log.ts";
import { Maintenance } from "../../../src/conversations/jobs/maintenance.ts";
import { ManualClock } from "../../support/manual-clock.ts";
import { until } from "../../support/until.ts";

function recorder() {
  const lines: { level: string; fields: Record<string, unknown>; message: string }[] = [];
  const at =
    (bound: object) =>
    (level: string) =>
    (fields: object, message: string): void => {
      lines.push({ level, fields: { ...bound, ...fields }, message });
    };
  const logOf = (bound: object): Log => {
    const write = at(bound);
    return {
      debug: write("debug"),
      info: write("info"),
      warn: write("warn"),
      error: write("error"),
      child: (fields) => logOf({ ...bound, ...fields }),
    };
  };
  return { lines, log: logOf({}) };
}

const away = () =>
  new AppError("unavailable", "The database is not reachable just now.", {
    cause: new Error("wrapped", { cause: new Error("connect ECONNREFUSED 127.0.0.1:5432") }),
  });

describe("trouble log", () => {
  it("trouble log: an outage is one line with its cause, and one with how long it was", () => {
    const { lines, log } = recorder();
    const clock = new ManualClock();
    const trouble = new TroubleLog(log, "jobs not readable", clock);
    trouble.worked();
    for (let second = 0; second < 3_600; second += 1) {
      trouble.failed(away());
      clock.advance(1_000);
    }
    trouble.worked();
    trouble.worked();
    expect(lines).toEqual([
      {
        level: "warn",
        fields: {
          error: "The database is not reachable just now.",
          cause: "connect ECONNREFUSED 127.0.0.1:5432",
        },
        message: "jobs not readable",
      },
      {
        level: "info",
        fields: { failures: 3_600, seconds: 3_600 },
        message: "jobs not readable: over",
      },
    ]);
  });

  it("trouble log: tasks that fail again and again say so once each", async () => {
    const { lines, log } = recorder();
    let runs = 0;
    const runtime = { ...systemRuntime, delay: () => new Promise<void>((go) => setImmediate(go)) };
    const task = (name: string) => ({
      name,
      every: 0,
      run: async () => {
        runs += 1;
        throw away();
      },
    });
    const maintenance = new Maintenance([task("a"), task("b")], log, runtime);
    maintenance.start();
    await until(() => runs > 20, "some rounds");
    await maintenance.stop();
    expect(lines.map(({ fields }) => fields.task)).toEqual(["a", "b"]);
  });
});
