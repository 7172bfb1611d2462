import { bytesPerFrame, type PcmFormat, type SampleEncoding } from "./wav.ts";

type SampleReader = (view: DataView, at: number) => number;

const MULAW_BIAS = 0x84;

/** Read one sample each, scaled to 16 bits. */
const READERS: Readonly<Record<SampleEncoding, SampleReader>> = {
  u8: (view, at) => (view.getUint8(at) - 128) * 256,
  s16le: (view, at) => view.getInt16(at, true),
  s24le: (view, at) => (view.getUint16(at, true) + view.getInt8(at + 2) * 65_536) / 256,
  s32le: (view, at) => view.getInt32(at, true) / 65_536,
  f32le: (view, at) => view.getFloat32(at, true) * 32_768,
  mulaw: (view, at) => fromMulaw(view.getUint8(at)),
};

/** Decodes one byte of µ-law (ITU-T G.711): sign, exponent and mantissa, all inverted. */
function fromMulaw(byte: number): number {
  const bits = ~byte & 0xff;
  const magnitude = ((((bits & 0x0f) << 3) + MULAW_BIAS) << ((bits >> 4) & 7)) - MULAW_BIAS;
  return (bits & 0x80) === 0 ? magnitude : -magnitude;
}

/** A sample on the 16-bit scale; NaN in a broken float file becomes silence. */
export function toInt16(value: number): number {
  return Math.max(-32_768, Math.min(32_767, Math.round(value) || 0));
}

/** The whole frames of `bytes` as 16-bit mono; channels are averaged. */
export function readMono(format: PcmFormat, bytes: Uint8Array): Int16Array {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const read = READERS[format.encoding];
  const frameBytes = bytesPerFrame(format);
  const width = format.bitsPerSample / 8;
  const mono = new Int16Array(Math.floor(bytes.byteLength / frameBytes));
  for (let index = 0; index < mono.length; index++) {
    const at = index * frameBytes;
    const first = read(view, at);
    mono[index] = toInt16(format.channels === 2 ? (first + read(view, at + width)) / 2 : first);
  }
  return mono;
}
