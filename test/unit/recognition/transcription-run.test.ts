import { describe, expect, it } from "vitest";
import type { AppError } from "../../../src/base/errors.ts";
import type {
  TranscribeMessage,
  TranscribeResult,
  TranscriptionStream,
} from "../../../src/inference/transcription-stream.ts";
import type { AudioSource, PlacedChunk } from "../../../src/recognition/audio-source.ts";
import { PoisonDetector } from "../../../src/recognition/poison-detector.ts";
import { StreamTails } from "../../../src/recognition/stream-tail.ts";
import { TranscriptionRun } from "../../../src/recognition/transcription-run.ts";
import { initialState } from "../../../src/session/state.ts";

const LENGTH = 8_000;
const MOST_LOOKS = 1_000;
const OPENED = {
  engine: "test",
  engineVersion: "1",
  diarisationModelVersion: "1",
  detectedLanguage: "en",
  batches: true,
};
const NO_STATE = { recogniser: Buffer.alloc(0), speakers: Buffer.alloc(0), voices: {} };

function placed(sequence: number): PlacedChunk {
  const mediaType = "audio/pcm;rate=16000;channels=1;encoding=s16le";
  const place = { start: sequence * LENGTH, length: LENGTH, samples: LENGTH };
  return { sequence, ...place, mediaType, sha256: `${sequence}` };
}

/** A session whose chunks get their places when the test says so. */
class Scene {
  readonly sent: TranscribeMessage[] = [];
  readonly reading: TranscriptionRun;
  readonly ends: (AppError | undefined)[] = [];
  readonly #timeline = initialState("session").timeline;
  #isComplete = false;
  #looks = 0;
  #tell: (message: TranscribeResult) => void = () => {};

  /** @param from position and sequence of the record's newest checkpoint */
  constructor(isStreamed: boolean, from?: { position: number; sequence: number }) {
    const source: AudioSource = {
      opening: async () => ({
        checkpoint: from && { ...from, ...NO_STATE },
        sequence: from?.sequence ?? 0,
        suspects: [],
        vocabulary: [],
        interim: true,
      }),
      placed: async (_id, from) =>
        Array.from({ length: this.#timeline.next - from }, (_, n) => placed(from + n)),
      bytes: async () => Buffer.alloc(2 * LENGTH),
      noteDamage: async () => {},
      fragments: async () => [],
    };
    const stream: TranscriptionStream = {
      send: (message) => {
        this.sent.push(message);
        return true;
      },
      onMessage: (listener) => {
        this.#tell = listener;
      },
      onDrain: () => {},
      onEnd: () => {},
      finish: () => {},
      cancel: () => {},
    };
    const tails = new StreamTails({ follow: () => () => {} }, source);
    this.reading = new TranscriptionRun({
      sessionId: "session",
      attempt: 1,
      checkpointAttempt: 1,
      language: "en",
      interim: true,
      readFilled: false,
      source,
      transcribers: { isCrowded: false, open: () => stream },
      runtime: { delay: async () => {} },
      ...(isStreamed ? { tail: tails.open("session") } : {}),
      detector: new PoisonDetector(),
      timeline: () => {
        this.#looks += 1;
        // One who looks for ever lets nobody else have a turn, the test included.
        if (this.#looks > MOST_LOOKS) throw new Error("looked at the timeline for ever");
        return this.#timeline;
      },
      complete: () => this.#isComplete,
      onMessage: () => {},
      onSuspects: () => {},
      onEnd: (error) => void this.ends.push(error),
    });
  }

  async start(): Promise<void> {
    await this.reading.start(Number.MAX_SAFE_INTEGER);
    this.open();
    await settled();
  }

  /** The worker has opened the session. */
  open(): void {
    this.#tell({ $case: "opened", value: OPENED });
  }

  /** Chunks that were placed by what could not be appended have no place. */
  takeBack(count: number): void {
    this.#timeline.next -= count;
    this.#timeline.position -= count * LENGTH;
  }

  /** One more chunk has its place. */
  place(): void {
    this.#timeline.next += 1;
    this.#timeline.position += LENGTH;
  }

  complete(): void {
    this.#isComplete = true;
  }

  get told(): string[] {
    return this.sent.map((message) =>
      message.$case === "chunk" ? `chunk ${message.value.sequence}` : message.$case,
    );
  }
}

/** Lets everything that waits for nothing outside go on. */
const settled = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

describe("reading", () => {
  it("feeds no audio before it was opened: what kills a worker at once shall not go unblamed", async () => {
    const scene = new Scene(true);
    scene.place();
    await scene.reading.start(Number.MAX_SAFE_INTEGER);
    scene.reading.feed();
    await settled();
    expect(scene.told).toEqual(["open"]);
    scene.open();
    await settled();
    expect(scene.told).toEqual(["open", "chunk 0"]);
  });

  it("ends an utterance where the sound ends in a pause, and not within a word", async () => {
    const scene = new Scene(true);
    scene.place();
    await scene.start();
    scene.reading.endUtterance();
    expect(scene.sent.at(-1)).toEqual({ $case: "finalize", value: { unlessSpeaking: true } });
    scene.reading.close();
    scene.reading.endUtterance();
    expect(scene.told.filter((each) => each === "finalize")).toHaveLength(1);
  });

  it("waits where the record is ahead of its activation, which another one has taken over", async () => {
    const scene = new Scene(true, { position: 8 * LENGTH, sequence: 8 });
    scene.place();
    await scene.start();
    scene.reading.feed();
    await settled();
    expect(scene.ends).toEqual([]);
    expect(scene.told).toEqual(["open"]);
  });

  it("waits for chunks whose places were taken back, and goes on when they have them again", async () => {
    const scene = new Scene(true);
    for (let n = 0; n < 3; n += 1) scene.place();
    await scene.start();
    scene.takeBack(2);
    scene.reading.feed();
    await settled();
    for (let n = 0; n < 3; n += 1) scene.place();
    scene.reading.feed();
    await settled();
    expect(scene.ends).toEqual([]);
    expect(scene.told).toEqual(["open", "chunk 0", "chunk 1", "chunk 2", "chunk 3"]);
  });

  it.each([
    ["uploads and streams", true],
    ["what is read again", false],
  ])(
    "feeds all that has its place before it finishes, whenever that comes: %s",
    async (_, isStreamed) => {
      for (let ticks = 0; ticks < 30; ticks += 1) {
        const scene = new Scene(isStreamed);
        scene.place();
        await scene.start();
        expect(scene.told).toEqual(["open", "chunk 0"]);
        // The last chunk and the stop come in one turn, while a look for more is under way.
        scene.reading.feed();
        for (let tick = 0; tick < ticks; tick += 1) await Promise.resolve();
        scene.place();
        scene.complete();
        scene.reading.feed();
        await settled();
        const expected = ["open", "chunk 0", "chunk 1", "finish"];
        expect(scene.told, `after ${ticks} ticks`).toEqual(expected);
      }
    },
  );
});
