import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { scoreDiarisation } from "./diarisation-score.ts";
import { findFlacDecoder } from "./flac.ts";
import { makeConversation } from "./made-conversation.ts";
import { readRecording } from "./read-recording.ts";
import { parseRttm } from "./rttm.ts";
import { speakerCases } from "./speaker-cases.ts";
import type { SpeakerRecording } from "./speaker-recording.ts";

interface Found {
  recordings: SpeakerRecording[];
  /** What is not there, in words. */
  leftOut: string[];
}

const CONDITIONS = ["clean", "room", "phone"];
const MADE = [
  ["slt", "rms"],
  ["awb", "kal16"],
  ["rms", "kal16"],
  ["slt", "awb", "rms"],
  ["rms", "awb", "kal16"],
  ["slt", "rms", "awb", "kal16"],
];
/** Clips with less scored speech say nothing, in seconds. */
const LEAST_SCORED = 9;
/** A clip whose reference names hardly any of its speech. */
const UNUSABLE = "trn07";
const ALONE_TURNS = 130;

/**
 * All recordings: `voices/` and `ami/` of the folder `data`, short and long cases made of the former,
 * and conversations that Debian's flite makes on the spot; with `short` fewer of the latter.
 */
export function findSpeakerRecordings(data: string, { short }: { short: boolean }): Found {
  const found = [voices(join(data, "voices")), clips(join(data, "ami"))];
  const recordings = found.flatMap((each) => each.recordings);
  return {
    recordings: [...recordings, ...speakerCases(recordings), ...made(short)],
    leftOut: found.flatMap(({ leftOut }) => leftOut),
  };
}

/** Human voices in turns; `<name>.rttm` holds for a name's file in each condition. */
function voices(folder: string): Found {
  const names = ["2a", "2b", "3a", "3b", "4a", "4b", "6a", "6b"].map((name) => `c${name}`);
  const files = CONDITIONS.flatMap((condition) =>
    [...names, "solo"].map((name) => ({ condition, name })),
  ).filter(({ condition, name }) => existsSync(join(folder, condition, `${name}.flac`)));
  const missing = (what: string) => ({
    recordings: [],
    leftOut: [`human voices in turns: ${what}`],
  });
  if (files.length === 0) return missing("no voices/*/*.flac in VOICE_EVAL_DATA");
  const decode = findFlacDecoder();
  if (decode === undefined) return missing("neither `flac` nor `sox` is installed to decode FLAC");
  const recordings = files.map(({ condition, name }) => ({
    set: name === "solo" ? "one voice, 10 min" : `${condition}, ${name[1]} voices`,
    name: `${condition}-${name}`,
    load: async () => ({
      pcm: decode(join(folder, condition, `${name}.flac`)),
      reference: parseRttm(readFileSync(join(folder, `${name}.rttm`), "utf8")).get(name) ?? [],
    }),
  }));
  return { recordings, leftOut: [] };
}

/** The AMI clips with enough scored speech. */
function clips(folder: string): Found {
  const file = join(folder, "reference.rttm");
  if (!existsSync(file)) {
    return { recordings: [], leftOut: ["AMI clips: no ami/reference.rttm in VOICE_EVAL_DATA"] };
  }
  const recordings = [...parseRttm(readFileSync(file, "utf8"))]
    .filter(([name]) => name !== UNUSABLE)
    .filter(([, reference]) => scoreDiarisation(reference, []).scored > LEAST_SCORED)
    .map(([name, reference]) => ({
      set: "ami",
      name: `ami-${name}`,
      load: async () => ({
        pcm: readRecording(readFileSync(join(folder, `${name}.wav`))),
        reference,
      }),
    }));
  return { recordings, leftOut: [] };
}

function made(short: boolean): SpeakerRecording[] {
  const conversation = (
    set: string,
    spoken: { voices: string[]; turns: number; seed: number },
  ) => ({
    set,
    name: `made-${spoken.voices.join("+")}-${spoken.seed}`,
    load: () => makeConversation(spoken.voices, spoken.turns, spoken.seed),
  });
  const several = MADE.flatMap((names, i) =>
    (short ? [1] : [1, 2]).map((seed) => {
      const turns = 16 + 6 * (names.length - 2);
      const spoken = { voices: names, turns, seed: 10 * i + seed };
      return conversation(`made, ${names.length} voices`, spoken);
    }),
  );
  const alone = (short ? [] : ["slt", "rms", "awb", "kal16"]).map((voice) =>
    conversation("made, one voice, 10 min", { voices: [voice], turns: ALONE_TURNS, seed: 5 }),
  );
  return [...several, ...alone];
}
