import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { SESSION_RATE } from "../../src/base/audio/sample-rate.ts";
import { likelihoodsOf } from "../../src/conversations/voices/suggester.ts";
import type { VoiceAnalysis } from "../../workers/speakers/voice-analysis.ts";
import {
  logLikelihoodRatio,
  makePrint,
  type VoicePrint,
} from "../../workers/speakers/voice-print.ts";
import { joined } from "../../workers/speech/open-utterance.ts";
import type { SpokenTurn } from "./diarisation-score.ts";
import { findFlacDecoder } from "./flac.ts";
import { parseRttm } from "./rttm.ts";

const CONDITIONS = ["clean", "room", "phone"];
const NAMES = ["c2a", "c2b", "c3a", "c3b", "c4a", "c4b", "c6a", "c6b"];
/** A label with less speech is not compared, as in the service. */
const LEAST_SECONDS = 10;

/** One person's speech in one recording. */
export interface Occasion {
  condition: string;
  recording: string;
  person: string;
  print: VoicePrint;
  speechMs: number;
}

/** Prints of everybody in every recording, by the reference; none where the recordings are not there. */
export async function occasionsIn(data: string, voices: VoiceAnalysis): Promise<Occasion[]> {
  const decode = findFlacDecoder();
  if (decode === undefined) return [];
  const files = CONDITIONS.flatMap((condition) => NAMES.map((name) => ({ condition, name })));
  const occasions: Occasion[] = [];
  for (const { condition, name } of files) {
    const file = join(data, "voices", condition, `${name}.flac`);
    if (!existsSync(file)) continue;
    const turns = parseRttm(readFileSync(join(data, "voices", `${name}.rttm`), "utf8")).get(name);
    for (const [person, pcm] of soundBySpeaker(decode(file), turns ?? [])) {
      if (pcm.length < LEAST_SECONDS * SESSION_RATE) continue;
      // As much as an enrolment has at least: more would flatter it.
      const made = await printed(pcm.slice(0, LEAST_SECONDS * SESSION_RATE), voices);
      occasions.push({ condition, recording: name, person, ...made });
    }
  }
  return occasions;
}

async function printed(pcm: Int16Array, voices: VoiceAnalysis) {
  const steps = makePrint(pcm, voices);
  for (;;) {
    const { done, value } = steps.next();
    if (done === true) return value;
    await value;
  }
}

/** The sound of each speaker of a recording alone, where nobody else speaks. */
function soundBySpeaker(pcm: Int16Array, turns: readonly SpokenTurn[]): Map<string, Int16Array> {
  const pieces = new Map<string, Int16Array[]>();
  for (const turn of turns) {
    const others = turns.filter((other) => other.speaker !== turn.speaker);
    if (others.some(({ start, end }) => start < turn.end && end > turn.start)) continue;
    const piece = pcm.subarray(turn.start * SESSION_RATE, turn.end * SESSION_RATE);
    pieces.set(turn.speaker, [...(pieces.get(turn.speaker) ?? []), piece]);
  }
  return new Map([...pieces].map(([speaker, parts]) => [speaker, joined(parts)]));
}

/** How suggestions came out. */
export interface Tally {
  right: number;
  wrong: number;
  absent: number;
}

/**
 * Everybody is remembered from one recording in one condition and suggested in the others in another.
 * `known`: of persons who are remembered; `unknown`: of persons who are not, where absent is right.
 */
export function tryAll(
  occasions: readonly Occasion[],
  from: string,
  to: string,
  threshold: number,
): { known: Tally; unknown: Tally } {
  const known = { right: 0, wrong: 0, absent: 0 };
  const unknown = { right: 0, wrong: 0, absent: 0 };
  const persons = [...new Set(occasions.map(({ person }) => person))];
  const enrolments = persons.map((person) =>
    occasions.filter((each) => each.person === person && each.condition === from),
  );
  const rounds = Math.max(...enrolments.map((each) => each.length));
  for (let round = 0; round < rounds; round++) {
    const remembered = enrolments.flatMap((each) => each[round % each.length] ?? []);
    for (const heard of occasions.filter(({ condition }) => condition === to)) {
      const own = remembered.find(({ person }) => person === heard.person);
      if (own?.recording === heard.recording) continue;
      const others = remembered.filter(({ person }) => person !== heard.person);
      count(known, heard, suggested(heard, remembered, threshold));
      count(unknown, heard, suggested(heard, others, threshold));
    }
  }
  return { known, unknown };
}

function suggested(
  heard: Occasion,
  remembered: readonly Occasion[],
  threshold: number,
): string | undefined {
  const ratios = remembered.map(({ print }) => logLikelihoodRatio(print, heard.print));
  const likelihoods = likelihoodsOf(ratios);
  const best = likelihoods.indexOf(Math.max(...likelihoods));
  return (likelihoods[best] ?? 0) >= threshold ? remembered[best]?.person : undefined;
}

function count(tally: Tally, { person }: Occasion, suggestion: string | undefined): void {
  if (suggestion === undefined) tally.absent += 1;
  else if (suggestion === person) tally.right += 1;
  else tally.wrong += 1;
}

/** The share in per cent of pairs of different persons where the one is suggested who alone is remembered. */
export function strangersNamed(
  occasions: readonly Occasion[],
  from: string,
  to: string,
  threshold: number,
): number {
  const pairs = pairsOf(occasions, from, to).filter(({ isSame }) => !isSame);
  const named = pairs.filter(({ ratio }) => (likelihoodsOf([ratio])[0] ?? 0) >= threshold);
  return (100 * named.length) / pairs.length;
}

/** The share in per cent of same and different pairs that are mistaken where both are equal. */
export function equalErrorRate(occasions: readonly Occasion[], from: string, to: string): number {
  const pairs = pairsOf(occasions, from, to);
  pairs.sort((a, b) => b.ratio - a.ratio);
  const same = pairs.filter(({ isSame }) => isSame).length;
  let [taken, mistaken] = [0, 0];
  for (const { isSame } of pairs) {
    if (isSame) taken += 1;
    else mistaken += 1;
    const missed = 1 - taken / same;
    const wrong = mistaken / (pairs.length - same);
    if (wrong >= missed) return 50 * (wrong + missed);
  }
  return 0;
}

/** Prints of one condition with those of another in other recordings. */
function pairsOf(
  occasions: readonly Occasion[],
  from: string,
  to: string,
): { ratio: number; isSame: boolean }[] {
  const others = occasions.filter(({ condition }) => condition === to);
  return occasions
    .filter(({ condition }) => condition === from)
    .flatMap((a) =>
      others
        .filter(({ recording }) => recording !== a.recording)
        .map((b) => ({
          ratio: logLikelihoodRatio(a.print, b.print),
          isSame: a.person === b.person,
        })),
    );
}
