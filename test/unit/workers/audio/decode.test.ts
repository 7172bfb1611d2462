import { describe, expect, it } from "vitest";
import { AppError } from "../../../../src/base/errors.ts";
import { openChunk } from "../../../../workers/audio/decode.ts";
import { makeWav } from "../../../support/make-wav.ts";

function codeOf(mediaType: string, data: Buffer): string {
  try {
    openChunk(mediaType, data);
    return "accepted";
  } catch (error) {
    return error instanceof AppError ? error.code : "thrown";
  }
}

function pcm(encoding: string, data: Buffer, channels = 1): number[] {
  const type = `audio/pcm;rate=16000;channels=${channels};encoding=${encoding}`;
  return [...openChunk(type, data).read(100)];
}

describe("decode", () => {
  it("decode: every encoding comes out on the 16-bit scale", () => {
    const s16 = Buffer.alloc(4);
    s16.writeInt16LE(-12_345, 0);
    s16.writeInt16LE(321, 2);
    const s24 = Buffer.alloc(3);
    s24.writeIntLE(-12_345 * 256, 0, 3);
    const s32 = Buffer.alloc(4);
    s32.writeInt32LE(-12_345 * 65_536, 0);
    const float = Buffer.alloc(16);
    for (const [index, value] of [0.5, -2, Number.NaN, 1].entries()) {
      float.writeFloatLE(value, 4 * index);
    }
    expect(pcm("u8", Buffer.from([128, 0, 255]))).toEqual([0, -32_768, 32_512]);
    expect(pcm("s16le", s16)).toEqual([-12_345, 321]);
    expect(pcm("s24le", s24)).toEqual([-12_345]);
    expect(pcm("s32le", s32)).toEqual([-12_345]);
    expect(pcm("f32le", float)).toEqual([16_384, -32_768, 0, 32_767]);
  });

  it("decode: µ-law comes out as G.711 has it", () => {
    expect(pcm("mulaw", Buffer.from([0xff, 0x7f, 0x00, 0x80, 0xfe, 0xef, 0x5a]))).toEqual([
      0, 0, -32_124, 32_124, 8, 132, -556,
    ]);
  });

  it("decode: two channels are heard as their mean", () => {
    const stereo = Buffer.alloc(4);
    stereo.writeInt16LE(1_000, 0);
    stereo.writeInt16LE(-500, 2);
    expect(pcm("s16le", stereo, 2)).toEqual([250]);
  });

  it("decode: channels that are read by themselves stay apart", () => {
    const stereo = Buffer.alloc(8);
    for (const [index, value] of [1_000, -500, 7, 8].entries())
      stereo.writeInt16LE(value, 2 * index);
    const type = "audio/pcm;rate=16000;channels=2;encoding=s16le";
    const read = (channels: number) => [...openChunk(type, stereo, undefined, channels).read(100)];
    expect(read(2)).toEqual([1_000, -500, 7, 8]);
    // Channels that it lacks are silent.
    expect(read(3)).toEqual([1_000, -500, 0, 7, 8, 0]);
  });

  it("decode: six channels are heard as their mean", () => {
    const frame = Buffer.alloc(12);
    for (let channel = 0; channel < 6; channel++) frame.writeInt16LE(600 * channel, 2 * channel);
    expect(pcm("s16le", frame, 6)).toEqual([1_500]);
  });

  it("decode: reads piece by piece and then nothing", () => {
    const decoder = openChunk("audio/x-wav", makeWav({ frames: 25, seed: 3 }));
    expect(
      [decoder.read(10), decoder.read(10), decoder.read(10)].map((part) => part.length),
    ).toEqual([10, 10, 5]);
    expect(decoder.read(10)).toHaveLength(0);
  });

  it("decode: a float WAV of which most is no number is no audio", () => {
    const wav = makeWav({ frames: 10, bits: 32, float: true });
    wav.fill(0xff, 44, 44 + 5 * 4);
    expect(codeOf("audio/wav", wav)).toBe("accepted");
    wav.fill(0xff, 44, 44 + 6 * 4);
    expect(codeOf("audio/wav", wav)).toBe("not_audio");
  });

  it("decode: refuses what it cannot read, with the reason's code", () => {
    expect(codeOf("audio/wav", Buffer.from("no audio"))).toBe("not_audio");
    expect(codeOf("audio/pcm;rate=16000", Buffer.alloc(1))).toBe("not_audio");
    expect(codeOf("audio/pcm", Buffer.alloc(100))).toBe("unsupported_media_type");
    expect(codeOf("audio/ogg", Buffer.alloc(100))).toBe("not_audio");
    expect(codeOf("audio/aac", Buffer.alloc(100))).toBe("unsupported_media_type");
    expect(codeOf("", Buffer.alloc(100))).toBe("unsupported_media_type");
  });
});
