import { Activation } from "../../src/actor/activation.ts";
import { newId } from "../../src/base/ids.ts";
import { silentLog } from "../../src/base/log.ts";
import { systemRuntime } from "../../src/base/runtime.ts";
import { SessionJournal } from "../../src/journal/session-journal.ts";
import { createPool } from "../../src/postgres/pool.ts";
import { sessionBehaviour } from "../../src/session/behaviour.ts";
import type { SessionCommand, UtteranceCommand } from "../../src/session/command.ts";
import type { SessionEvent } from "../../src/session/event.ts";
import type { SessionState } from "../../src/session/state.ts";
import type { SessionWrite } from "../../src/session/write.ts";
import type { GrowthFigures } from "./growth-figures.ts";
import type { GrowthFixture } from "./growth-fixture.ts";
import {
  CHUNK_FRAMES,
  CHUNK_SAMPLES,
  messagesBetween,
  type ScriptedState,
  SOUND,
} from "./growth-script.ts";
import { median } from "./statistics.ts";

/** With two events of each, one snapshot of the session falls into each round. */
const TURNS = 50;
const WAKES = 5;
const TOLERANCE = 8;

export interface ActedOn {
  size: string;
  sessionId: string;
  /** Chunks placed so far. */
  chunks: number;
}

type SessionActor = Activation<SessionState, SessionEvent, SessionWrite, SessionCommand>;

/**
 * The actor of sessions that nobody else holds, in this process: what taking one up costs, and one
 * turn with its append. The service is stopped, so that nobody is fenced.
 */
export async function actorRounds(
  fixture: GrowthFixture,
  figures: GrowthFigures,
  sessions: readonly (readonly ActedOn[])[],
  state: ScriptedState,
  rounds: number,
): Promise<void> {
  const pool = await createPool(fixture.fixture.database.serviceUrl, { maximumPoolSize: 2 });
  const journal = new SessionJournal(pool);
  try {
    for (let round = 0; round <= rounds; round += 1) {
      for (const of of sessions) {
        const acted = of[round % of.length];
        if (acted !== undefined) {
          await actOn({ fixture, figures, journal, state }, acted, round > 0);
        }
      }
    }
  } finally {
    await pool.end();
  }
}

interface Stage {
  fixture: GrowthFixture;
  figures: GrowthFigures;
  journal: SessionJournal;
  state: ScriptedState;
}

async function actOn(stage: Stage, acted: ActedOn, isCounted: boolean): Promise<void> {
  const { fixture, figures, journal, state } = stage;
  const own = () => seconds(process.cpuUsage());
  const took: number[] = [];
  const woken = await fixture.meter.measure(async () => {
    for (let n = 0; n < WAKES; n += 1) {
      const begun = performance.now();
      const actor = await wake(acted.sessionId, journal);
      took.push(performance.now() - begun);
      await actor.stop();
    }
  }, own);
  const awake = await wake(acted.sessionId, journal);
  const delays: number[] = [];
  const turns = Array.from({ length: TURNS }, (_, n) => commandsOf(acted.chunks + n, state));
  acted.chunks += TURNS;
  const turned = await fixture.meter.measure(async () => {
    for (const { stored, heard } of turns) {
      await awake.ask(stored, newId());
      const at = performance.now();
      await awake.ask(heard, newId());
      delays.push(performance.now() - at);
    }
  }, own);
  // With a snapshot, so that it is taken up from one in every round.
  await awake.drain();
  if (!isCounted) return;
  const { size } = acted;
  figures.add("activation from a snapshot: time", "ms", size, median(took));
  figures.addCost("activation from a snapshot", size, woken, WAKES);
  figures.add("turn of a final, with its append: time", "ms", size, median(delays));
  figures.addWork("turns of a chunk and its final", size, turned, TURNS);
}

function seconds({ user, system }: NodeJS.CpuUsage): number {
  return (user + system) / 1e6;
}

/** With a snapshot once in as many turns as a round has. */
export async function wake(id: string, journal: SessionJournal): Promise<SessionActor> {
  const actor: SessionActor = new Activation(id, {
    behaviour: sessionBehaviour,
    journal,
    createEffects: () => [],
    runtime: systemRuntime,
    log: silentLog,
    mailboxCapacity: 1_024,
    batchSize: 64,
    snapshotEvery: TURNS * 4 - TOLERANCE,
    onRefused: () => {},
    appendAttempts: 1,
    onFailed: (_id, error) => {
      throw error;
    },
  });
  if (!(await actor.start())) throw new Error("The session is not there.");
  return actor;
}

/** As the front and the recognition would tell it. */
export function commandsOf(
  chunk: number,
  state: ScriptedState,
  chunkId = newId(),
): { stored: SessionCommand; heard: SessionCommand } {
  const from = chunk * CHUNK_SAMPLES;
  const messages = messagesBetween(from, from + CHUNK_SAMPLES, state);
  const utterance = messages.find(({ $case }) => $case === "utterance");
  if (utterance?.$case !== "utterance") throw new Error("unreachable");
  const { segments, end, checkpoint } = utterance.value;
  const heard: UtteranceCommand = {
    type: "Utterance",
    attempt: 1,
    segments,
    end,
    checkpoint,
    revised: { segments: [], merges: [] },
    finalisedTo: from + CHUNK_SAMPLES,
  };
  const sound = { frames: CHUNK_FRAMES, sampleRate: SOUND.sampleRate };
  return { stored: { type: "ChunkStored", chunkId, sequence: chunk, ...sound }, heard };
}
