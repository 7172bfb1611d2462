import { describe, expect, it } from "vitest";
import { AppError } from "../../../src/base/errors.ts";
import { type Log, silentLog } from "../../../src/base/log.ts";
import { type InterruptionCounts, Interruptions } from "../../../src/recognition/interruptions.ts";

describe("interrupted readings in the log", () => {
  function open() {
    const lines: object[] = [];
    const log: Log = { ...silentLog, warn: (fields: object) => void lines.push(fields) };
    return { lines, interruptions: new Interruptions("session", log) };
  }

  const lost = new AppError("not_found", "The audio is not there.");

  it("one at the same place for the same reason is told a few times only", () => {
    const { lines, interruptions } = open();
    for (let time = 0; time < 2_000; time += 1) interruptions.log(lost, 16_000, 5_000);
    expect(lines.map((line) => (line as { times?: number }).times)).toEqual([
      undefined,
      10,
      100,
      1_000,
    ]);
    expect(lines[0]).toEqual({ code: "not_found", reason: lost.message, retry_in_ms: 5_000 });
  });

  it("all are counted by their reason, of all sessions together", () => {
    const counts: InterruptionCounts = new Map();
    const [one, other] = ["a", "b"].map((id) => new Interruptions(id, silentLog, counts));
    for (let time = 0; time < 3; time += 1) one?.log(lost, 16_000, 5_000);
    other?.log(lost, 0, 200);
    other?.log(undefined, 0, 200);
    expect([...counts]).toEqual([
      ["not_found", 4],
      ["unavailable", 1],
    ]);
  });

  it("one for another reason, or further on, is told at once", () => {
    const { lines, interruptions } = open();
    interruptions.log(lost, 16_000, 200);
    interruptions.log(lost, 16_000, 400);
    interruptions.log(undefined, 16_000, 800);
    interruptions.log(lost, 16_000, 800);
    interruptions.log(lost, 32_000, 200);
    expect(lines).toHaveLength(4);
    expect(lines[1]).toMatchObject({ code: "unavailable" });
  });
});
