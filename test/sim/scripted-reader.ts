import type { CompanionContext } from "../../src/actor/behaviour.ts";
import { sessionBehaviour } from "../../src/session/behaviour.ts";
import type { RecognisedSegment, SessionCommand } from "../../src/session/command.ts";
import { isOver } from "../../src/session/complete.ts";
import type { SessionState } from "../../src/session/state.ts";
import type { SeededRandom } from "../support/seeded-random.ts";
import type { SessionEffects } from "./mutation.ts";
import { tick } from "./tick.ts";

interface Place {
  sequence: number;
  start: number;
  length: number;
}

export interface ReaderWorld {
  now: number;
  random: SeededRandom;
  /** Audio that can be read, in order; what failed is not. */
  readable(): Place[];
  /** Length of a stored chunk. */
  frames(sequence: number): number;
}

/**
 * A worker and the timers of one activation: reads each chunk as one utterance,
 * late, twice, with news of attempts long gone, and goes on answering for a
 * while when its activation has ended.
 */
export class ScriptedReader implements SessionEffects {
  readonly #context: CompanionContext<SessionCommand>;
  readonly #world: ReaderWorld;
  readonly #diesBeforeEffects: () => boolean;
  #reading = false;
  #stopped = false;
  #state: Readonly<SessionState> | undefined;
  #before: SessionCommand | undefined;

  /** @param diesBeforeEffects asked after each turn: true when the process dies there */
  constructor(
    context: CompanionContext<SessionCommand>,
    world: ReaderWorld,
    diesBeforeEffects: () => boolean,
  ) {
    this.#context = context;
    this.#world = world;
    this.#diesBeforeEffects = diesBeforeEffects;
  }

  start(state: Readonly<SessionState>): void {
    this.#state = state;
    void this.#read();
  }

  after(turn: { state: Readonly<SessionState> }): void {
    if (this.#diesBeforeEffects()) return;
    this.#state = turn.state;
    void this.#read();
  }

  busy(): boolean {
    return this.#reading;
  }

  async stop(): Promise<void> {
    this.#stopped = true;
  }

  async #read(): Promise<void> {
    if (this.#reading) return;
    this.#reading = true;
    const { random } = this.#world;
    for (;;) {
      for (let wait = random.below(4); wait > 0; wait -= 1) await tick();
      const state = this.#state;
      const command = state === undefined ? undefined : this.#next(state);
      // A stopped reader answers late now and then: it must not matter.
      if (command === undefined || (this.#stopped && random.chance(0.7))) break;
      if (!this.#tell(command)) break;
      await tick();
    }
    this.#reading = false;
  }

  #tell(command: SessionCommand): boolean {
    const { random } = this.#world;
    if (this.#before !== undefined && random.chance(0.15)) this.#context.tell(this.#before);
    if (random.chance(0.1)) this.#context.tell(structuredClone(command));
    this.#before = structuredClone(command);
    return this.#context.tell(command);
  }

  #next(state: Readonly<SessionState>): SessionCommand | undefined {
    const deadline = sessionBehaviour.deadline(state as SessionState);
    if (deadline !== undefined && deadline.at <= this.#world.now) return deadline.command;
    if (state.redo !== undefined) return this.#redo(state, state.redo);
    const second = this.#reread(state);
    if (second !== undefined || isOver(state.phase)) return second;
    if (!state.jobStarted && this.#world.random.chance(0.5)) return opened();
    const entry = state.timeline.open[0];
    if (entry !== undefined) return this.#utterance(state, entry);
    if (!isAllPlaced(state)) return undefined;
    return { type: "RecognitionDone", attempt: state.attempt, speakers: this.#proposal(state) };
  }

  #redo(
    state: Readonly<SessionState>,
    redo: { attempt: number; started: boolean },
  ): SessionCommand {
    if (!redo.started) return opened();
    const { attempt } = redo;
    if (this.#world.random.chance(0.3)) return { type: "RedoProgress", attempt, progress: 0.5 };
    const filled = state.timeline.gaps.filter((gap) => gap.chunkId !== undefined);
    return {
      type: "Reread",
      attempt,
      whole: true,
      from: 0,
      to: Number.MAX_SAFE_INTEGER,
      sequences: filled.map((gap) => gap.sequence),
      segments: this.#readable(state).map((place) => this.#segment(place)),
    };
  }

  /** From where the gaps pinned a checkpoint to where both readings agree, or to the end. */
  #reread(state: Readonly<SessionState>): SessionCommand | undefined {
    const gaps = state.timeline.gaps.filter((gap) => gap.chunkId !== undefined);
    if (gaps.length === 0) return undefined;
    if (this.#world.random.chance(0.1)) return failed(gaps[0]?.sequence ?? 0);
    const from = Math.min(...gaps.map((gap) => gap.pin));
    const until = Math.max(...gaps.map((gap) => gap.start + gap.length));
    const known = state.segments.find((mark) => mark.start >= until);
    if (known === undefined && !isAllPlaced(state)) return undefined;
    const to = known?.start ?? Number.MAX_SAFE_INTEGER;
    const places = this.#readable(state).filter(({ start }) => start >= from && start < to);
    return {
      type: "Reread",
      attempt: state.attempts + 1,
      whole: false,
      from,
      to,
      sequences: gaps.map((gap) => gap.sequence),
      segments: places.map((place) => this.#segment(place)),
    };
  }

  /** What is on record, and what this activation is about to put there. */
  #readable(state: Readonly<SessionState>): Place[] {
    const places = new Map(this.#world.readable().map((place) => [place.sequence, place]));
    const { gaps, open } = state.timeline;
    for (const entry of open) places.set(entry.sequence, entry);
    for (const { sequence, start, length, chunkId } of gaps) {
      if (chunkId === undefined) continue;
      const frames = this.#world.frames(sequence);
      places.set(sequence, { sequence, start, length: Math.min(length, frames) });
    }
    return [...places.values()]
      .filter(({ length }) => length > 0)
      .sort((a, b) => a.start - b.start);
  }

  #utterance(state: Readonly<SessionState>, entry: Place): SessionCommand {
    const { random } = this.#world;
    if (random.chance(0.04)) return failed(entry.sequence);
    const end = entry.start + entry.length;
    const none = new Uint8Array();
    const stale = random.chance(0.05);
    return {
      type: "Utterance",
      attempt: stale ? state.attempt + 1 : state.attempt,
      segments: [this.#segment(entry)],
      checkpoint: { position: end, recogniser: none, speakers: none },
      revised: random.chance(0.2) ? this.#proposal(state) : { segments: [], merges: [] },
      finalisedTo: end,
    };
  }

  #segment({ sequence, start, length }: Place): RecognisedSegment {
    const end = start + length;
    const words = [{ text: `chunk${sequence}`, start, end, confidence: 1 }];
    const cluster = this.#world.random.below(5) - 1;
    return { start, end, words, confidence: 1, cluster };
  }

  #proposal(state: Readonly<SessionState>) {
    const { random } = this.#world;
    const mark = state.segments.length > 0 ? random.pick(state.segments) : undefined;
    const segments = mark === undefined ? [] : [{ start: mark.start, cluster: random.below(4) }];
    const merges = random.chance(0.3) ? [{ from: random.below(4), into: random.below(4) }] : [];
    return { segments, merges };
  }
}

function isAllPlaced(state: Readonly<SessionState>): boolean {
  return state.stop !== undefined && state.timeline.next > state.stop.lastSequence;
}

function opened(): SessionCommand {
  return {
    type: "RecognitionOpened",
    engine: "e",
    diarisationModelVersion: "d",
    detectedLanguage: "en",
  };
}

function failed(sequence: number): SessionCommand {
  return { type: "ChunkFailed", sequence, code: "not_audio", message: "broken" };
}
