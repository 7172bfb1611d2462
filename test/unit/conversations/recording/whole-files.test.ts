import { createHash } from "node:crypto";
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { channelOf } from "../../../../src/base/audio/pcm-samples.ts";
import { SincInterpolator } from "../../../../src/base/audio/sinc-interpolator.ts";
import { loadDecoders } from "../../../../src/base/codecs/sound-reader.ts";
import { newId } from "../../../../src/base/ids.ts";
import type { NewChunk } from "../../../../src/conversations/recording/chunk-store.ts";
import { Sounds } from "../../../../src/conversations/recording/sounds.ts";
import { WholeFiles } from "../../../../src/conversations/recording/whole-files.ts";
import type { Upload } from "../../../../src/rest/route.ts";
import { makeWav } from "../../../support/make-wav.ts";
import {
  decodedSound,
  SOUND_FILES,
  type SoundName,
  soundBytes,
} from "../../../support/sound-files.ts";
import { NO_MENDING } from "../../../support/verified-audio.ts";

interface Kept {
  chunk: NewChunk;
  bytes: Buffer;
}

/** Interleaved samples at 16 kHz, each computed from the whole. */
function atSessionRate(samples: Int16Array, rate: number, channels: number): Int16Array {
  if (rate === 16_000) return samples;
  const interpolator = SincInterpolator.of(rate);
  const frames = samples.length / channels;
  const count = Math.floor((frames * 16_000) / rate);
  const { from, to } = interpolator.span(0, count);
  const result = new Int16Array(count * channels);
  for (let channel = 0; channel < channels; channel += 1) {
    const own = new Int16Array(to - from);
    own.set(channelOf(samples, channel, channels).subarray(0, to), -from);
    for (const [at, sample] of interpolator.read(0, count, own).entries()) {
      result[at * channels + channel] = sample;
    }
  }
  return result;
}

describe("whole files", () => {
  let folder: string;
  const sounds = new Sounds();
  beforeAll(async () => {
    folder = mkdtempSync(join(tmpdir(), "whole-files-"));
    await loadDecoders();
  });
  afterAll(async () => {
    await sounds.stop();
    rmSync(folder, { recursive: true, force: true });
  });

  /** Stores a recording as one that is too long; returns its chunks. */
  async function cut(
    bytes: Buffer,
    mediaType: string,
    partSeconds: number,
    limits: { maxSeconds?: number; maxBytes?: number } = { maxSeconds: 0 },
  ): Promise<Kept[]> {
    const kept: Kept[] = [];
    const stored = new Map<string, Buffer>();
    const files = new WholeFiles({
      sounds,
      converter: {
        convert: () => Promise.reject(new Error("Not asked for.")),
        isAvailable: false,
      },
      ...{ folder, partSeconds },
      ...limits,
      backlog: { check: () => {} },
      assertRoom: async () => {},
      notifier: { notify: () => {} },
      mending: NO_MENDING,
      blobs: {
        put: async (_session, sha256, path) => {
          stored.set(sha256, readFileSync(path));
          return { path };
        },
        putBytes: () => Promise.reject(new Error("In files only.")),
        read: () => Promise.reject(new Error("Not asked for.")),
        delete: () => Promise.reject(new Error("Not asked for.")),
      },
      chunks: {
        find: async () => undefined,
        store: async (chunk) => {
          kept.push({ chunk, bytes: stored.get(chunk.sha256) ?? Buffer.alloc(0) });
          const { id, sequence, durationSeconds } = chunk;
          return {
            ...{ created: true, outbox: [] },
            chunk: { id, sequence, durationSeconds, status: "pending" as const },
          };
        },
        partBefore: () => Promise.reject(new Error("Not asked for.")),
      },
    });
    const path = join(folder, newId());
    writeFileSync(path, bytes);
    const upload: Upload = {
      content: { kind: "file", path },
      bytes: bytes.byteLength,
      sha256: createHash("sha256").update(bytes).digest("hex"),
      ...{ mediaType, filename: "talk", fields: {} },
    };
    const { signal } = new AbortController();
    const file = await files.inspect(upload, newId(), signal);
    const place = { sessionId: newId(), accountId: newId(), filename: "talk" };
    const last = await files.store(place, file, signal);
    expect(last).toBe(kept.length - 1);
    return kept;
  }

  it("whole files: no part is larger than a worker takes, however rich the sound is", async () => {
    const wav = makeWav({ frames: 100_000, sampleRate: 48_000, channels: 2, seed: 5 });
    const kept = await cut(wav, "audio/wav", 600, { maxBytes: 100_001 });
    expect(kept.map(({ bytes }) => bytes.byteLength)).toEqual([
      ...[100_000, 100_000, 100_000, 100_000],
    ]);
    expect(Buffer.concat(kept.map(({ bytes }) => bytes)).equals(wav.subarray(44))).toBe(true);
    const one = await cut(wav, "audio/wav", 600, { maxBytes: wav.byteLength });
    expect(one).toHaveLength(1);
  });

  it.each(Object.keys(SOUND_FILES) as SoundName[])(
    "whole files: %s comes out at 16 kHz in parts, with every sample once",
    async (name) => {
      const { sampleRate, channels, mediaType } = SOUND_FILES[name];
      const kept = await cut(soundBytes(name), mediaType, 0.5);
      expect(kept.length).toBe(3);
      expect(kept.map(({ chunk }) => chunk.sequence)).toEqual([0, 1, 2]);
      expect(kept[0]?.chunk).toMatchObject({
        mediaType: `audio/pcm;rate=16000;channels=${channels};encoding=s16le`,
        frames: 8_000,
        filename: "talk",
      });
      for (const { chunk, bytes } of kept) {
        expect(chunk.bytes).toBe(bytes.byteLength);
        expect(chunk.sha256).toBe(createHash("sha256").update(bytes).digest("hex"));
      }
      const joined = Buffer.concat(kept.map(({ bytes }) => bytes));
      const samples = new Int16Array(joined.buffer, joined.byteOffset, joined.byteLength / 2);
      expect(samples).toEqual(atSessionRate(decodedSound(soundBytes(name)), sampleRate, channels));
    },
  );

  it("whole files: WAV is cut as it is", async () => {
    const wav = makeWav({ frames: 20_000 });
    const kept = await cut(wav, "audio/wav", 0.5);
    expect(kept.map(({ chunk }) => chunk.frames)).toEqual([8_000, 8_000, 4_000]);
    expect(Buffer.concat(kept.map(({ bytes }) => bytes))).toEqual(wav.subarray(44));
  });

  it("whole files: nothing unfinished is left", () => {
    const left = readdirSync(folder, { recursive: true }).map(String);
    expect(left.filter((name) => name.endsWith(".upload") || name.includes("/"))).toEqual([]);
  });
});
