import type { Delivery } from "./delivery.ts";
import { type DiarisationScore, scoreDiarisation } from "./diarisation-score.ts";
import type { Recording } from "./recordings.ts";
import type { ServiceReader, ServiceReading } from "./service-reading.ts";
import { type WordErrors, wordErrors } from "./word-error-rate.ts";
import { compareTimes, type TimeAgreement } from "./word-times.ts";

/** What the whole service made of it, delivered in one way. */
export interface ServiceQuality {
  readonly delivery: Delivery;
  readonly errors: WordErrors;
  readonly times: {
    /** Against times known from construction. */
    readonly truth?: TimeAgreement;
  };
  readonly speakers: number;
  readonly diarisation?: Omit<DiarisationScore, "mapping">;
  readonly seconds: number;
  readonly words: readonly string[];
}

export async function measureService(
  reader: ServiceReader,
  recording: Recording,
  delivery: Delivery,
): Promise<ServiceQuality> {
  const reading = await reader.read(recording.audio, delivery);
  const errors = wordErrors(recording.reference, reading.words);
  return {
    delivery,
    errors,
    times: {
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
