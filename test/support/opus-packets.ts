import OpusScript from "opusscript";

/** The packets that libopus makes of 16 kHz mono, `frame` samples each; the rest is left out. */
export function encodeOpus(pcm: Int16Array, frame = 320): Buffer[] {
  const encoder = new OpusScript(16_000, 1, OpusScript.Application.VOIP);
  try {
    return Array.from({ length: Math.floor(pcm.length / frame) }, (_, index) => {
      const part = pcm.slice(index * frame, (index + 1) * frame);
      return encoder.encode(Buffer.from(part.buffer), frame);
    });
  } finally {
    encoder.delete();
  }
}
