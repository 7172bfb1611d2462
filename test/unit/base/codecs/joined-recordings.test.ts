import { describe, expect, it } from "vitest";
import { bytesInMemory, readAhead } from "../../../../src/base/codecs/file-bytes.ts";
import { MOST_RECORDINGS, recordingStarts } from "../../../../src/base/codecs/joined-recordings.ts";
import { makeWav } from "../../../support/make-wav.ts";
import { opened, soundBytes } from "../../../support/sound-files.ts";

/** Files one after the other, and where each but the first begins. */
function joined(...files: readonly Uint8Array[]): { bytes: Buffer; starts: number[] } {
  const starts: number[] = [];
  for (const file of files.slice(0, -1)) starts.push((starts.at(-1) ?? 0) + file.length);
  return { bytes: Buffer.concat(files), starts };
}

/** As many bytes of a file as are looked through at a time here; the files are a few times as long. */
const WINDOW = 16_384;

/** Where recordings begin, looked for in all bytes at once and part by part. */
function startsIn(bytes: Uint8Array): number[] {
  const file = bytesInMemory(bytes);
  const starts = recordingStarts(file);
  expect(recordingStarts(readAhead(file, 1_000), WINDOW)).toEqual(starts);
  return starts;
}

/** A text behind the samples, as recorders write it. */
function withText(wav: Buffer): Buffer {
  const text = Buffer.from("LIST\x05\0\0\0INFO?\0", "latin1");
  return Buffer.concat([wav, text]);
}

const WEBM = soundBytes("left.webm");
/** As recorders write it that do not know how much will follow: the segment's size is unknown. */
const LIVE_WEBM = Buffer.from(WEBM);
LIVE_WEBM.fill(
  0xff,
  LIVE_WEBM.indexOf("18538067", "hex") + 5,
  LIVE_WEBM.indexOf("114d9b74", "hex"),
);

/** The channels that its index names; the sound stays what it is. */
function withChannels(webm: Buffer, channels: number): Buffer {
  const changed = Buffer.from(webm);
  changed[changed.indexOf("OpusHead", 0, "latin1") + 9] = channels;
  return changed;
}

function withTrack(webm: Buffer, number: number): Buffer {
  const changed = Buffer.from(webm);
  changed[changed.indexOf("d78101", 0, "hex") + 2] = number;
  for (let at = 0; at < changed.length; at += 1) {
    if (changed[at] !== 0xa3 && changed[at] !== 0xa1) continue;
    // Blocks: the track's number, two bytes of time, and no flag but that of a key frame.
    const from = at + ((changed[at + 1] ?? 0) >= 0x80 ? 2 : 3);
    const isBlock = changed[from] === 0x81 && ((changed[from + 3] ?? 1) & 0x7f) === 0;
    if (isBlock) changed[from] = 0x80 + number;
  }
  return changed;
}

describe("recordings one after the other in one file", () => {
  const wav = makeWav({ frames: 8_000, seed: 1 });
  const other = makeWav({ frames: 4_001, seed: 2 });

  it.each<Parameters<typeof soundBytes>[0]>([
    "mono-16000.flac",
    "mono-44100.mp3",
    "left-16000.mp3",
    "mono.opus",
    "mono-44100.ogg",
    "left.webm",
    "mono.m4a",
    "front.mp4",
    "mono.mka",
  ])("%s alone is one", (name) => {
    expect(startsIn(soundBytes(name))).toEqual([]);
  });

  it("a WAV file alone is one, whatever stands behind its samples", () => {
    expect(startsIn(wav)).toEqual([]);
    expect(startsIn(withText(wav))).toEqual([]);
    expect(startsIn(Buffer.concat([wav, Buffer.alloc(5_000, 1)]))).toEqual([]);
    expect(startsIn(wav.subarray(0, 4_000))).toEqual([]);
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
    ["M4A", [soundBytes("mono.m4a"), soundBytes("mono.m4a"), soundBytes("front.mp4")]],
    ["MP4 with the index in front", [soundBytes("front.mp4"), soundBytes("mono.m4a")]],
    ["Matroska with FLAC", [soundBytes("mono.mka"), soundBytes("mono.mka")]],
    ["a live WebM and Matroska", [LIVE_WEBM, soundBytes("mono.mka")]],
    ["M4A, WebM, WAV and M4A", [soundBytes("mono.m4a"), WEBM, wav, soundBytes("mono.m4a")]],
  ])("%s: each beginning is found", (_name, files) => {
    const { bytes, starts } = joined(...files);
    expect(startsIn(bytes)).toEqual(starts);
  });

  it("MP3 in whose middle another rate stands: no part is passed over", () => {
    const [one, two] = [soundBytes("mono-44100.mp3"), soundBytes("left-16000.mp3")];
    const { bytes, starts } = joined(one, two, one);
    expect(startsIn(bytes)).toEqual(starts);
  });

  it.each([
    ["of known size", WEBM, WEBM],
    ["of unknown size", LIVE_WEBM, LIVE_WEBM],
    ["with another number for its track", WEBM, withTrack(WEBM, 2)],
  ])("WebM with Opus %s is read on by one reader", (_name, first, second) => {
    const bytes = Buffer.concat([first, second]);
    expect(startsIn(bytes)).toEqual([]);
    // The beginning of a recording, which is not heard, is left out once.
    const alone = opened(WEBM).frames;
    expect(opened(bytes).frames - 2 * alone).toBeGreaterThanOrEqual(0);
    expect(opened(bytes).frames - 2 * alone).toBeLessThan(160);
  });

  it("WebM of other channels begins anew, however many went before", () => {
    const { bytes, starts } = joined(WEBM, WEBM, withChannels(WEBM, 1), WEBM);
    expect(startsIn(bytes)).toEqual(starts.slice(1));
  });

  it("marks that occur in the sound are no beginnings, and cost little", () => {
    const noise = Buffer.alloc(2_000_000, "1a45dfa3", "hex");
    for (const end of ["", "1a45dfa39f428681014282847765626d", "1a45dfa3854282847765626d"]) {
      const bytes = Buffer.concat([LIVE_WEBM, noise, Buffer.from(end, "hex")]);
      expect(startsIn(bytes)).toEqual([]);
    }
    expect(startsIn(Buffer.concat([soundBytes("mono.m4a"), Buffer.alloc(8), noise]))).toEqual([]);
    const inside = Buffer.from(soundBytes("mono.m4a"));
    soundBytes("front.mp4").copy(inside, 1_000, 0, 3_000);
    expect(startsIn(inside)).toEqual([]);
  });

  it("what one reader reads whole is one: chained Opus, MP3 of one rate", () => {
    const { bytes: opus } = joined(soundBytes("mono.opus"), soundBytes("mono.opus"));
    expect(startsIn(opus)).toEqual([]);
    const { bytes: mp3 } = joined(soundBytes("mono-44100.mp3"), soundBytes("mono-44100.mp3"));
    expect(startsIn(mp3)).toEqual([]);
  });

  it("is bounded: of very many only the first are told apart", () => {
    const { bytes, starts } = joined(...Array.from({ length: 50 }, () => other));
    expect(startsIn(bytes)).toEqual(starts.slice(0, MOST_RECORDINGS));
  });
});
