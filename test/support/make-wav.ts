export interface WavOptions {
  frames: number;
  sampleRate?: number;
  channels?: number;
  bits?: 8 | 16 | 24 | 32;
  float?: boolean;
  /** What the header says of the samples' length; the truth unless given. */
  claimedLength?: number;
  /** Makes the samples differ. */
  seed?: number;
}

/** A WAV file of faint noise that depends on `seed`; silence for seed 0. */
export function makeWav(options: WavOptions): Buffer {
  const { frames, sampleRate = 16_000, channels = 1, bits = 16, seed = 0 } = options;
  const frameBytes = (channels * bits) / 8;
  const data = Buffer.alloc(frames * frameBytes);
  if (seed !== 0) {
    for (let at = 0; at < data.length; at += frameBytes) data[at] = (at * seed + seed) % 7;
  }
  const header = Buffer.alloc(44);
  header.write("RIFF", 0, "latin1");
  header.writeUInt32LE(36 + data.length, 4);
  header.write("WAVEfmt ", 8, "latin1");
  header.writeUInt32LE(16, 16);
  header.writeUInt16LE(options.float === true ? 3 : 1, 20);
  header.writeUInt16LE(channels, 22);
  header.writeUInt32LE(sampleRate, 24);
  header.writeUInt32LE(sampleRate * frameBytes, 28);
  header.writeUInt16LE(frameBytes, 32);
  header.writeUInt16LE(bits, 34);
  header.write("data", 36, "latin1");
  header.writeUInt32LE(options.claimedLength ?? data.length, 40);
  return Buffer.concat([header, data]);
}
