import { beforeAll, describe, expect, it } from "vitest";
import { channelOf } from "../../../../src/base/audio/pcm-samples.ts";
import { openSoundFile, type SoundFile } from "../../../../src/base/codecs/sound-file.ts";
import { soundKind } from "../../../../src/base/codecs/sound-kinds.ts";
import { loadDecoders, SoundReader } from "../../../../src/base/codecs/sound-reader.ts";
import {
  decodedSound,
  envelope,
  likeness,
  opened,
  SOUND_FILES,
  SOUND_NAMES,
  soundBytes,
} from "../../../support/sound-files.ts";

const SECONDS = 1.4;

beforeAll(() => loadDecoders());

describe("sound files", () => {
  for (const name of SOUND_NAMES) {
    const { mediaType, sampleRate, channels } = SOUND_FILES[name];

    it(`sound files: ${name} is measured without decoding, and decodes to that length`, () => {
      const file = opened(soundBytes(name));
      expect(file).toMatchObject({ mediaType, sampleRate, channels });
      expect(Math.abs(file.frames / sampleRate - SECONDS)).toBeLessThan(0.02);
      expect(decodedSound(soundBytes(name)).length).toBe(file.frames * channels);
    });

    it(`sound files: ${name} says the same as the lossless one, at the same time`, () => {
      const lossless = envelope(decodedSound(soundBytes("mono-16000.flac")), 16_000);
      const heard = envelope(decodedSound(soundBytes(name)), sampleRate, channels);
      expect(likeness(lossless, heard)).toBeGreaterThan(0.97);
      for (const shift of [2, -2]) {
        const [one, other] = shift > 0 ? [lossless, heard.slice(2)] : [lossless.slice(2), heard];
        expect(likeness(one, other)).toBeLessThan(0.95);
      }
    });

    it(`sound files: a truncated ${name} is as long as what is there`, () => {
      const whole = soundBytes(name);
      const file = opened(whole.subarray(0, whole.length / 2));
      expect(file.frames / sampleRate).toBeGreaterThan(0.2);
      expect(file.frames / sampleRate).toBeLessThan(1.1);
      const samples = decodedSound(whole.subarray(0, whole.length / 2));
      expect(samples.length).toBe(file.frames * channels);
    });
  }

  it("sound files: an Ogg file that is cut within a page has all packets before the cut", () => {
    const whole = soundBytes("mono.opus");
    const told = packetsOf(opened(whole));
    const sound = Buffer.from(told[0] ?? []);
    for (let cut = whole.indexOf(sound) + sound.length; cut < whole.length; cut += 37) {
      const packets = packetsOf(opened(whole.subarray(0, cut)));
      expect(packets).toEqual(told.slice(0, packets.length));
      // The next packet ends behind the cut.
      const next = told[packets.length] ?? Buffer.alloc(0);
      const at = whole.indexOf(next, cut - next.length + 1);
      expect(at === -1 || at + next.length > cut).toBe(true);
      expect(packets.length).toBeGreaterThan(0);
    }
  });

  it("sound files: two parts of an Ogg stream have each packet once, wherever it is cut", () => {
    const whole = soundBytes("mono.opus");
    const told = packetsOf(opened(whole));
    for (let cut = 300; cut < whole.length; cut += 23) {
      const { part, ...first } = opened(whole.subarray(0, cut));
      const lead = Buffer.concat([part?.head ?? Buffer.alloc(0), part?.carry ?? Buffer.alloc(0)]);
      const second = opened(Buffer.concat([lead, whole.subarray(cut)]), true);
      expect([...packetsOf(first as SoundFile), ...packetsOf(second)]).toEqual(told);
    }
  });

  it("sound files: Ogg Vorbis that is cut within a page is as long as its packets before the cut", () => {
    // Its page from 8,857 to 9,421 begins at sample 50,752 and holds five packets of 1,024 samples.
    const cut = soundBytes("mono-44100.ogg").subarray(0, 9_400);
    expect(Math.abs(opened(cut).frames - (50_752 + 4 * 1_024))).toBeLessThan(0.03 * 44_100);
  });

  it("sound files: two thousand decoders of each kind, one after another, leave no memory behind", () => {
    for (const name of ["mono.opus", "left.webm", "mono-44100.mp3", "mono-16000.flac"] as const) {
      const bytes = soundBytes(name);
      const file = opened(bytes);
      const truth = new SoundReader(file, bytes);
      const said = truth.read(4_800);
      truth.close();
      for (let each = 0; each < 2_000; each += 1) {
        const reader = new SoundReader(file, bytes);
        if (each % 500 === 499) expect(reader.read(4_800)).toEqual(said);
        reader.close();
      }
    }
  });

  it("sound files: MP3 without a header frame begins where the encoder's sound does", () => {
    const { whole, bare } = mp3Frames();
    const samples = decodedSound(bare);
    expect(samples.length).toBe(mp3Length(bare) - MP3_DELAY);
    const truth = decodedSound(whole);
    expect(samples.subarray(0, truth.length)).toEqual(truth);
  });

  it("sound files: a header frame of MP3 that tells no delay means the usual one", () => {
    const { whole, bare } = mp3Frames();
    const tag = whole.indexOf("Lavc", 0, "latin1");
    const unknown = Buffer.from(whole);
    unknown.fill(0, tag, tag + 4);
    const zero = Buffer.from(whole);
    zero.fill(0, tag + 21, tag + 24);
    for (const bytes of [unknown, zero]) expect(decodedSound(bytes)).toEqual(decodedSound(bare));
  });

  it("sound files: parts of an MP3 stream together are as long as the stream", () => {
    const { bare, places } = mp3Frames();
    const whole = opened(bare).frames;
    for (let cut = 4; cut < places.length - 4; cut += 2) {
      const parts = [bare.subarray(0, places[cut]), bare.subarray(places[cut])];
      const frames = parts.map((part) => opened(part).frames);
      expect(frames.reduce((sum, each) => sum + each)).toBe(whole);
      expect(parts.map((part) => decodedSound(part).length)).toEqual(frames);
    }
  });

  it("sound files: of MP3 frames that all stand alone none tells whether the stream begins", () => {
    const { bare, places } = mp3Frames();
    const frame = bare.subarray(0, places[2]);
    const alone = Buffer.concat([frame, frame, frame]);
    expect(opened(alone).frames).toBe(mp3Length(alone));
  });

  it("sound files: channels stay apart", () => {
    for (const name of ["left-16000.mp3", "left.webm"] as const) {
      const samples = decodedSound(soundBytes(name));
      const [left, right] = [0, 1].map((channel) => channelOf(samples, channel, 2));
      const loudest = (all?: Int16Array) => Math.max(...(all ?? []).map(Math.abs));
      expect(loudest(left)).toBeGreaterThan(5_000);
      expect(loudest(right)).toBeLessThan(300);
    }
  });

  it("sound files: FLAC of 24 bits keeps the upper 16 of each sample", () => {
    const samples = decodedSound(soundBytes("ramp-24bit-48000.flac"));
    const value = (frame: number, channel: number) => (frame * 7_919 * (channel + 3)) % 2 ** 24;
    const said = Array.from({ length: 1_200 }, (_, at) => value(at >> 1, at & 1) - 2 ** 23);
    expect([...samples]).toEqual(said.map((each) => each >> 8));
  });

  it("sound files: FLAC of other widths is refused with those that are read", () => {
    expect(openSoundFile(soundBytes("ramp-8bit-8000.flac"))).toEqual({
      code: "unsupported_media_type",
      error: "FLAC of 8 bits is not supported: 16 and 24 bits are.",
    });
  });

  it("sound files: a FLAC frame that claims another width leaves those before it as they are", () => {
    const whole = soundBytes("mono-16000.flac");
    const changed = Buffer.from(whole);
    const second = secondFrame(changed);
    changed[second + 3] = ((changed[second + 3] ?? 0) & 0xf1) | 2;
    const end = second + 5;
    changed[end] = crc8(changed.subarray(second, end));
    const samples = decodedSound(changed);
    const truth = decodedSound(whole);
    expect(samples.length).toBe(truth.length);
    expect(samples.subarray(0, 4_096)).toEqual(truth.subarray(0, 4_096));
  });

  it("sound files: FLAC that lies about all its widths is broken, and harms no other file", () => {
    const bytes = soundBytes("ramp-8bit-8000.flac");
    const truth = decodedSound(soundBytes("mono-16000.flac"));
    // STREAMINFO says 16 bits.
    bytes[21] = ((bytes[21] ?? 0) & 0x0f) | 0xf0;
    bytes[20] = (bytes[20] ?? 0) & 0xfe;
    const reader = new SoundReader(opened(bytes), bytes);
    expect(reader.read(48_000).some((sample) => sample !== 0)).toBe(false);
    reader.close();
    expect(decodedSound(soundBytes("mono-16000.flac"))).toEqual(truth);
  });

  it("sound files: FLAC behind a tag of MP3 files is FLAC", () => {
    const tag = Buffer.concat([Buffer.from("ID3\x03\0\0\0\0\0\x40", "latin1"), Buffer.alloc(64)]);
    const whole = soundBytes("mono-16000.flac");
    const tagged = Buffer.concat([tag, whole]);
    expect(opened(tagged).mediaType).toBe("audio/flac");
    expect(decodedSound(tagged)).toEqual(decodedSound(whole));
  });

  it("sound files: other kinds are named", () => {
    const kinds: [Buffer, unknown][] = [
      [Buffer.from("\0\0\0\x20ftypM4A "), { refused: "MP4/M4A (AAC)" }],
      [Buffer.from([0xff, 0xf1, 0x50, 0x80]), { refused: "AAC" }],
      [Buffer.from("#!AMR\n"), { refused: "AMR" }],
      [Buffer.from("RIFX\0\0\0\0WAVEfmt "), { refused: "WAV of big-endian samples (RIFX)" }],
      [Buffer.from([0x0b, 0x77, 1, 2]), { refused: "AC-3" }],
      [Buffer.from("hello, world"), undefined],
    ];
    for (const [bytes, kind] of kinds) expect(soundKind(bytes)).toEqual(kind);
  });

  it("sound files: two thousand mutated files are measured or refused, and decode to their length", () => {
    let seed = 7;
    const random = (below: number) => {
      seed = (Math.imul(seed, 1_103_515_245) + 12_345) >>> 0;
      return Math.floor((seed / 2 ** 32) * below);
    };
    const outcomes = { read: 0, refused: 0 };
    for (let round = 0; round < 2_000; round += 1) {
      const bytes = Buffer.from(soundBytes(SOUND_NAMES[round % SOUND_NAMES.length] ?? "mono.opus"));
      for (let each = random(12); each >= 0; each -= 1) bytes[random(bytes.length)] = random(256);
      const cut = random(3) === 0 ? bytes.subarray(random(bytes.length)) : bytes;
      const file = openSoundFile(random(4) === 0 ? cut.subarray(0, random(cut.length)) : cut);
      if ("error" in file || file.frames > 50 * file.sampleRate) {
        outcomes.refused += 1;
        continue;
      }
      if (round % 10 !== 0) continue;
      outcomes.read += 1;
      expect(readLength(file, cut)).toBe(file.frames);
    }
    expect(outcomes.read).toBeGreaterThan(50);
    expect(outcomes.refused).toBeGreaterThan(50);
  });
});

/** What LAME and a decoder hold back together, samples. */
const MP3_DELAY = 576 + 529;

/** A file of LAME with its header frame, the same without its header frame, and where the frames of that lie. */
function mp3Frames() {
  const whole = soundBytes("mono-44100.mp3");
  const { places } = mpegOf(opened(whole));
  const begin = places[0] ?? 0;
  const end = (places.at(-2) ?? 0) + (places.at(-1) ?? 0);
  const moved = places.map((each, at) => (at % 2 === 0 ? each - begin : each));
  return { whole, bare: whole.subarray(begin, end), places: moved };
}

/** Samples of all frames. */
function mp3Length(bytes: Uint8Array): number {
  const { places, perFrame } = mpegOf(opened(bytes));
  return (places.length / 2) * perFrame;
}

function mpegOf(file: SoundFile) {
  if (file.codec !== "mp3") throw new Error("no MP3 file");
  return file.audio;
}

function packetsOf(file: SoundFile): Buffer[] {
  if (file.codec !== "opus" && file.codec !== "vorbis") throw new Error("no Ogg file");
  return file.audio.packets.map((packet) => Buffer.from(packet));
}

/** Frames that a reader gives; its refusal of damaged headers counts as all of them. */
function readLength(
  file: Extract<ReturnType<typeof openSoundFile>, { codec: string }>,
  bytes: Uint8Array,
): number {
  let frames = 0;
  try {
    const reader = new SoundReader(file, bytes);
    for (let part = reader.read(48_000); part.length > 0; part = reader.read(48_000)) {
      frames += part.length / file.channels;
    }
    reader.close();
  } catch (error) {
    expect(error).toBeInstanceOf(RangeError);
    return file.frames;
  }
  return frames;
}

/** Where the second frame of a FLAC file begins, by its number. */
function secondFrame(bytes: Buffer): number {
  for (let at = bytes.indexOf(0xff); at >= 0; at = bytes.indexOf(0xff, at + 1)) {
    const isHead = bytes[at + 1] === 0xf8 && bytes[at + 4] === 1;
    if (isHead && crc8(bytes.subarray(at, at + 5)) === bytes[at + 5]) return at;
  }
  throw new Error("the file has one frame");
}

/** CRC of a FLAC frame's header (RFC 9639). */
function crc8(bytes: Uint8Array): number {
  return bytes.reduce((crc, byte) => {
    let rest = crc ^ byte;
    for (let bit = 0; bit < 8; bit += 1) rest = (rest << 1) ^ (rest & 0x80 ? 0x107 : 0);
    return rest & 0xff;
  }, 0);
}
