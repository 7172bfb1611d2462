import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { encodeWave } from "../../src/cli/device/wave-file.ts";
import { type BareEngine, readWithBareEngine, type TimedWord } from "./bare-engine.ts";
import type { Delivery } from "./delivery.ts";
import { type DiarisationScore, scoreDiarisation } from "./diarisation-score.ts";
import type { Recording } from "./recordings.ts";
import type { ServiceReader, ServiceReading } from "./service-reading.ts";
import { type WordErrors, wordErrors } from "./word-error-rate.ts";
import { compareTimes, type TimeAgreement } from "./word-times.ts";

/** What the engine by itself made of a recording. */
export interface BareReading {
  readonly errors: WordErrors;
  readonly words: readonly TimedWord[];
  /** As one utterance with its silence kept: a clock that counts every frame. */
  readonly clock: readonly TimedWord[];
}

/** What the whole service made of it, delivered in one way. */
export interface ServiceQuality {
  readonly delivery: Delivery;
  readonly errors: WordErrors;
  /** Points of word error rate that the service loses against the bare engine. */
  readonly loss_points?: number;
  readonly times: {
    /** Against the bare engine as it runs by default; its clock leaves out removed silence. */
    readonly bare?: TimeAgreement;
    /** Against the bare engine's unbroken clock. */
    readonly bare_clock?: TimeAgreement;
    /** Against times known from construction. */
    readonly truth?: TimeAgreement;
  };
  readonly speakers: number;
  readonly diarisation?: Omit<DiarisationScore, "mapping">;
  readonly seconds: number;
  readonly words: readonly string[];
}

export async function measureBareEngine(
  engine: BareEngine,
  { audio, reference }: Recording,
): Promise<BareReading> {
  const folder = mkdtempSync(join(tmpdir(), "voice-bare-"));
  try {
    const file = join(folder, "whole.wav");
    writeFileSync(file, encodeWave(audio));
    const words = await readWithBareEngine(engine, file, { keepSilence: false });
    const clock = await readWithBareEngine(engine, file, { keepSilence: true });
    const heard = words.map(({ word }) => word);
    return { errors: wordErrors(reference, heard), words, clock };
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

export async function measureService(
  reader: ServiceReader,
  recording: Recording,
  delivery: Delivery,
  bare: BareReading | undefined,
): Promise<ServiceQuality> {
  const reading = await reader.read(recording.audio, delivery);
  const errors = wordErrors(recording.reference, reading.words);
  return {
    delivery,
    errors,
    loss_points: bare && (errors.rate - bare.errors.rate) * 100,
    times: {
      bare: bare && compareTimes(bare.words, reading.timedWords),
      bare_clock: bare && compareTimes(bare.clock, reading.timedWords),
      truth: recording.words && compareTimes(recording.words, reading.timedWords),
    },
    speakers: reading.speakers.length,
    diarisation: recording.turns && diarisation(recording.turns, reading),
    seconds: reading.seconds,
    words: reading.words,
  };
}

function diarisation(
  turns: NonNullable<Recording["turns"]>,
  reading: ServiceReading,
): Omit<DiarisationScore, "mapping"> {
  const { mapping: _mapping, ...score } = scoreDiarisation(turns, reading.turns);
  return score;
}
