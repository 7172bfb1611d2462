import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { joinOpusPackets } from "../../../../src/base/audio/opus-packets.ts";
import { AppError } from "../../../../src/base/errors.ts";
import {
  type AudioContainer,
  inspectAudio,
  readHead,
} from "../../../../src/conversations/recording/audio-container.ts";
import { Sounds } from "../../../../src/conversations/recording/sounds.ts";
import { makeWav } from "../../../support/make-wav.ts";
import { SOUND_FILES, SOUND_NAMES, soundBytes } from "../../../support/sound-files.ts";

describe("audio container", () => {
  const sounds = new Sounds();
  let folder: string;
  beforeAll(() => {
    folder = mkdtempSync(join(tmpdir(), "audio-container-"));
  });
  afterAll(async () => {
    rmSync(folder, { recursive: true, force: true });
    await sounds.stop();
  });

  /** From a file and from memory: both say the same. */
  async function inspect(bytes: Buffer, mediaType = "audio/wav"): Promise<AudioContainer> {
    const path = join(folder, "upload");
    writeFileSync(path, bytes);
    const given = [
      { kind: "file", path },
      { kind: "memory", data: bytes },
    ] as const;
    const [fromFile, fromMemory] = await Promise.allSettled(
      given.map(async (content) => {
        const file = { content, bytes: bytes.length, mediaType };
        return inspectAudio(file, await readHead(content), { sounds, accountId: "" });
      }),
    );
    expect(fromMemory).toEqual(fromFile);
    if (fromFile?.status !== "fulfilled") throw fromFile?.reason;
    return fromFile.value;
  }

  async function refusal(bytes: Buffer, mediaType?: string): Promise<AppError> {
    try {
      await inspect(bytes, mediaType);
    } catch (error) {
      if (error instanceof AppError) return error;
      throw error;
    }
    throw new Error("was taken");
  }

  it("audio container: Opus packets without a file are told where they are taken", async () => {
    const packets = joinOpusPackets([Buffer.from([0x48, 1, 2, 3]), Buffer.from([0x48, 4, 5])]);
    for (const type of ["audio/opus", "Audio/Opus;rate=16000;channels=1;framing=length-prefixed"]) {
      const { code, message } = await refusal(Buffer.from(packets), type);
      expect(code).toBe("unsupported_media_type");
      expect(message).toMatch(
        /^Opus packets without a file .* \/devices\/\{device_id\}\/stream.* Send WAV/,
      );
    }
    const { mediaType } = await inspect(soundBytes("mono.opus"), "audio/opus");
    expect(mediaType).toBe("audio/ogg;codecs=opus");
  });

  it("audio container: takes WAV of every supported kind, whatever type was declared", async () => {
    const kinds = [
      { bits: 8, sampleRate: 8_000, channels: 1 },
      { bits: 16, sampleRate: 16_000, channels: 1 },
      { bits: 24, sampleRate: 44_100, channels: 2 },
      { bits: 32, sampleRate: 48_000, channels: 1 },
      { bits: 32, float: true, sampleRate: 22_050, channels: 1 },
    ] as const;
    for (const kind of kinds) {
      const frames = kind.sampleRate / 2;
      expect(await inspect(makeWav({ ...kind, frames }), "application/octet-stream")).toEqual({
        mediaType: "audio/wav",
        frames,
        channels: kind.channels,
        sampleRate: kind.sampleRate,
        durationSeconds: 0.5,
      });
    }
  });

  it("audio container: of a header that lies about its length, what is there counts", async () => {
    for (const claimedLength of [0, 0xffffffff, 1_000_000]) {
      const wav = makeWav({ frames: 8_000, claimedLength });
      expect((await inspect(wav)).frames).toBe(8_000);
    }
    const shorter = makeWav({ frames: 8_000, claimedLength: 2_000 });
    expect((await inspect(shorter)).frames).toBe(1_000);
  });

  it("audio container: counts the samples of a file much longer than its head", async () => {
    expect((await inspect(makeWav({ frames: 2_000_000 }))).frames).toBe(2_000_000);
  });

  it("audio container: a WAV without a frame, an empty file, text and noise are not audio", async () => {
    const cases: [Buffer, RegExp][] = [
      [Buffer.alloc(0), /empty/],
      [makeWav({ frames: 0 }), /no samples/],
      [makeWav({ frames: 10 }).subarray(0, 30), /WAV/],
      [Buffer.from("hello, this is a text file named .wav"), /not audio/],
      [Buffer.from([0xff, 0xff, 0xff, 0xff, 0xff]), /not audio/],
    ];
    for (const [bytes, message] of cases) {
      const error = await refusal(bytes);
      expect(error.code).toBe("not_audio");
      expect(error.message).toMatch(message);
    }
  });

  it("audio container: a WAV with 300 KiB in front of its samples is told so, not that it is cut off", async () => {
    const file = makeWav({ frames: 16_000 });
    const junk = Buffer.alloc(8 + 300 * 1024);
    junk.write("JUNK", 0, "latin1");
    junk.writeUInt32LE(300 * 1024, 4);
    const long = Buffer.concat([file.subarray(0, 12), junk, file.subarray(12)]);
    const { code, message } = await refusal(long);
    expect([code, message]).toEqual(["not_audio", expect.stringMatching(/more than 256 KiB/)]);
    const large = makeWav({ frames: 16_000, claimedLength: 0xffffffff });
    large.write("BW64", 0, "latin1");
    expect(await inspect(large)).toMatchObject({ mediaType: "audio/wav", frames: 16_000 });
  });

  it("audio container: takes compressed files for what their bytes are", async () => {
    for (const name of SOUND_NAMES) {
      const { mediaType, sampleRate } = SOUND_FILES[name];
      const found = await inspect(soundBytes(name), "audio/wav");
      expect(found).toMatchObject({ mediaType, sampleRate });
      expect(Math.abs(found.durationSeconds - 1.4)).toBeLessThan(0.02);
    }
  });

  it("audio container: finds MP3 that does not begin with a frame, and no other unmarked file", async () => {
    const file = soundBytes("mono-44100.mp3");
    const whole = await inspect(file);
    for (const before of [Buffer.alloc(3_000), Buffer.alloc(700, "\x07junk\xfe")]) {
      const found = await inspect(Buffer.concat([before, file]), "application/octet-stream");
      expect(found).toMatchObject({ mediaType: "audio/mpeg" });
      expect(Math.abs(found.frames - whole.frames)).toBeLessThan(3 * 1_152);
    }
    const cut = await inspect(file.subarray(900));
    expect(cut.durationSeconds).toBeGreaterThan(1.2);
    const short = Buffer.concat([Buffer.alloc(3_000), file.subarray(0, 1_500)]);
    expect((await refusal(short)).code).toBe("not_audio");
  });

  it("audio container: a file that holds no sound is called by its name", async () => {
    const page = Buffer.from("  <!DOCTYPE html><title>x</title>".padEnd(900));
    const files: [string, Buffer][] = [
      ["a PDF document", Buffer.from("%PDF-1.7".padEnd(900))],
      ["a ZIP archive or an office document", Buffer.from("PK\x03\x04".padEnd(900))],
      ["an HTML page", page],
    ];
    for (const [name, bytes] of files) {
      const { code, message } = await refusal(bytes, "application/octet-stream");
      expect([code, message]).toEqual(["not_audio", expect.stringContaining(`is ${name}, not`)]);
    }
  });

  it("audio container: a compressed file without sound is not audio", async () => {
    for (const name of SOUND_NAMES) {
      const error = await refusal(soundBytes(name).subarray(0, 20));
      expect(error.code).toBe("not_audio");
      expect(error.message).toContain("Send WAV");
    }
  });

  it("audio container: other audio formats are named and told what is supported", async () => {
    const cases: [string, Buffer][] = [
      ["AAC", Buffer.from([0xff, 0xf1, 0x50, 0x80, 0, 0])],
      ["MP4/M4A", Buffer.from("\0\0\0\x20ftypM4A ")],
      ["AIFF", Buffer.from("FORM\0\0\0\0AIFF")],
    ];
    for (const [name, bytes] of cases) {
      const error = await refusal(bytes);
      expect(error.code).toBe("unsupported_media_type");
      expect(error.message).toContain(name);
      expect(error.message).toContain("Send WAV");
    }
    expect((await refusal(Buffer.from("????"), "audio/midi")).code).toBe("unsupported_media_type");
    const surround = await refusal(makeWav({ frames: 100, channels: 9 }));
    expect(surround.code).toBe("unsupported_media_type");
  });

  it("audio container: raw PCM needs its format, and keeps it in one spelling", async () => {
    const type = "audio/pcm; rate=16000; channels=2; encoding=s16le";
    expect(await inspect(Buffer.alloc(16_001 * 4 + 3), type)).toEqual({
      mediaType: "audio/pcm;rate=16000;channels=2;encoding=s16le",
      frames: 16_001,
      channels: 2,
      sampleRate: 16_000,
      durationSeconds: 16_001 / 16_000,
    });
    expect((await refusal(Buffer.alloc(64), "audio/pcm")).code).toBe("unsupported_media_type");
    const rate = await refusal(Buffer.alloc(64), "audio/pcm;rate=192000");
    expect(rate.code).toBe("unsupported_media_type");
    expect((await refusal(Buffer.alloc(1), "audio/pcm;rate=16000")).code).toBe("not_audio");
  });
});
