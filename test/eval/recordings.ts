import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { readWave, type WaveAudio } from "../../src/cli/device/wave-file.ts";
import type { SpokenTurn } from "./diarisation-score.ts";
import { findFlacDecoder } from "./flac.ts";
import { normaliseWords } from "./normalise-words.ts";
import { parseRttm } from "./rttm.ts";
import type { TimedWord } from "./word-times.ts";

/** Audio with what was said in it; times and turns where they are known from construction. */
export interface Recording {
  readonly name: string;
  /** 16 kHz, mono, 16 bit. */
  readonly audio: WaveAudio;
  /** None where it is not known what was said. */
  readonly reference: readonly string[];
  readonly words?: readonly TimedWord[];
  readonly turns?: readonly SpokenTurn[];
}

interface ConversationTruth {
  readonly turns: readonly { speaker: string; start_ms: number; end_ms: number; text: string }[];
  readonly words: readonly { word: string; start_ms: number; end_ms: number }[];
}

const JOINING_PAUSE_S = 1;
const TURNS = "c3a";

/** The conversation that is shipped with the project. */
export function loadConversation(folder: string): Recording {
  const truth = JSON.parse(
    readFileSync(join(folder, "conversation.json"), "utf8"),
  ) as ConversationTruth;
  const seconds = (item: { start_ms: number; end_ms: number }) => ({
    start: item.start_ms / 1000,
    end: item.end_ms / 1000,
  });
  return {
    name: "conversation",
    audio: readWave(join(folder, "conversation.wav")),
    reference: normaliseWords(truth.turns.map((turn) => turn.text).join(" ")),
    words: truth.words.map((word) => ({ word: word.word, ...seconds(word) })),
    turns: truth.turns.map((turn) => ({ speaker: turn.speaker, ...seconds(turn) })),
  };
}

/** Read sentences, each alone and all joined with pauses of 1 s; [] where they are absent. */
export function loadReadSentences(folder: string): Recording[] {
  const list = join(folder, "transcripts.txt");
  if (!existsSync(list)) return [];
  const sentences = readFileSync(list, "utf8")
    .split("\n")
    .map((line) => /^(\S+)\s+(.+)$/.exec(line.trim()))
    .filter((match) => match !== null)
    .map(([, id = "", text = ""]) => ({
      name: `librivox ${id}`,
      audio: readWave(join(folder, `${id}.wav`)),
      reference: normaliseWords(text),
    }));
  const [first] = sentences;
  return first ? [...sentences, join16k("librivox joined", first.audio, sentences)] : [];
}

/** Three human voices in turns, whose words are not known; [] where they are absent. */
export function loadTurns(folder: string): Recording[] {
  const file = join(folder, "clean", `${TURNS}.flac`);
  const decode = findFlacDecoder();
  if (!existsSync(file) || decode === undefined) return [];
  const pcm = decode(file);
  const data = Buffer.from(pcm.buffer, pcm.byteOffset, pcm.byteLength);
  const audio = { float: false, bitsPerSample: 16, channels: 1, sampleRate: 16_000, data };
  const turns = parseRttm(readFileSync(join(folder, `${TURNS}.rttm`), "utf8")).get(TURNS);
  return [{ name: `voices ${TURNS}`, audio, reference: [], ...(turns && { turns }) }];
}

function join16k(name: string, like: WaveAudio, recordings: readonly Recording[]): Recording {
  const pause = Buffer.alloc(JOINING_PAUSE_S * like.sampleRate * 2);
  const pieces = recordings.flatMap(({ audio }, i) => (i > 0 ? [pause, audio.data] : [audio.data]));
  const reference = recordings.flatMap((recording) => recording.reference);
  return { name, audio: { ...like, data: Buffer.concat(pieces) }, reference };
}
