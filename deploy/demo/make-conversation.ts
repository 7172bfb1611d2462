/**
 * Makes conversation.wav and conversation.json, the shipped demo: `node make-conversation.ts [DIR]`
 * (default: beside this file). Needs the program `flite` 2.2 (Debian: apt-get install flite).
 * The same flite gives the same bytes.
 */
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { LINES, type Line, VOICES } from "./conversation-lines.ts";
import { SAMPLE_RATE, speak } from "./flite.ts";

const SENTENCE_PAUSE_MS = 300;
/** Audio kept around the first and last phone of a sentence, so that nothing is clipped. */
const MARGIN_S = 0.04;
const TAIL_MS = 600;
/** A room is never digitally silent: a faint, even noise below everything (about -72 dBFS). */
const ROOM_NOISE_PEAK = 14;

interface TimedWord {
  word: string;
  start_ms: number;
  end_ms: number;
  speaker: string;
}

interface Turn {
  speaker: string;
  start_ms: number;
  end_ms: number;
  text: string;
}

/** Grows the recording from the left; the time of everything follows from sample counts. */
class Recording {
  readonly turns: Turn[] = [];
  readonly words: TimedWord[] = [];
  readonly #pieces: Int16Array[] = [];
  #length = 0;

  get samples(): Int16Array {
    const all = new Int16Array(this.#length);
    let at = 0;
    for (const piece of this.#pieces) {
      all.set(piece, at);
      at += piece.length;
    }
    return all;
  }

  pause(ms: number): void {
    this.#append(new Int16Array(Math.max(0, Math.round((ms * SAMPLE_RATE) / 1000))));
  }

  turn({ speaker, sentences }: Line): void {
    const first = this.words.length;
    sentences.forEach((sentence, i) => {
      if (i > 0) this.pause(SENTENCE_PAUSE_MS);
      this.#sentence(speaker, sentence);
    });
    const start_ms = this.words[first]?.start_ms ?? 0;
    const end_ms = this.words.at(-1)?.end_ms ?? start_ms;
    this.turns.push({ speaker, start_ms, end_ms, text: sentences.join(" ") });
  }

  #sentence(speaker: string, sentence: string): void {
    const { samples, words } = speak(VOICES[speaker] ?? speaker, sentence);
    const from = Math.max(0, Math.round(((words.at(0)?.start ?? 0) - MARGIN_S) * SAMPLE_RATE));
    const to = Math.round(((words.at(-1)?.end ?? 0) + MARGIN_S) * SAMPLE_RATE);
    const shift = this.#length - from;
    const atMs = (time: number) => Math.round(((time * SAMPLE_RATE + shift) / SAMPLE_RATE) * 1000);
    for (const { word, start, end } of words) {
      this.words.push({ word, start_ms: atMs(start), end_ms: atMs(end), speaker });
    }
    this.#append(samples.slice(from, to));
  }

  #append(piece: Int16Array): void {
    this.#pieces.push(piece);
    this.#length += piece.length;
  }
}

/** Adds noise from a fixed linear congruential generator (Numerical Recipes constants). */
function withRoomNoise(samples: Int16Array): Int16Array {
  let state = 1;
  return samples.map((sample) => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    const noise = Math.round((state / 0xffff_ffff - 0.5) * 2 * ROOM_NOISE_PEAK);
    return Math.max(-32_768, Math.min(32_767, sample + noise));
  });
}

function wav(samples: Int16Array): Buffer {
  const bytes = Buffer.alloc(44 + samples.length * 2);
  bytes.write("RIFF", 0, "latin1");
  bytes.writeUInt32LE(bytes.length - 8, 4);
  bytes.write("WAVEfmt ", 8, "latin1");
  bytes.writeUInt32LE(16, 16);
  bytes.writeUInt16LE(1, 20);
  bytes.writeUInt16LE(1, 22);
  bytes.writeUInt32LE(SAMPLE_RATE, 24);
  bytes.writeUInt32LE(SAMPLE_RATE * 2, 28);
  bytes.writeUInt16LE(2, 32);
  bytes.writeUInt16LE(16, 34);
  bytes.write("data", 36, "latin1");
  bytes.writeUInt32LE(samples.length * 2, 40);
  samples.forEach((sample, i) => {
    bytes.writeInt16LE(sample, 44 + 2 * i);
  });
  return bytes;
}

const recording = new Recording();
for (const line of LINES) {
  // The sentences keep a margin of their own; the pause is from last phone to first phone.
  recording.pause(line.pauseMs - (recording.turns.length > 0 ? 2000 * MARGIN_S : 0));
  recording.turn(line);
}
recording.pause(TAIL_MS);

const folder = process.argv[2] ?? import.meta.dirname;
const samples = withRoomNoise(recording.samples);
const truth = {
  sample_rate: SAMPLE_RATE,
  duration_ms: Math.round((samples.length / SAMPLE_RATE) * 1000),
  voices: VOICES,
  turns: recording.turns,
  words: recording.words,
};
writeFileSync(join(folder, "conversation.wav"), wav(samples));
writeFileSync(join(folder, "conversation.json"), `${JSON.stringify(truth, null, 2)}\n`);
console.log(
  `${join(folder, "conversation.wav")}: ${truth.duration_ms} ms, ${truth.turns.length} turns, ` +
    `${truth.words.length} words, ${Object.keys(VOICES).length} voices`,
);
