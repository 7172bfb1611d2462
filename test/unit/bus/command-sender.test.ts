import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import type { CommandFate } from "../../../src/actor/command-record.ts";
import { AppError } from "../../../src/base/errors.ts";
import { systemRuntime } from "../../../src/base/runtime.ts";
import { CommandSender } from "../../../src/bus/command-sender.ts";
import {
  type CommandEnvelope,
  type CommandReply,
  decodeEnvelope,
  encodeJson,
} from "../../../src/wire/envelope.ts";

const MINUTE = 60_000;
/** Of the record; no host's clock says so. */
const EPOCH = 1_700_000_000_000;

describe("command sender", () => {
  beforeEach(() => vi.useFakeTimers());
  afterEach(() => vi.useRealTimers());

  function open(put: () => Promise<void> = async () => {}) {
    const startedAt = performance.now();
    const recordNow = () => EPOCH + performance.now() - startedAt;
    const sent: { id: string; envelope: CommandEnvelope | undefined }[] = [];
    let answer: (data: Uint8Array) => void = () => {};
    const record = {
      outcome: undefined as CommandFate["outcome"],
      isAway: false,
      asked: 0,
    };
    const sender = new CommandSender({
      line: {
        publish() {},
        subscribe(_subject, onMessage) {
          answer = onMessage;
          return () => {};
        },
        flush: async () => {},
        isClosed: () => false,
        onBack() {},
      },
      queue: {
        async put(_partition, id, data) {
          sent.push({ id, envelope: decodeEnvelope(data) });
          await put();
        },
        post() {},
      },
      record: {
        now: async () => recordNow(),
        async fate(_sessionId, _commandId, deadline) {
          record.asked += 1;
          if (record.isAway) throw new AppError("unavailable", "away");
          return { outcome: record.outcome, isOver: recordNow() > deadline };
        },
      },
      runtime: { ...systemRuntime, now: () => Date.now() + 30 * MINUTE },
    });
    sender.start();
    /** How it ends, without anybody waiting for it. */
    const ask = () =>
      sender.ask("s", { type: "Redo", byUserId: "u" }, "wish").then(
        (value) => ({ value }),
        (error: AppError) => ({ code: error.code, at: performance.now() - startedAt }),
      );
    const reply = (each: CommandReply) => answer(encodeJson(each));
    return { sender, sent, ask, reply, record };
  }

  it("sender: a wish carries a deadline in the record's time, and a new name each time", async () => {
    const { sent, ask, reply } = open();
    const asked = [ask(), ask()];
    await vi.advanceTimersByTimeAsync(100);
    reply({ id: "wish", ok: true, value: 5 });
    expect(await Promise.all(asked)).toEqual([{ value: 5 }, { value: 5 }]);
    const [one, two] = sent;
    expect(one?.envelope).toMatchObject({ id: "wish", deadline: EPOCH + 8_000 });
    expect(one?.id).not.toBe(two?.id);
  });

  it("sender: a wish that is certainly not under way is refused at once", async () => {
    const { ask, record } = open(() => Promise.reject(new AppError("unavailable", "closed")));
    expect(await ask()).toMatchObject({ code: "unavailable", at: 0 });
    expect(record.asked).toBe(0);
  });

  it("sender: one that may be under way all the same is waited for", async () => {
    const { ask, reply } = open(() => Promise.reject(new Error("no answer")));
    const asked = ask();
    await vi.advanceTimersByTimeAsync(7_000);
    reply({ id: "wish", ok: true, value: 5 });
    expect(await asked).toEqual({ value: 5 });
  });

  it("sender: the record tells what became of one that was not answered", async () => {
    const { ask, record } = open();
    record.outcome = { ok: true, value: 5 };
    const done = ask();
    await vi.advanceTimersByTimeAsync(8_000);
    expect(await done).toEqual({ value: 5 });
    record.outcome = { ok: false, code: "job_active", message: "It runs already." };
    const refused = ask();
    await vi.advanceTimersByTimeAsync(8_000);
    expect(await refused).toMatchObject({ code: "job_active" });
    record.outcome = undefined;
    const neither = ask();
    await vi.advanceTimersByTimeAsync(8_200);
    expect(await neither).toMatchObject({ code: "unavailable" });
  });

  it("sender: when the record is away too, the outcome is not known", async () => {
    const { ask, record } = open();
    record.isAway = true;
    const asked = ask();
    await vi.advanceTimersByTimeAsync(13_000);
    expect(await asked).toMatchObject({ code: "outcome_unknown" });
    expect(record.asked).toBeGreaterThan(10);
  });
});
