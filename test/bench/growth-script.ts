import { randomBytes } from "node:crypto";
import type {
  Hypothesis,
  TranscribeResponse,
  Utterance,
  Word,
} from "../../src/wire/gen/voice/v1/worker.ts";
import { SessionTracker } from "../../workers/speakers/session-tracker.ts";
import { CHECKPOINT_INTERVAL } from "../../workers/speech/checkpoint-pace.ts";
import { encodeReaderState } from "../../workers/speech/reader-state.ts";
import { CodedVoices, codedSound } from "../support/coded-voices.ts";

/**
 * What the scripted worker says, by sample positions alone: one utterance for each chunk of the
 * bench's devices. Nothing is recognised.
 */
const SECOND = 16_000;
export const CHUNK_SECONDS = 4;
export const CHUNK_SAMPLES = CHUNK_SECONDS * SECOND;
/** As a telephone sends it; small, so that carrying sound hides nothing else. */
export const SOUND = {
  mediaType: "audio/pcm;rate=8000;channels=1;encoding=mulaw",
  sampleRate: 8_000,
};
export const CHUNK_FRAMES = CHUNK_SECONDS * SOUND.sampleRate;
/** Within its chunk; what comes after is the pause by which an end of speech is known. */
const SPEECH = { from: 0.2 * SECOND, to: 3.4 * SECOND };
const HYPOTHESES = 3;
const VOICES = 4;
const WORDS = "and then we agreed to look at the budget again on thursday".split(" ");
/** The recogniser's own running means and the speech gate's, as `encodeReaderState` packs them. */
const RECOGNISER_BYTES = { recogniser: 400, activity: 300 };
const LARGEST_BOOK = 256 * 1024;

export type Message = NonNullable<TranscribeResponse["message"]>;

/** Bytes of the worker's state about speakers after so many segments; the last entry is for all more. */
export type StateSize = readonly number[];

/** More than the tracker keeps apart: from there on it hardly grows. */
const MEASURED = 700;

/** What the speaker tracker of this release really writes, of voices whose networks are scripted. */
export function measureStateSize(): StateSize {
  const tracker = new SessionTracker(new CodedVoices());
  const sizes = [tracker.checkpoint().length];
  for (let n = 1; n <= MEASURED; n += 1) {
    const start = n * CHUNK_SAMPLES;
    const pcm = codedSound((SPEECH.to - SPEECH.from) / SECOND, { voice: n % VOICES, seed: n });
    const end = start + pcm.length;
    tracker.begin(start);
    tracker.push(start, pcm);
    tracker.settle(start, end);
    tracker.commit(tracker.turns(start, end), end);
    sizes.push(tracker.checkpoint().length);
  }
  return sizes;
}

/** The state a worker tells with a final; none of it compresses, as real statistics do not. */
export class ScriptedState {
  readonly #noise = randomBytes(LARGEST_BOOK);
  readonly #recogniser = encodeReaderState({
    activity: randomBytes(RECOGNISER_BYTES.activity),
    phases: [],
    pauses: { wait: 400_000, gap: -1 },
  });
  size: StateSize = [4 * 1024];

  after(segments: number, position: number) {
    const bytes = this.size[Math.min(segments, this.size.length - 1)] ?? 0;
    const speakers = this.#noise.subarray(0, Math.min(bytes, LARGEST_BOOK));
    return { position, recogniser: this.#recogniser, speakers };
  }
}

/** Everything that is said once sound up to `heardTo` is there, and was not before `from`. */
export function messagesBetween(from: number, heardTo: number, state: ScriptedState): Message[] {
  const messages: Message[] = [];
  const first = Math.ceil((from - SPEECH.from) / CHUNK_SAMPLES);
  for (let n = Math.max(0, first); (n + 1) * CHUNK_SAMPLES <= heardTo; n += 1) {
    messages.push(...utteranceMessages(n, state));
  }
  return messages;
}

/** Where the first utterance ends that `messagesBetween` would not tell yet. */
export function toldTo(heardTo: number): number {
  return Math.floor(heardTo / CHUNK_SAMPLES) * CHUNK_SAMPLES;
}

function utteranceMessages(n: number, state: ScriptedState): Message[] {
  const at = n * CHUNK_SAMPLES;
  const [start, end] = [at + SPEECH.from, at + SPEECH.to];
  const words = WORDS.map((text, i) => wordAt(text, i, start, end));
  const messages: Message[] = [{ $case: "speechStarted", value: { position: start } }];
  for (let revision = 1; revision <= HYPOTHESES; revision += 1) {
    messages.push({ $case: "hypothesis", value: hypothesis(n, revision, words) });
  }
  const utterance: Utterance = {
    start,
    end,
    segments: [{ start, end, words, confidence: 0.9, cluster: n % VOICES, overlaps: [] }],
    checkpoint: isDue(n) ? state.after(n + 1, end) : undefined,
    speakers: { segments: [], merges: [], finalPass: false },
    time: { total: 20_000, engine: 15_000 },
  };
  messages.push({ $case: "utterance", value: utterance });
  const heard = at + CHUNK_SAMPLES;
  messages.push({ $case: "progress", value: { processedTo: heard, finalisedTo: heard } });
  return messages;
}

/** As a worker gives them, though by position alone. */
function isDue(utterance: number): boolean {
  const interval = (n: number) => Math.floor((n * CHUNK_SAMPLES) / CHECKPOINT_INTERVAL);
  return interval(utterance + 1) > interval(utterance);
}

function wordAt(text: string, i: number, start: number, end: number): Word {
  const length = Math.floor((end - start) / WORDS.length);
  const from = start + i * length;
  return { text, start: from, end: from + length - 800, confidence: 0.9 };
}

function hypothesis(n: number, revision: number, words: readonly Word[]): Hypothesis {
  const heard = words.slice(0, Math.ceil((words.length * revision) / HYPOTHESES));
  return {
    start: heard[0]?.start ?? 0,
    end: heard.at(-1)?.end ?? 0,
    revision,
    words: heard.map((word) => ({ ...word, confidence: 0 })),
    cluster: n % VOICES,
    stableWords: Math.max(0, heard.length - 2),
  };
}
