import { afterEach, describe, expect, it } from "vitest";
import { Activation } from "../../../src/actor/activation.ts";
import { AppError } from "../../../src/base/errors.ts";
import { silentLog } from "../../../src/base/log.ts";
import { sessionBehaviour } from "../../../src/session/behaviour.ts";
import type { SessionCommand } from "../../../src/session/command.ts";
import { GAP_WAIT } from "../../../src/session/decide-audio.ts";
import type { SessionEvent } from "../../../src/session/event.ts";
import type { SessionState } from "../../../src/session/state.ts";
import type { SessionWrite } from "../../../src/session/write.ts";
import { runtimeBy } from "../../support/manual-clock.ts";
import { MemoryJournal } from "../../support/memory/memory-journal.ts";
import { until } from "../../support/until.ts";

const ID = "01900000-0000-7000-8000-000000000001";

type Outstanding = () => Promise<{ id: string; command: SessionCommand }[]>;

function chunk(sequence: number): SessionCommand {
  const size = { frames: 16_000, sampleRate: 16_000 };
  return { type: "ChunkStored", chunkId: `c${sequence}`, sequence, ...size };
}

describe("deadline of an actor", () => {
  let now = 1_700_000_000_000;
  const journal = new MemoryJournal<SessionEvent, SessionWrite>({ now: () => now });
  const open: { stop(): Promise<void> }[] = [];
  afterEach(() => Promise.all(open.splice(0).map((each) => each.stop())));

  async function activate(outstanding: Outstanding, mailboxCapacity = 100) {
    const activation = new Activation<SessionState, SessionEvent, SessionWrite, SessionCommand>(
      ID,
      {
        behaviour: sessionBehaviour,
        journal,
        createEffects: () => [],
        runtime: runtimeBy({ now: () => now, monotonic: () => now }),
        log: silentLog,
        mailboxCapacity,
        batchSize: 10,
        snapshotEvery: 100,
        appendAttempts: 1,
        outstanding,
        onRefused: () => {},
        onFailed: () => {},
      },
    );
    await activation.start();
    open.push(activation);
    return activation;
  }

  /** Chunk 1 came, chunk 0 did not, and the wait for it has ended while nobody was active. */
  async function late(): Promise<void> {
    journal.create(ID);
    const first = await activate(async () => []);
    await first.ask({ type: "Start", jobId: "j", language: "en" }, "m0");
    await first.ask(chunk(1), "m1");
    await first.stop();
    now += GAP_WAIT + 1;
  }

  const types = () => journal.read(ID).events.map(({ event }) => event.type);

  it("deadline: audio that is stored and on its way is not declared missing", async () => {
    await late();
    await activate(async () => [{ id: "m2", command: chunk(0) }]);
    await until(() => types().filter((type) => type === "ChunkPlaced").length === 2, "both chunks");
    expect(types()).not.toContain("GapDeclared");
    expect(journal.read(ID).finished).toContain("m2");
  });

  it("deadline: audio that is not stored is declared missing", async () => {
    await late();
    await activate(async () => []);
    await until(() => types().includes("GapDeclared"), "the gap");
  });

  it("deadline: nothing is declared missing while the record cannot be asked", async () => {
    await late();
    let isAway = true;
    let asked = 0;
    await activate(async () => {
      asked += 1;
      if (isAway) throw new AppError("unavailable", "away");
      return [{ id: "m2", command: chunk(0) }];
    });
    await until(() => asked === 2, "a second question");
    isAway = false;
    await until(() => types().filter((type) => type === "ChunkPlaced").length === 2, "both chunks");
    expect(types()).not.toContain("GapDeclared");
  });

  it("deadline: nothing is declared missing while stored audio finds no room", async () => {
    await late();
    // Four lost commands for a mailbox of two: the chunk is among those refused at first.
    const lost = [chunk(5), chunk(4), chunk(3), chunk(0)];
    await activate(async () => {
      const left = lost.map((command, n) => ({ id: `l${n}`, command }));
      return left.filter(({ id }) => !journal.read(ID).finished.has(id));
    }, 2);
    await until(() => types().filter((type) => type === "ChunkPlaced").length === 2, "both chunks");
    expect(types()).not.toContain("GapDeclared");
  });
});
