import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { likelihoodsOf } from "../../src/features/voices/likelihood.ts";
import { makePrint, PrintComparer, type VoicePrint } from "../../workers/voices/voice-print.ts";
import { findFlacDecoder } from "./flac.ts";
import { parseRttm } from "./rttm.ts";
import { soundBySpeaker } from "./voice-material.ts";
import { whole } from "./voice-training.ts";

const CONDITIONS = ["clean", "room", "phone"];
const NAMES = ["c2a", "c2b", "c3a", "c3b", "c4a", "c4b", "c6a", "c6b"];
const SAMPLES_PER_SECOND = 16_000;
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
export function occasionsIn(data: string): Occasion[] {
  const decode = findFlacDecoder();
  if (decode === undefined) return [];
  const files = CONDITIONS.flatMap((condition) => NAMES.map((name) => ({ condition, name })));
  return files.flatMap(({ condition, name }) => {
    const file = join(data, "voices", condition, `${name}.flac`);
    if (!existsSync(file)) return [];
    const turns = parseRttm(readFileSync(join(data, "voices", `${name}.rttm`), "utf8")).get(name);
    return [...soundBySpeaker(decode(file), turns ?? [])]
      .filter(([, pcm]) => pcm.length >= LEAST_SECONDS * SAMPLES_PER_SECOND)
      .map(([person, pcm]) => ({ condition, recording: name, person, ...whole(makePrint(pcm)) }));
  });
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
  const comparer = new PrintComparer();
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
      count(known, heard, suggested(comparer, heard, remembered, threshold));
      count(unknown, heard, suggested(comparer, heard, others, threshold));
    }
  }
  return { known, unknown };
}

function suggested(
  comparer: PrintComparer,
  heard: Occasion,
  remembered: readonly Occasion[],
  threshold: number,
): string | undefined {
  const ratios = remembered.map(({ print }) => comparer.logLikelihoodRatio(print, heard.print));
  const likelihoods = likelihoodsOf(ratios);
  const best = likelihoods.indexOf(Math.max(...likelihoods));
  return (likelihoods[best] ?? 0) >= threshold ? remembered[best]?.person : undefined;
}

function count(tally: Tally, { person }: Occasion, suggestion: string | undefined): void {
  if (suggestion === undefined) tally.absent += 1;
  else if (suggestion === person) tally.right += 1;
  else tally.wrong += 1;
}

/** The share in per cent of same and different pairs that are mistaken where both are equal. */
export function equalErrorRate(occasions: readonly Occasion[], from: string, to: string): number {
  const comparer = new PrintComparer();
  const pairs: { ratio: number; isSame: boolean }[] = [];
  for (const a of occasions.filter(({ condition }) => condition === from)) {
    for (const b of occasions.filter(({ condition }) => condition === to)) {
      if (a.recording === b.recording) continue;
      const ratio = comparer.logLikelihoodRatio(a.print, b.print);
      pairs.push({ ratio, isSame: a.person === b.person });
    }
  }
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
