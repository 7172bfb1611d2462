import { mkdtempSync, rmSync, truncateSync, writeFileSync } from "node:fs";
import { open } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { wavFileHeader } from "../../../../src/base/audio/wav.ts";
import { newId } from "../../../../src/base/ids.ts";
import type { FileConverter } from "../../../../src/conversations/recording/audio-files/file-converter.ts";
import { readableUpload } from "../../../../src/conversations/recording/readable-upload.ts";
import { Sounds } from "../../../../src/conversations/recording/sounds.ts";
import { makeWav } from "../../../support/make-wav.ts";
import { soundBytes } from "../../../support/sound-files.ts";

const MIB = 1024 * 1024;
const LARGE = 300 * MIB;

/** Files that are larger than what a thread of the service may hold; they have holes, and take no room. */
describe("large files", () => {
  let folder: string;
  beforeAll(() => {
    folder = mkdtempSync(join(tmpdir(), "large-files-"));
  });
  afterAll(async () => {
    await sounds.stop();
    rmSync(folder, { recursive: true, force: true });
  });

  const unread = () => Promise.reject(new Error("It was read in the process of the service."));
  const sounds = new Sounds();
  /** Looks through files part by part, and takes none whole. */
  const partly: Pick<Sounds, "measure" | "starts"> = {
    measure: unread,
    starts: (...asked) => sounds.starts(...asked),
  };
  const noDecoder = { convert: unread, isAvailable: false };

  /** Notes where it was told that recordings begin. */
  function decoder() {
    const asked: (readonly number[])[] = [];
    const convert: FileConverter["convert"] = async (_content, _order, starts = []) => {
      asked.push(starts);
      const shape = { frames: 16_000, sampleRate: 16_000, channels: 1, bytes: 32_044 };
      return { path: join(folder, newId()), ...shape };
    };
    return { asked, converter: { convert, isAvailable: true } };
  }

  /** A file of `parts` at their places, and holes between them. */
  async function fileOf(parts: readonly (readonly [number, Buffer])[], bytes = LARGE) {
    const path = join(folder, newId());
    writeFileSync(path, "");
    truncateSync(path, bytes);
    const file = await open(path, "r+");
    for (const [at, part] of parts) await file.write(part, 0, part.byteLength, at);
    await file.close();
    return {
      ...{ content: { kind: "file" as const, path }, bytes, sha256: "", filename: "talk" },
      fields: {},
    };
  }

  const { signal } = new AbortController();
  const order = { accountId: "a", seconds: 12 * 3_600, signal };

  const MARKS: readonly (readonly [string, Buffer])[] = [
    ["audio/flac", Buffer.from("fLaC\0\0\0\x22", "latin1")],
    ["audio/ogg", Buffer.from("OggS\0\x02", "latin1")],
    ["audio/webm", Buffer.from("\x1a\x45\xdf\xa3", "latin1")],
    ["audio/mpeg", Buffer.from("ID3\x03\0\0\0\0\0\0", "latin1")],
    ["audio/mp4", Buffer.from("\0\0\0\x18ftypM4A ", "latin1")],
  ];

  it.each(MARKS)(
    "large files: %s is decoded in a process of its own, not measured here",
    async (mediaType, head) => {
      const { asked, converter } = decoder();
      const upload = { ...(await fileOf([[0, head]])), mediaType };
      const read = await readableUpload(upload, { ...order, sounds: partly, converter });
      expect(read.audio).toMatchObject({ mediaType: "audio/wav", durationSeconds: 1 });
      expect(asked).toEqual([[]]);
    },
  );

  it("large files: without a decoder a compressed one is refused for good", async () => {
    const [, head] = MARKS[0] ?? [];
    const upload = { ...(await fileOf([[0, head ?? Buffer.alloc(0)]])), mediaType: "audio/flac" };
    const reading = readableUpload(upload, {
      ...{ ...order, sounds: partly, converter: noDecoder },
    });
    await expect(reading).rejects.toMatchObject({ code: "payload_too_large" });
  });

  describe("WAV files put together", () => {
    const first = wavFileHeader({ sampleRate: 48_000, channels: 2, frames: (280 * MIB) / 4 });
    const second = makeWav({ frames: 16_000 });
    const behind = first.byteLength + 280 * MIB;
    const cue = Buffer.from("LIST\x04\0\0\0INFO", "latin1");

    it("large files: what follows the samples is found by its place, and the rest is not read", async () => {
      const { asked, converter } = decoder();
      const parts = [
        [0, first],
        [behind, cue],
        [behind + cue.byteLength, second],
      ] as const;
      const bytes = behind + cue.byteLength + second.byteLength;
      const upload = { ...(await fileOf(parts, bytes)), mediaType: "audio/wav" };
      await readableUpload(upload, { ...order, sounds, converter });
      expect(asked).toEqual([[behind + cue.byteLength]]);
    });

    it("large files: tags behind the samples of one recording are no other one", async () => {
      const upload = {
        ...(await fileOf(
          [
            [0, first],
            [behind, cue],
          ],
          behind + 200,
        )),
        mediaType: "audio/wav",
      };
      const { audio } = await readableUpload(upload, { ...order, sounds, converter: noDecoder });
      expect(audio).toMatchObject({ frames: (280 * MIB) / 4, mediaType: "audio/wav" });
      expect(audio.starts).toBeUndefined();
    });

    it("large files: one of another kind behind them is found too", async () => {
      const [, flac] = MARKS[0] ?? [];
      const { asked, converter } = decoder();
      const parts = [
        [0, first],
        [behind, flac ?? Buffer.alloc(0)],
      ] as const;
      const upload = { ...(await fileOf(parts, behind + MIB)), mediaType: "audio/wav" };
      await readableUpload(upload, { ...order, sounds, converter });
      expect(asked).toEqual([[behind]]);
    });
  });

  describe("other files put together", () => {
    const behind = 280 * MIB;
    /** A box of MP4 that is stepped over, up to the next file. */
    const free = Buffer.from("\0\0\0\0free", "latin1");
    const mp4 = soundBytes("front.mp4");
    free.writeUInt32BE(behind - mp4.length);

    it.each<[string, Buffer, Buffer]>([
      ["FLAC", soundBytes("mono-16000.flac"), soundBytes("mono-16000.flac")],
      ["Opus and Vorbis", soundBytes("mono.opus"), soundBytes("mono-44100.ogg")],
      ["WebM and Matroska", soundBytes("left.webm"), soundBytes("mono.mka")],
      ["MP4", Buffer.concat([mp4, free]), soundBytes("mono.m4a")],
    ])("large files: %s, the second is found and decoded with the first", async (_n, one, two) => {
      const { asked, converter } = decoder();
      const parts = [
        [0, one],
        [behind, two],
      ] as const;
      const file = await fileOf(parts, behind + two.length);
      const upload = { ...file, mediaType: "application/octet-stream" };
      await readableUpload(upload, { ...order, sounds: partly, converter });
      expect(asked).toEqual([[behind]]);
    });

    it("large files: MP3, of another rate from the middle on", async () => {
      const { asked, converter } = decoder();
      const [one, two] = [soundBytes("mono-44100.mp3"), soundBytes("left-16000.mp3")];
      const times = Math.ceil((34 * MIB) / one.length);
      const many = Buffer.concat(Array.from({ length: times }, () => one));
      const upload = {
        ...(await fileOf([[0, Buffer.concat([many, two])]])),
        mediaType: "audio/mpeg",
      };
      await readableUpload(upload, { ...order, sounds: partly, converter });
      expect(asked).toEqual([[many.length]]);
    });
  });
});
