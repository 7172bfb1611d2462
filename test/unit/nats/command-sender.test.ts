import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import type { CommandFate } from "../../../src/actor/journal.ts";
import { AppError } from "../../../src/base/errors.ts";
import { silentLog } from "../../../src/base/log.ts";
import { PARTITIONS } from "../../../src/base/partition.ts";
import { systemRuntime } from "../../../src/base/runtime.ts";
import { CommandSender, createNotifier } from "../../../src/nats/command-sender.ts";
import type { MessageBus } from "../../../src/nats/message-bus.ts";
import { PartitionOwners } from "../../../src/nats/partition-owners.ts";
import {
  type CommandEnvelope,
  type CommandReply,
  decodeEnvelope,
  encodeJson,
} from "../../../src/wire/envelope.ts";
import { hostSubject } from "../../../src/wire/subjects.ts";

const SESSION = "01980000-0000-7000-8000-000000000005";
const MINUTE = 60_000;
/** Of the record; no host's clock says so. */
const EPOCH = 1_700_000_000_000;

describe("command sender", () => {
  beforeEach(() => vi.useFakeTimers());
  afterEach(() => vi.useRealTimers());

  /** What becomes of what is sent to a host; undefined: nobody hears it. */
  type Host = (envelope: CommandEnvelope) => CommandReply | undefined;

  function open(hosts: Record<string, Host> = {}, isClosed = false) {
    const startedAt = performance.now();
    const recordNow = () => EPOCH + performance.now() - startedAt;
    const sent: { host: string; envelope: CommandEnvelope }[] = [];
    const record = {
      outcome: undefined as CommandFate["outcome"],
      isAway: false,
      asked: 0,
    };
    let owner = Object.keys(hosts)[0] ?? "";
    let changed = (): void => {};
    const hear = (subject: string, data: Uint8Array): CommandReply | undefined => {
      const host = subject.replace(hostSubject(""), "");
      const envelope = decodeEnvelope(data);
      if (envelope === undefined) throw new Error("That is no command.");
      sent.push({ host, envelope });
      const hears = hosts[host];
      if (hears === undefined) throw new AppError("unavailable", "nobody");
      return hears(envelope);
    };
    const line: MessageBus = {
      publish: (subject, data) => void hear(subject, data),
      subscribe(_subject, onMessage) {
        changed = () => onMessage(new Uint8Array());
        return () => {};
      },
      async request(subject, data, ms) {
        const reply = hear(subject, data);
        if (reply !== undefined) return encodeJson(reply);
        await systemRuntime.delay(ms);
        throw new AppError("timeout", "no answer");
      },
      serve: () => () => {},
      flush: async () => {},
      isClosed: () => isClosed,
      onBack() {},
    };
    const read = async () =>
      new Map(Array.from({ length: PARTITIONS }, (_, partition) => [partition, owner]));
    const sender = new CommandSender({
      line,
      owners: new PartitionOwners(read, systemRuntime),
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
      sender.ask(SESSION, { type: "Redo", byUserId: "u" }, "wish").then(
        (value) => ({ value }),
        (error: AppError) => ({ code: error.code, at: performance.now() - startedAt }),
      );
    const move = (host: string): void => {
      owner = host;
    };
    return { sender, sent, ask, record, move, changed: () => changed() };
  }

  const done: Host = ({ id }) => ({ id, ok: true, value: 5 });
  const deaf: Host = () => undefined;
  const refused =
    (code: string): Host =>
    ({ id }) => ({ id, ok: false, code, message: code });

  it("sender: a wish goes to its session's host, with a deadline in the record's time", async () => {
    const { sent, ask } = open({ a: done });
    expect(await ask()).toEqual({ value: 5 });
    expect(sent).toMatchObject([{ host: "a", envelope: { id: "wish", deadline: EPOCH + 8_000 } }]);
  });

  it("sender: one that its host does not answer is sent again, under its id, to who has it then", async () => {
    const { sent, ask, move } = open({ a: deaf, b: done });
    const asked = ask();
    await vi.advanceTimersByTimeAsync(1_000);
    move("b");
    await vi.advanceTimersByTimeAsync(1_500);
    expect(await asked).toEqual({ value: 5 });
    expect(sent.map(({ host, envelope }) => [host, envelope.id])).toEqual([
      ["a", "wish"],
      ["b", "wish"],
    ]);
  });

  it("sender: nobody at the host, or one that has it no longer, is asked again soon", async () => {
    for (const first of [undefined, refused("lease_lost"), refused("unavailable")]) {
      const { ask, move, sent } = open({ a: first as Host, b: done });
      const asked = ask();
      await vi.advanceTimersByTimeAsync(50);
      move("b");
      await vi.advanceTimersByTimeAsync(200);
      expect(await asked).toEqual({ value: 5 });
      expect(sent.at(-1)?.host).toBe("b");
    }
  });

  it("sender: what is refused is refused, and one that came too late the record is asked about", async () => {
    const { ask } = open({ a: refused("conflict") });
    expect(await ask()).toMatchObject({ code: "conflict" });
    const late = open({ a: refused("too_late") });
    late.record.outcome = { ok: true, value: 7 };
    expect(await late.ask()).toEqual({ value: 7 });
  });

  it("sender: with a line that is closed nothing is under way", async () => {
    const { ask, record } = open({ a: done }, true);
    expect(await ask()).toMatchObject({ code: "unavailable", at: 0 });
    expect(record.asked).toBe(0);
  });

  it("sender: the record tells what became of one that was not answered", async () => {
    const { ask, record } = open({ a: deaf });
    record.outcome = { ok: true, value: 5 };
    const carriedOut = ask();
    await vi.advanceTimersByTimeAsync(8_200);
    expect(await carriedOut).toEqual({ value: 5 });
    record.outcome = { ok: false, code: "job_active", message: "It runs already." };
    const active = ask();
    await vi.advanceTimersByTimeAsync(8_200);
    expect(await active).toMatchObject({ code: "job_active" });
    record.outcome = undefined;
    const neither = ask();
    await vi.advanceTimersByTimeAsync(8_400);
    expect(await neither).toMatchObject({ code: "unavailable" });
  });

  it("sender: when the record is away too, the outcome is not known", async () => {
    const { ask, record } = open({ a: deaf });
    record.isAway = true;
    const asked = ask();
    await vi.advanceTimersByTimeAsync(13_000);
    expect(await asked).toMatchObject({ code: "outcome_unknown" });
    expect(record.asked).toBeGreaterThan(10);
  });

  it("sender: what it does not take of committed commands fails nobody, and is logged", () => {
    const warned: unknown[] = [];
    const log = { ...silentLog, warn: (fields: object) => void warned.push(fields) };
    const { sender } = open({ a: done }, true);
    const rows = [
      { id: "first", sessionId: SESSION, command: { type: "Stop" as const, lastSequence: 0 } },
    ];
    createNotifier(sender, log).notify(rows);
    expect(warned).toMatchObject([{ commands: ["first"] }]);
  });

  it("sender: what is posted goes to who has the session, also when that has just moved", async () => {
    const { sender, sent, move, changed } = open({ a: done, b: done });
    const post = (id: string) => sender.post(SESSION, { type: "Stop", lastSequence: 0 }, id);
    post("first");
    await vi.advanceTimersByTimeAsync(10);
    post("second");
    move("b");
    changed();
    post("third");
    await vi.advanceTimersByTimeAsync(10);
    expect(sent.map(({ host, envelope }) => [host, envelope.id])).toEqual([
      ["a", "first"],
      ["a", "second"],
      ["b", "third"],
    ]);
  });
});
