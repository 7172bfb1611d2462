import { OpusDecoder } from "opus-decoder";
import {
  isOpusPacket,
  opusPacketSamples,
  splitOpusPackets,
} from "../../base/audio/opus-packets.ts";
import { toInt16 } from "../../base/audio/pcm-samples.ts";
import { SESSION_RATE } from "../../base/audio/sample-rate.ts";

/** Packets decoded before others get their turn. */
const AT_ONCE = 50;

/**
 * The samples of length-prefixed Opus packets: 16 kHz, mono. Each packet takes
 * the time that it says it lasts; one that cannot be decoded is silence.
 */
export async function decodeOpus(bytes: Uint8Array): Promise<Int16Array> {
  const packets = splitOpusPackets(bytes);
  const lengths = packets.map((packet) => opusPacketSamples(packet, SESSION_RATE));
  const samples = new Int16Array(lengths.reduce((sum, length) => sum + length, 0));
  const decoder = new OpusDecoder({ sampleRate: SESSION_RATE, channels: 1 });
  await decoder.ready;
  try {
    let at = 0;
    for (const [index, packet] of packets.entries()) {
      const length = lengths[index] ?? 0;
      const [decoded] = isOpusPacket(packet) ? decoder.decodeFrame(packet).channelData : [];
      decoded?.subarray(0, length).forEach((value, n) => {
        samples[at + n] = toInt16(value * 32_768);
      });
      at += length;
      if (index % AT_ONCE === AT_ONCE - 1) await new Promise((resolve) => setImmediate(resolve));
    }
  } finally {
    decoder.free();
  }
  return samples;
}
