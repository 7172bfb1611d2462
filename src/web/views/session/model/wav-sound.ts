/** The session's audio is a WAV file: 16 kHz, mono, 16 bits, after a header of 44 bytes. */
export const HEADER_BYTES = 44;
export const BYTES_PER_SECOND = 32_000;
export const PEAKS_PER_SECOND = 10;

/** The loudest sample of each tenth of a second, 0 to 1. */
export function peaksOf(samples: Int16Array): Float32Array {
  const step = 16_000 / PEAKS_PER_SECOND;
  const peaks = new Float32Array(Math.ceil(samples.length / step));
  for (const [n, sample] of samples.entries()) {
    const at = Math.floor(n / step);
    peaks[at] = Math.max(peaks[at] ?? 0, Math.abs(sample) / 32_768);
  }
  return peaks;
}

/** The header of a WAV file with so many bytes of 16 kHz, mono, 16 bits (RIFF, PCM). */
export function wavHeader(bytes: number): ArrayBuffer {
  const header = new DataView(new ArrayBuffer(HEADER_BYTES));
  const write = (at: number, text: string) => {
    for (let n = 0; n < text.length; n += 1) header.setUint8(at + n, text.charCodeAt(n));
  };
  write(0, "RIFF");
  header.setUint32(4, 36 + bytes, true);
  write(8, "WAVEfmt ");
  header.setUint32(16, 16, true);
  header.setUint16(20, 1, true);
  header.setUint16(22, 1, true);
  header.setUint32(24, 16_000, true);
  header.setUint32(28, BYTES_PER_SECOND, true);
  header.setUint16(32, 2, true);
  header.setUint16(34, 16, true);
  write(36, "data");
  header.setUint32(40, bytes, true);
  return header.buffer;
}
