import OpusScript from "opusscript";
import { beforeAll, describe, expect, it } from "vitest";
import {
  joinOpusPackets,
  OPUS_MEDIA_TYPE,
  splitOpusPackets,
} from "../../../../src/base/audio/opus-packets.ts";
import { loadDecoders } from "../../../../src/base/codecs/sound-reader.ts";
import { ChunkSamples } from "../../../../src/conversations/recording/chunk-samples.ts";
import { silenceSpans } from "../../../../src/conversations/transcript/redaction.ts";

const RATE = 16_000;

/** Two seconds of a loud tone as packets of `ms`. */
function tone(ms: number): Uint8Array {
  const encoder = new OpusScript(RATE, 1, OpusScript.Application.AUDIO);
  const size = (RATE * ms) / 1_000;
  const packets: Uint8Array[] = [];
  for (let at = 0; at < 2 * RATE; at += size) {
    const pcm = Buffer.alloc(size * 2);
    for (let n = 0; n < size; n += 1) {
      pcm.writeInt16LE(Math.round(20_000 * Math.sin(((at + n) * 2 * Math.PI * 440) / RATE)), n * 2);
    }
    packets.push(Uint8Array.from(encoder.encode(pcm, size)));
  }
  encoder.delete();
  return joinOpusPackets(packets);
}

/** The two seconds as playback has them. */
function decodeOpus(bytes: Uint8Array): Int16Array {
  const file = {
    sequence: 0,
    start: 0,
    length: 2 * RATE,
    sampleRate: RATE,
    mediaType: OPUS_MEDIA_TYPE,
    sha256: "",
    bytes: bytes.byteLength,
  };
  const part = (from: number, length: number) => Buffer.from(bytes.subarray(from, from + length));
  return new ChunkSamples(file, part).frames(0, 2 * RATE);
}

beforeAll(() => loadDecoders());

const loudest = (samples: Int16Array) =>
  samples.reduce((most, s) => Math.max(most, Math.abs(s)), 0);

describe("silence: opus packets", () => {
  for (const ms of [10, 20, 60]) {
    it(`a span is silent, the rest is heard, the length stays (${ms} ms)`, () => {
      const bytes = tone(ms);
      const quiet = silenceSpans(bytes, OPUS_MEDIA_TYPE, [{ from: 0.6, to: 1.2 }]);
      if (quiet === undefined) throw new Error("not read");
      const before = decodeOpus(bytes);
      const after = decodeOpus(quiet);
      expect(after.length).toBe(before.length);
      // A decoder fades over some milliseconds from what came before.
      expect(loudest(after.subarray(0.62 * RATE, 1.2 * RATE))).toBeLessThan(200);
      expect(loudest(after.subarray(0, 0.5 * RATE))).toBeGreaterThan(10_000);
      expect(loudest(after.subarray(1.4 * RATE))).toBeGreaterThan(10_000);
      expect(splitOpusPackets(quiet).length).toBeGreaterThan(0);
    });
  }

  it("a file without such packets stays as it is", () => {
    expect(silenceSpans(tone(20), OPUS_MEDIA_TYPE, [{ from: 5, to: 6 }])).toEqual(tone(20));
  });
});
