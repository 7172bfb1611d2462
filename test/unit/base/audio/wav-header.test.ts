import { describe, expect, it } from "vitest";
import { markedContainer } from "../../../../src/base/audio/container-marks.ts";
import { isSupportedRate, toSessionSamples } from "../../../../src/base/audio/sample-rate.ts";
import {
  isAudioFormatError,
  parsePcmMediaType,
  parseWavHeader,
} from "../../../../src/base/audio/wav.ts";
import { soundKind } from "../../../../src/base/codecs/sound-kinds.ts";
import { makeWav } from "../../../support/make-wav.ts";

function refusal(bytes: Uint8Array): string {
  const result = parseWavHeader(bytes);
  return isAudioFormatError(result) ? result.code : "accepted";
}

function extensible(subFormat: number): Buffer {
  const plain = makeWav({ frames: 10 });
  const format = Buffer.alloc(48);
  format.write("fmt ", 0, "latin1");
  format.writeUInt32LE(40, 4);
  plain.copy(format, 8, 20, 36);
  format.writeUInt16LE(0xfffe, 8);
  format.writeUInt16LE(subFormat, 32);
  return Buffer.concat([plain.subarray(0, 12), format, plain.subarray(36)]);
}

describe("wav header", () => {
  it.each([
    [{ bits: 8 }, "u8"],
    [{ bits: 16 }, "s16le"],
    [{ bits: 24, channels: 2, sampleRate: 48_000 }, "s24le"],
    [{ bits: 32, sampleRate: 8_000 }, "s32le"],
    [{ bits: 32, float: true, sampleRate: 44_100 }, "f32le"],
  ] as const)("wav header: reads %o", (options, encoding) => {
    const file = makeWav({ frames: 100, ...options });
    const {
      channels = 1,
      sampleRate = 16_000,
      bits,
    } = { channels: 1, ...options } as {
      channels?: number;
      sampleRate?: number;
      bits: number;
    };
    expect(parseWavHeader(file)).toEqual({
      encoding,
      channels,
      sampleRate,
      bitsPerSample: bits,
      dataOffset: 44,
      dataLength: (100 * channels * bits) / 8,
      frames: 100,
    });
  });

  it("wav header: one field that is wrong about the size of a frame does no harm, two say another format", () => {
    const file = makeWav({ frames: 50 });
    file.writeUInt16LE(4, 32);
    expect(parseWavHeader(file)).toMatchObject({ encoding: "s16le", frames: 50 });
    file.writeUInt16LE(0, 32);
    expect(parseWavHeader(file)).toMatchObject({ encoding: "s16le", frames: 50 });
    file.writeUInt32LE(0, 28);
    expect(parseWavHeader(file)).toMatchObject({ encoding: "s16le", frames: 50 });
    file.writeUInt16LE(4, 32);
    file.writeUInt32LE(4 * 16_000, 28);
    expect(refusal(file)).toBe("unsupported_media_type");
  });

  it.each([0, 0xffffffff, 1_000_000])(
    "wav header: a claimed length of %d is not believed",
    (claimed) => {
      expect(parseWavHeader(makeWav({ frames: 50, claimedLength: claimed }))).toMatchObject({
        frames: 50,
        dataLength: 100,
      });
    },
  );

  it("wav header: drops the half frame of a file that was cut off", () => {
    expect(parseWavHeader(makeWav({ frames: 50 }).subarray(0, 44 + 33))).toMatchObject({
      frames: 16,
      dataLength: 32,
    });
  });

  it("wav header: a beginning is enough when the length is told", () => {
    expect(parseWavHeader(makeWav({ frames: 50 }).subarray(0, 44), 144)).toMatchObject({
      frames: 50,
    });
  });

  it("wav header: walks over other chunks, padded ones too", () => {
    const file = makeWav({ frames: 5 });
    const list = Buffer.from([0x4c, 0x49, 0x53, 0x54, 3, 0, 0, 0, 1, 2, 3, 0]);
    const mixed = Buffer.concat([file.subarray(0, 12), list, file.subarray(12)]);
    expect(parseWavHeader(mixed)).toMatchObject({ frames: 5, dataOffset: 56 });
  });

  it.each(["RF64", "BW64"])(
    "wav header: reads %s, whose sizes stand in a chunk of their own",
    (form) => {
      const file = makeWav({ frames: 5, claimedLength: 0xffffffff });
      file.write(form, 0, "latin1");
      const text = Buffer.from("LIST\x04\0\0\0text", "latin1");
      expect(parseWavHeader(file)).toMatchObject({ frames: 5, dataOffset: 44 });
      const sizes = Buffer.alloc(8 + 28);
      sizes.write("ds64", 0, "latin1");
      sizes.writeUInt32LE(28, 4);
      sizes.writeBigUInt64LE(10n, 16);
      const large = Buffer.concat([file.subarray(0, 12), sizes, file.subarray(12), text]);
      expect(parseWavHeader(large)).toMatchObject({ frames: 5, dataOffset: 80, dataLength: 10 });
      // One that nobody filled in says nothing of the samples.
      sizes.writeBigUInt64LE(0n, 16);
      const unfilled = Buffer.concat([file.subarray(0, 12), sizes, file.subarray(12)]);
      expect(parseWavHeader(unfilled)).toMatchObject({ frames: 5 });
      expect(soundKind(file)).toBe("wav");
      expect(markedContainer(file)).toBe("WAV");
    },
  );

  it("wav header: one of which only the beginning was read does not end there", () => {
    const file = makeWav({ frames: 5 });
    const junk = Buffer.alloc(8 + 300 * 1024);
    junk.write("JUNK", 0, "latin1");
    junk.writeUInt32LE(300 * 1024, 4);
    const long = Buffer.concat([file.subarray(0, 12), junk, file.subarray(12)]);
    expect(parseWavHeader(long)).toMatchObject({ frames: 5 });
    const error = (bytes: Buffer) => parseWavHeader(bytes, long.length);
    expect(error(long.subarray(0, 256 * 1024))).toEqual({
      code: "not_audio",
      error: "The WAV file has a header of more than 256 KiB before its samples.",
    });
    expect(parseWavHeader(long.subarray(0, 256 * 1024))).toMatchObject({
      error: "The WAV file ends before its samples begin.",
    });
  });

  it("wav header: looks into WAVE_FORMAT_EXTENSIBLE", () => {
    expect(parseWavHeader(extensible(1))).toMatchObject({ encoding: "s16le", frames: 10 });
    expect(refusal(extensible(2))).toBe("unsupported_media_type");
  });

  it("wav header: tells what is no audio from what is not supported", () => {
    expect(refusal(Buffer.alloc(0))).toBe("not_audio");
    expect(refusal(Buffer.from("a text file that was named .wav, long enough to hold one"))).toBe(
      "not_audio",
    );
    expect(refusal(makeWav({ frames: 50 }).subarray(0, 30))).toBe("not_audio");
    expect(refusal(makeWav({ frames: 0 }))).toBe("not_audio");
    expect(refusal(makeWav({ frames: 9, channels: 9 }))).toBe("unsupported_media_type");
    expect(refusal(makeWav({ frames: 9, sampleRate: 192_000 }))).toBe("unsupported_media_type");
  });

  it("wav header: no prefix of a file throws", () => {
    const file = extensible(1);
    for (let length = 0; length <= file.length; length++) refusal(file.subarray(0, length));
    expect(refusal(file)).toBe("accepted");
  });
});

describe("pcm media type", () => {
  it("pcm media type: reads rate, channels and encoding", () => {
    expect(parsePcmMediaType("audio/pcm;rate=16000;channels=1;encoding=s16le")).toEqual({
      encoding: "s16le",
      channels: 1,
      sampleRate: 16_000,
      bitsPerSample: 16,
    });
    expect(parsePcmMediaType('Audio/PCM; Rate="8000"')).toMatchObject({ sampleRate: 8_000 });
  });

  it.each([
    "audio/pcm",
    "audio/pcm;rate=abc",
    "audio/pcm;rate=16000;channels=9",
    "audio/pcm;rate=16000;encoding=adpcm",
    "text/plain",
    "",
  ])("pcm media type: refuses %j", (type) => {
    expect(isAudioFormatError(parsePcmMediaType(type))).toBe(true);
  });
});

describe("sample rate", () => {
  it("sample rate: positions of one run never add up rounding", () => {
    expect(toSessionSamples(44_100 * 3_600, 44_100)).toBe(16_000 * 3_600);
    expect(toSessionSamples(1, 44_100)).toBe(0);
  });

  it("sample rate: takes the usual rates only", () => {
    for (const rate of [
      8_000, 11_025, 12_000, 16_000, 22_050, 24_000, 32_000, 44_100, 48_000, 96_000,
    ]) {
      expect(isSupportedRate(rate)).toBe(true);
    }
    for (const rate of [0, 7_999, 48_001, 96_001, 44_101, 16_000.5, Number.NaN]) {
      expect(isSupportedRate(rate)).toBe(false);
    }
  });
});
