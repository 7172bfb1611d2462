const BIAS = 0x84;
const CLIP = 32_635;

/** One byte of µ-law (ITU-T G.711) for a sample of 16 bits. */
export function toMulaw(sample: number): number {
  const sign = sample < 0 ? 0x80 : 0;
  const magnitude = Math.min(CLIP, Math.abs(sample)) + BIAS;
  const exponent = Math.max(0, 24 - Math.clz32(magnitude));
  return ~(sign | (exponent << 4) | ((magnitude >> (exponent + 3)) & 0x0f)) & 0xff;
}

/** Samples at 16 kHz as a telephone line has them: µ-law at 8 kHz. */
export function toTelephone(samples: Int16Array): Uint8Array {
  return Uint8Array.from({ length: Math.floor(samples.length / 2) }, (_, at) =>
    toMulaw(Math.round(((samples[2 * at] ?? 0) + (samples[2 * at + 1] ?? 0)) / 2)),
  );
}
