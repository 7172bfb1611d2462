import { describe, expect, it } from "vitest";
import { readMono, toChannels } from "../../../../src/base/audio/pcm-samples.ts";

const FORMAT = {
  sampleRate: 16_000,
  channels: 2,
  encoding: "s16le",
  bitsPerSample: 16,
} as const;

/** A tone of some length, as it changes over time. */
function tone(frames: number): Int16Array {
  return Int16Array.from({ length: frames }, (_, n) =>
    Math.round(9_000 * Math.sin(n / 7) * Math.cos(n / 900)),
  );
}

function interleaved(...channels: readonly Int16Array[]): Int16Array {
  const [first = new Int16Array()] = channels;
  const samples = new Int16Array(first.length * channels.length);
  for (const [channel, own] of channels.entries()) {
    for (const [frame, sample] of own.entries())
      samples[frame * channels.length + channel] = sample;
  }
  return samples;
}

function bytesOf(samples: Int16Array): Uint8Array {
  return new Uint8Array(samples.buffer);
}

describe("mixing channels into one", () => {
  const speech = tone(20_000);
  const silence = new Int16Array(speech.length);
  const upsideDown = speech.map((sample) => -sample);

  it("is their mean", () => {
    const [left, right] = [Int16Array.of(100, 200), Int16Array.of(300, -50)];
    expect([...toChannels(interleaved(left, right), 2, 1)]).toEqual([200, 75]);
    expect(toChannels(interleaved(speech, silence), 2, 1)).toEqual(
      speech.map((sample) => Math.round(sample / 2)),
    );
  });

  it("keeps what one side says upside down", () => {
    expect(toChannels(interleaved(speech, upsideDown), 2, 1)).toEqual(speech);
    expect(readMono(FORMAT, bytesOf(interleaved(upsideDown, speech)))).toEqual(upsideDown);
    const quieter = speech.map((sample) => Math.round(-0.8 * sample));
    expect(toChannels(interleaved(quieter, speech), 2, 1)).toEqual(speech);
  });

  it("keeps it also where both sides have an offset, which the mean keeps", () => {
    const raised = (side: Int16Array) => side.map((sample) => sample + 3_000);
    const both = interleaved(raised(speech), raised(upsideDown));
    expect(toChannels(both, 2, 1)).toEqual(raised(speech));
    const still = raised(silence);
    expect(toChannels(interleaved(still, still), 2, 1)).toEqual(still);
  });

  it("keeps it when one side is turned over in the middle", () => {
    const turned = speech.map((sample, n) => (n < 8_192 ? sample : -sample));
    expect(toChannels(interleaved(speech, turned), 2, 1)).toEqual(speech);
  });

  it("keeps one voice of many channels, and two that have nothing in common", () => {
    const many = interleaved(speech, ...Array.from({ length: 7 }, () => silence));
    expect(toChannels(many, 8, 1)).toEqual(speech.map((sample) => Math.round(sample / 8)));
    const other = Int16Array.from({ length: speech.length }, (_, n) => 5_000 * Math.sin(n / 3));
    const mixed = toChannels(interleaved(speech, other), 2, 1);
    expect(mixed).toEqual(speech.map((sample, n) => Math.round((sample + (other[n] ?? 0)) / 2)));
  });

  it("of nothing is nothing", () => {
    expect(toChannels(new Int16Array(), 2, 1)).toHaveLength(0);
    expect(readMono(FORMAT, new Uint8Array(3))).toHaveLength(0);
  });
});
