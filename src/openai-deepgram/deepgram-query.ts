import { Type } from "@sinclair/typebox";
import { MAX_CHANNELS } from "../base/audio/wav.ts";
import { shown } from "../base/errors.ts";
import type { Writing } from "../conversations/transcript/writing/written-segments.ts";
import { effectless } from "../rest/effectless.ts";
import type { SpeechEngine } from "../wire/speech-engines.ts";
import { refuseReliedOn, toEngine, toLanguage, toSwitch, wrong } from "./parameters.ts";

const flag = (description: string) => Type.Optional(Type.String({ description }));

/** Parameters of a recording, as the document shows them. */
export const deepgramQuery = Type.Object({
  model: flag(
    "A model of Deepgram's (`nova-3`, …), which stands for the workspace's own engine, or the name of an engine of this installation",
  ),
  language: flag("BCP 47; the workspace's preferred language by default"),
  punctuate: flag("`true`: capitals and sentence marks, and `punctuated_word`"),
  smart_format: flag("`true`: the same, numbers in digits, and `paragraphs`"),
  numerals: flag("`true`: numbers in digits"),
  paragraphs: flag("`true`: also in paragraphs, one for each turn of a voice"),
  utterances: flag("`true`: also by utterances"),
  diarize: flag("`true`: who said each word, as a number from 0 on"),
  multichannel: flag(
    "`true`: each channel is read by itself, as one speaker; more than two of live audio, and of what FFmpeg decodes, are mixed",
  ),
  keyterm: flag("A word or phrase to expect; may be repeated"),
  keywords: flag("A word to expect; what follows a colon is ignored. May be repeated"),
  encoding: flag("Of raw audio: `linear16`, `mulaw` or `alaw`. Files tell theirs themselves"),
  sample_rate: flag("Of raw audio, Hz"),
  channels: flag("Of raw audio; 1 by default"),
  store: flag(
    "`false`: the session is deleted at its end, its audio and words with it. By default it is kept as the workspace's retention says",
  ),
});

/** Parameters that a live stream has besides. */
const LIVE = ["interim_results", "endpointing", "utterance_end_ms", "vad_events"];
const FILE_ONLY = ["paragraphs", "utterances"];
/** What is never done here: there is nothing to opt out of. */
const GRANTED = ["mip_opt_out", "version"];

const THEIRS = /^(nova|nova-2|nova-3|enhanced|base|whisper)(-[\w.-]{1,40})?$/;
const MAX_LIVE_CHANNELS = 2;
const MOST_TERMS = 100;
const LONGEST_TERM = 100;

/** The encodings of raw audio that are read, by their names here. */
const ENCODINGS = { linear16: "s16le", mulaw: "mulaw", alaw: "alaw", opus: "opus" } as const;

type RawEncoding = (typeof ENCODINGS)[keyof typeof ENCODINGS];

/** What a caller wants of one transcription. */
export interface DeepgramOrder {
  engine: string | undefined;
  language: string | undefined;
  vocabulary: string[];
  writing: Pick<Writing, "style" | "numbers">;
  diarize: boolean;
  multichannel: boolean;
  paragraphs: boolean;
  utterances: boolean;
  /** Of raw audio; undefined when the audio tells it itself. */
  raw: { encoding: RawEncoding; sampleRate: number; channels: number } | undefined;
  store: boolean;
  interim: boolean;
  /** False: no final is told to end what somebody says. */
  endpointing: boolean;
  /** Silence after which UtteranceEnd is told, milliseconds; undefined: it is not. */
  utteranceEndMs: number | undefined;
  vadEvents: boolean;
  /** The `Warning` header, if there is something to warn of. */
  warning: string | undefined;
}

type Query = Readonly<Record<string, unknown>>;

/** The last value of a parameter. */
function one(query: Query, name: string): string | undefined {
  const value = query[name];
  const last: unknown = Array.isArray(value) ? value.at(-1) : value;
  return typeof last === "string" ? last : undefined;
}

function all(query: Query, name: string): string[] {
  const value = query[name];
  const values: unknown[] = Array.isArray(value) ? value : [value];
  return values.filter((each) => typeof each === "string");
}

function toNumber(query: Query, name: string, least: number, most: number): number | undefined {
  const text = one(query, name);
  if (text === undefined || text === "") return undefined;
  const number = /^\d{1,9}$/.test(text) ? Number(text) : Number.NaN;
  if (number >= least && number <= most) return number;
  throw wrong(name, `"${shown(text)}" is not a whole number from ${least} to ${most}.`);
}

function toTerms(query: Query): string[] {
  const keywords = all(query, "keywords").flatMap((each) => each.split(","));
  const terms = [
    ...all(query, "keyterm"),
    ...keywords.map((each) => each.replace(/:-?[\d.]*$/, "")),
  ];
  const told = terms.map((each) => each.trim()).filter((each) => each !== "");
  if (told.length > MOST_TERMS) throw wrong("keyterm", `at most ${MOST_TERMS} are taken.`);
  const long = told.find((each) => each.length > LONGEST_TERM);
  if (long === undefined) return told;
  throw wrong("keyterm", `"${shown(long)}" is longer than ${LONGEST_TERM} characters.`);
}

/** Whether the query says that samples come without a file around them. */
export function isRaw(query: Query): boolean {
  const name = one(query, "encoding") ?? "";
  return Object.hasOwn(ENCODINGS, name) && name !== "opus";
}

function toRaw(query: Query, mostChannels: number): DeepgramOrder["raw"] {
  const name = one(query, "encoding");
  if (name === undefined || name === "" || /^(flac|ogg-opus|webm)/.test(name)) return undefined;
  if (!Object.hasOwn(ENCODINGS, name)) {
    const known = Object.keys(ENCODINGS).join(", ");
    throw wrong("encoding", `"${shown(name)}" is not read here. Raw audio may be ${known}.`);
  }
  const encoding = ENCODINGS[name as keyof typeof ENCODINGS];
  const sampleRate = toNumber(query, "sample_rate", 8_000, 96_000);
  if (sampleRate === undefined && encoding !== "opus") {
    throw wrong("sample_rate", "raw audio needs it, in Hz.");
  }
  const channels = toNumber(query, "channels", 1, mostChannels) ?? 1;
  return { encoding, sampleRate: sampleRate ?? 16_000, channels };
}

/** Reads the query. Throws `invalid_parameter`. */
export function readDeepgramQuery(
  query: Query,
  engines: readonly SpeechEngine[],
  isLive: boolean,
): DeepgramOrder {
  refuseReliedOn(query, "a bare name is a wish");
  // A bare name (`?punctuate`) is a wish, as Deepgram's own clients and services have it.
  const isOn = (name: string) => one(query, name) === "" || toSwitch(name, one(query, name), false);
  const [smart, paragraphs] = [isOn("smart_format"), isOn("paragraphs")];
  const known = [...Object.keys(deepgramQuery.properties), ...GRANTED, ...(isLive ? LIVE : [])];
  const without = Object.keys(query).filter((name) => !known.includes(name));
  if (isLive) without.push(...FILE_ONLY.filter((name) => query[name] !== undefined));
  const language = one(query, "language");
  if (language === "multi") without.push("language=multi");
  const endpointing = one(query, "endpointing");
  if (/^\d+$/.test(endpointing ?? "")) without.push("endpointing");
  return {
    engine: toEngine(one(query, "model") || "nova", engines, (name) => THEIRS.test(name), true),
    language: language === "multi" ? undefined : toLanguage(language),
    vocabulary: toTerms(query),
    writing: {
      style: isOn("punctuate") || smart || paragraphs ? "readable" : "raw",
      numbers: isOn("numerals") || smart ? "digits" : "words",
    },
    diarize: isOn("diarize"),
    multichannel: isOn("multichannel"),
    paragraphs: paragraphs || smart,
    utterances: isOn("utterances"),
    raw: toRaw(query, isLive ? MAX_LIVE_CHANNELS : MAX_CHANNELS),
    store: toSwitch("store", one(query, "store"), true),
    interim: isOn("interim_results"),
    endpointing: endpointing === undefined || /^\d+$/.test(endpointing) || isOn("endpointing"),
    utteranceEndMs: toNumber(query, "utterance_end_ms", 0, 60_000),
    vadEvents: isOn("vad_events"),
    warning: effectless(without),
  };
}
