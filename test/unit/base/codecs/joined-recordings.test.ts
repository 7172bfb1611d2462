import { describe, expect, it } from "vitest";
import { MOST_RECORDINGS, recordingStarts } from "../../../../src/base/codecs/joined-recordings.ts";
import { makeWav } from "../../../support/make-wav.ts";
import { type SoundName, soundBytes } from "../../../support/sound-files.ts";

/** Files one after the other, and where each but the first begins. */
function joined(...files: readonly Uint8Array[]): { bytes: Buffer; starts: number[] } {
  const starts: number[] = [];
  for (const file of files.slice(0, -1)) starts.push((starts.at(-1) ?? 0) + file.length);
  return { bytes: Buffer.concat(files), starts };
}

/** A text behind the samples, as recorders write it. */
function withText(wav: Buffer): Buffer {
  const text = Buffer.from("LIST\x05\0\0\0INFO?\0", "latin1");
  return Buffer.concat([wav, text]);
}

describe("recordings one after the other in one file", () => {
  const wav = makeWav({ frames: 8_000, seed: 1 });
  const other = makeWav({ frames: 4_001, seed: 2 });

  it.each<SoundName>([
    "mono-16000.flac",
    "mono-44100.mp3",
    "left-16000.mp3",
    "mono.opus",
    "mono-44100.ogg",
    "left.webm",
  ])("%s alone is one", (name) => {
    expect(recordingStarts(soundBytes(name))).toEqual([]);
  });

  it("a WAV file alone is one, whatever stands behind its samples", () => {
    expect(recordingStarts(wav)).toEqual([]);
    expect(recordingStarts(withText(wav))).toEqual([]);
    expect(recordingStarts(Buffer.concat([wav, Buffer.alloc(5_000, 1)]))).toEqual([]);
    expect(recordingStarts(wav.subarray(0, 4_000))).toEqual([]);
  });

  it.each<[string, readonly Uint8Array[]]>([
    ["WAV", [wav, other]],
    ["WAV with texts", [withText(wav), withText(other), wav]],
    ["MP3 of two rates", [soundBytes("mono-44100.mp3"), soundBytes("left-16000.mp3")]],
    ["FLAC", [soundBytes("mono-16000.flac"), soundBytes("ramp-8bit-8000.flac")]],
    ["Opus and Vorbis", [soundBytes("mono.opus"), soundBytes("mono-44100.ogg")]],
    ["Vorbis twice", [soundBytes("mono-44100.ogg"), soundBytes("mono-44100.ogg")]],
    ["MP3 and FLAC", [soundBytes("left-16000.mp3"), soundBytes("mono-16000.flac")]],
    ["WAV and Opus", [wav, soundBytes("mono.opus")]],
  ])("%s: each beginning is found", (_name, files) => {
    const { bytes, starts } = joined(...files);
    expect(recordingStarts(bytes)).toEqual(starts);
  });

  it("MP3 in whose middle another rate stands: no part is passed over", () => {
    const [one, two] = [soundBytes("mono-44100.mp3"), soundBytes("left-16000.mp3")];
    const { bytes, starts } = joined(one, two, one);
    expect(recordingStarts(bytes)).toEqual(starts);
  });

  it("what one reader reads whole is one: chained Opus, MP3 of one rate", () => {
    const { bytes: opus } = joined(soundBytes("mono.opus"), soundBytes("mono.opus"));
    expect(recordingStarts(opus)).toEqual([]);
    const { bytes: mp3 } = joined(soundBytes("mono-44100.mp3"), soundBytes("mono-44100.mp3"));
    expect(recordingStarts(mp3)).toEqual([]);
  });

  it("is bounded: of very many only the first are told apart", () => {
    const { bytes, starts } = joined(...Array.from({ length: 50 }, () => other));
    expect(recordingStarts(bytes)).toEqual(starts.slice(0, MOST_RECORDINGS));
  });
});
