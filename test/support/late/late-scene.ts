import { Activation } from "../../../src/actor/activation.ts";
import { silentLog } from "../../../src/base/log.ts";
import { SessionRecognition } from "../../../src/recognition/session-recognition.ts";
import { StreamTails } from "../../../src/recognition/stream-tail.ts";
import { createSessionBehaviour } from "../../../src/session/behaviour.ts";
import type { SessionCommand } from "../../../src/session/command.ts";
import type { SessionEvent } from "../../../src/session/event.ts";
import { PATIENCE } from "../../../src/session/limits.ts";
import { initialState, type SessionState } from "../../../src/session/state.ts";
import { SAMPLE_RATE } from "../../../src/session/timeline.ts";
import type { SessionWrite, Word } from "../../../src/session/write.ts";
import { LateRecord } from "./late-record.ts";
import { type SpokenWord, speak, toSound } from "./spoken-words.ts";
import { settled, VirtualRuntime } from "./virtual-runtime.ts";
import { WordWorker } from "./word-worker.ts";

const ID = "01900000-0000-7000-8000-000000000001";

/** One session with its real actor and recognition; device, worker, record and time are the test's. */
export class LateScene {
  readonly runtime = new VirtualRuntime();
  readonly record = new LateRecord();
  readonly worker: WordWorker;
  readonly words: readonly SpokenWord[];
  readonly #behaviour = createSessionBehaviour(PATIENCE);
  readonly #lengths: readonly number[];
  /** How the device does, as its actor is told. */
  presence: "online" | "offline" = "online";
  /** How often the record was asked whether the device lives. */
  asked = 0;
  #heardAt = 0;
  #chunkAt: number | undefined;
  #commands = 0;
  #activation: Activation<SessionState, SessionEvent, SessionWrite, SessionCommand> | undefined;

  /** @param lengths of the chunks, in samples; together they are the recording */
  constructor(lengths: readonly number[], seed = 1) {
    this.#lengths = lengths;
    this.words = speak(
      seed,
      lengths.reduce((sum, length) => sum + length, 0),
    );
    this.worker = new WordWorker(this.words);
    this.record.create(ID);
  }

  static async open(lengths: readonly number[], seed?: number): Promise<LateScene> {
    const scene = new LateScene(lengths, seed);
    await scene.takeOver();
    await scene.run({ type: "Start", jobId: "j", language: "en" });
    return scene;
  }

  get state(): SessionState {
    const state = initialState(ID);
    for (const { event, at } of this.record.read(ID).events) {
      this.#behaviour.apply(state, event, at);
    }
    return state;
  }

  /** What stands in the transcript, in its order. */
  get said(): string[] {
    return this.spoken.map(({ text }) => text);
  }

  get spoken(): Word[] {
    const segments = [...this.record.segments.values()].sort((a, b) => a.start - b.start);
    return segments.flatMap(({ words }) => words);
  }

  get count(): number {
    return this.#lengths.length;
  }

  /** Labels under which more than one person speaks. */
  get mixedUp(): string[] {
    const speakers = new Map(this.words.map(({ text, speaker }) => [text, speaker]));
    const people = new Map<string, Set<number | undefined>>();
    for (const { words, label } of this.record.segments.values()) {
      const said = words.map(({ text }) => speakers.get(text));
      people.set(label, new Set([...(people.get(label) ?? []), ...said]));
    }
    return [...people].filter(([, { size }]) => size > 1).map(([label]) => label);
  }

  /** What became of the audio, for whoever looks into a failure. */
  get story(): string {
    const seconds = (samples: number): string => (samples / SAMPLE_RATE).toFixed(2);
    const lines = this.record.read(ID).events.map(({ event }) => {
      const place = "start" in event && "length" in event;
      const where = place ? `${seconds(event.start)} + ${seconds(event.length)}` : "";
      const which = "sequence" in event ? event.sequence : "";
      if (event.type === "SegmentFinalised")
        return `final ${seconds(event.start)} to ${seconds(event.end)} ${event.label}`;
      if (event.type !== "TranscriptReplaced") return `${event.type} ${which} ${where}`;
      const span = `${seconds(event.from)} to ${seconds(event.to)}`;
      const added = event.added.map(
        ({ start, end, label }) => `${seconds(start)}-${seconds(end)} ${label}`,
      );
      const removed = event.removed.map(({ start }) => seconds(start));
      return `replaced ${span} for ${event.sequences}: ${added} in place of ${removed}`;
    });
    return [`chunks of ${this.#lengths.map(seconds)}`, ...lines].join("\n");
  }

  of<T extends SessionEvent["type"]>(type: T): Extract<SessionEvent, { type: T }>[] {
    return this.record
      .read(ID)
      .events.map(({ event }) => event)
      .filter((event): event is Extract<SessionEvent, { type: T }> => event.type === type);
  }

  /** Another host takes the session over, as after the end of the one before. */
  async takeOver(): Promise<void> {
    await this.#activation?.stop();
    const source = this.record.source();
    const activation = new Activation<SessionState, SessionEvent, SessionWrite, SessionCommand>(
      ID,
      {
        behaviour: this.#behaviour,
        journal: this.record,
        createEffects: ({ id, send }) => [
          new SessionRecognition({
            sessionId: id,
            source,
            transcribers: this.worker,
            tails: new StreamTails({ follow: () => () => {} }, source),
            log: silentLog,
            runtime: this.runtime,
            notify: send,
            device: () => ({ presence: this.presence, last_seen_at: "" }),
            publish: () => {},
          }),
        ],
        runtime: this.runtime,
        log: silentLog,
        mailboxCapacity: 1_024,
        batchSize: 64,
        snapshotEvery: 50,
        appendAttempts: 1,
        informed: async (_id, command) => this.#informed(command),
        onRefused: () => {},
        onFailed: (_id, error) => {
          throw error;
        },
      },
    );
    this.#activation = activation;
    await activation.start();
    await this.settle();
  }

  #informed(command: SessionCommand): SessionCommand {
    if (command.type !== "GapTimeout" && command.type !== "LateTimeout") return command;
    this.asked += 1;
    const now = this.runtime.now();
    const chunkAgo = this.#chunkAt === undefined ? undefined : now - this.#chunkAt;
    return { ...command, signs: { heardAgo: now - this.#heardAt, chunkAgo, openChunks: [] } };
  }

  async run(command: SessionCommand): Promise<unknown> {
    this.#commands += 1;
    const reply = await this.#activation?.ask(command, `c${this.#commands}`);
    await this.settle();
    return reply;
  }

  /** All that can be done without time going on. */
  async settle(): Promise<void> {
    for (let quiet = 0; quiet < 8; ) {
      await settled();
      quiet = this.worker.step() ? 0 : quiet + 1;
    }
  }

  /** The device gives a sign of life. */
  beat(): void {
    this.#heardAt = this.runtime.now();
  }

  async upload(sequence: number): Promise<void> {
    const samples = this.#lengths[sequence] ?? 0;
    const from = this.#lengths.slice(0, sequence).reduce((sum, length) => sum + length, 0);
    this.record.store(sequence, samples, toSound(from, samples));
    this.beat();
    this.#chunkAt = this.runtime.now();
    const chunkId = `chunk-${sequence}`;
    const sampleRate = SAMPLE_RATE;
    await this.run({ type: "ChunkStored", chunkId, sequence, frames: samples, sampleRate });
  }

  async stop(): Promise<void> {
    this.beat();
    await this.run({ type: "Stop", lastSequence: this.#lengths.length - 1 });
  }

  async pass(ms: number): Promise<void> {
    await this.runtime.pass(ms, () => this.settle());
  }

  async close(): Promise<void> {
    await this.#activation?.stop();
  }
}
