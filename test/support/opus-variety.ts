import OpusScript from "opusscript";
import { SeededRandom } from "./seeded-random.ts";

/** Requests of libopus' encoder. */
const COMPLEXITY = 4010;
const VBR = 4006;
const DTX = 4016;
const FEC = 4012;
const LOSS = 4014;

/** One way to encode. */
export interface OpusVariety {
  rate: 8_000 | 12_000 | 16_000 | 24_000 | 48_000;
  channels: 1 | 2;
  application: "VOIP" | "AUDIO" | "RESTRICTED_LOWDELAY";
  bitRate: number;
  /** Length of a packet. */
  ms: number;
  /** Packets of silence come short. */
  dtx: boolean;
  constant: boolean;
  fec: boolean;
}

/** Every combination that matters, in a fixed order. */
export function opusVarieties(): OpusVariety[] {
  const rates = [8_000, 12_000, 16_000, 24_000, 48_000] as const;
  const lengths = [2.5, 5, 10, 20, 40, 60];
  const bitRates = [6_000, 16_000, 24_000, 64_000, 256_000];
  const all: OpusVariety[] = [];
  for (const application of ["VOIP", "AUDIO", "RESTRICTED_LOWDELAY"] as const) {
    for (const ms of lengths) {
      for (const [index, bitRate] of bitRates.entries()) {
        const rate = rates[(index + all.length) % rates.length] ?? 16_000;
        const channels = all.length % 2 === 0 ? 1 : 2;
        const flags = all.length % 8;
        const [dtx, constant, fec] = [(flags & 1) > 0, (flags & 2) > 0, (flags & 4) > 0];
        all.push({ rate, channels, application, bitRate, ms, dtx, constant, fec });
      }
    }
  }
  return all;
}

/** `count` packets of voice-like sound with pauses, the pauses longest where DTX is on. */
export function encodeVariety(variety: OpusVariety, count: number, seed: number): Buffer[] {
  const { rate, channels, application, bitRate, ms, dtx, constant, fec } = variety;
  const encoder = new OpusScript(rate, channels, OpusScript.Application[application]);
  try {
    encoder.setBitrate(bitRate);
    encoder.encoderCTL(COMPLEXITY, 0);
    encoder.encoderCTL(VBR, constant ? 0 : 1);
    encoder.encoderCTL(DTX, dtx ? 1 : 0);
    encoder.encoderCTL(FEC, fec ? 1 : 0);
    encoder.encoderCTL(LOSS, fec ? 20 : 0);
    const frame = (rate * ms) / 1_000;
    const sound = voiceLike(frame * count, rate, new SeededRandom(seed));
    return Array.from({ length: count }, (_, index) => {
      const pcm = Buffer.alloc(frame * channels * 2);
      for (let at = 0; at < frame; at += 1) {
        const sample = sound[index * frame + at] ?? 0;
        for (let channel = 0; channel < channels; channel += 1) {
          pcm.writeInt16LE(sample >> channel, (at * channels + channel) * 2);
        }
      }
      return encoder.encode(pcm, frame);
    });
  } finally {
    encoder.delete();
  }
}

/** Harmonics of a gliding pitch that come and go, over a little noise; digital silence between. */
export function voiceLike(length: number, rate: number, random: SeededRandom): Int16Array {
  const sound = new Int16Array(length);
  let phase = 0;
  let level = 0;
  let aim = 3_000;
  for (let at = 0; at < length; at += 1) {
    if (at % Math.ceil(rate / 5) === 0) aim = random.chance(0.4) ? 0 : 300 * 30 ** random.next();
    level += (aim - level) * 0.002;
    phase += (110 + 60 * Math.sin(at / rate)) / rate;
    if (level < 2) continue;
    const turn = 2 * Math.PI * phase;
    const voice = Math.sin(turn) + 0.6 * Math.sin(2 * turn) + 0.4 * Math.sin(5 * turn);
    sound[at] = Math.round(level * (voice + 0.3 * (random.next() - 0.5)));
  }
  return sound;
}
