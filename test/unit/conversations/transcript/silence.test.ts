import { describe, expect, it } from "vitest";
import { silenceSpans } from "../../../../src/conversations/transcript/redaction.ts";
import { makeWav, type WavOptions } from "../../../support/make-wav.ts";

const HEADER = 44;

function loud(options: WavOptions): Buffer {
  const wav = makeWav(options);
  wav.fill(0x55, HEADER);
  return wav;
}

describe("silence", () => {
  it.each([
    [{ bits: 16 }, 0],
    [{ bits: 8 }, 0x80],
    [{ bits: 24, channels: 2 }, 0],
    [{ bits: 32, float: true, sampleRate: 8_000 }, 0],
  ] as const)("silence: takes out the span and nothing else: %j", (format, quiet) => {
    const options = { frames: 16_000, ...format };
    const frameBytes = (options.bits / 8) * ("channels" in format ? format.channels : 1);
    const rate = "sampleRate" in format ? format.sampleRate : 16_000;
    const wav = loud(options);
    const after = silenceSpans(wav, "audio/wav", [{ from: 0.25, to: 0.5 }]);
    const first = HEADER + 0.25 * rate * frameBytes;
    const last = HEADER + 0.5 * rate * frameBytes;
    expect(after).toHaveLength(wav.length);
    const expected = Buffer.from(wav);
    expected.fill(quiet, first, last);
    expect(Buffer.compare(Buffer.from(after ?? []), expected)).toBe(0);
  });

  it("silence: spans are cut to the audio, raw PCM needs its media type", () => {
    const pcm = Buffer.alloc(32_000, 1);
    const type = "audio/pcm;rate=16000;channels=1;encoding=s16le";
    const all = silenceSpans(pcm, type, [{ from: -5, to: 500 }]);
    expect(Buffer.from(all ?? []).every((byte) => byte === 0)).toBe(true);
    expect(silenceSpans(pcm, "audio/wav", [{ from: 0, to: 1 }])).toBeUndefined();
    expect(silenceSpans(pcm, type, [{ from: 2, to: 1 }])).toEqual(Uint8Array.from(pcm));
  });
});
