import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { SherpaEmbedder } from "../../workers/speakers/sherpa-embedder.ts";
import { findSpeakerModel } from "../../workers/speakers/speaker-model.ts";
import {
  LEAST_EMBEDDED_SAMPLES,
  type VoiceEmbedder,
} from "../../workers/speakers/voice-embedder.ts";
import { AutocorrelationEmbedder } from "../support/autocorrelation-embedder.ts";
import { makeSpeakerModel } from "../support/speaker-model-file.ts";

const DEMO = join(import.meta.dirname, "../../deploy/demo");
const WINDOW = 24_000;

/** Windows of 1.5 s of each of the three voices of the shipped conversation. */
function demoWindows(): { voice: string; samples: Int16Array }[] {
  const wave = readFileSync(join(DEMO, "conversation.wav"));
  const all = new Int16Array(
    wave.buffer.slice(wave.byteOffset + 44, wave.byteOffset + wave.length),
  );
  const { turns }: { turns: { speaker: string; start_ms: number; end_ms: number }[] } = JSON.parse(
    readFileSync(join(DEMO, "conversation.json"), "utf8"),
  );
  return turns.flatMap(({ speaker, start_ms, end_ms }) => {
    const windows = [];
    for (let at = start_ms * 16; at + WINDOW <= end_ms * 16; at += WINDOW) {
      windows.push({ voice: speaker, samples: all.slice(at, at + WINDOW) });
    }
    return windows;
  });
}

function cosine(a: Float32Array, b: Float32Array): number {
  return a.reduce((sum, value, i) => sum + value * (b[i] ?? 0), 0);
}

function meanOf(values: readonly number[]): number {
  return values.reduce((sum, value) => sum + value, 0) / values.length;
}

/** What every embedder promises to a tracker. */
function embedderContract(name: string, make: () => Promise<VoiceEmbedder>): void {
  describe(`voice embedder, ${name}`, () => {
    const windows = demoWindows();
    const [first, second] = windows.map(({ samples }) => samples);
    if (first === undefined || second === undefined) throw new Error("The conversation is short.");
    let embedder: VoiceEmbedder;

    beforeAll(async () => {
      embedder = await make();
    });
    afterAll(() => embedder.close());

    function embed(samples: Int16Array, by = embedder): Float32Array {
      const vector = by.embed(samples);
      if (vector === undefined) throw new Error("There is no vector for speech.");
      return vector;
    }

    it("embedder: has a name, and vectors of its dimension and of unit length", () => {
      expect(embedder.name).toMatch(/^\S.{0,126}\S$/);
      for (const length of [LEAST_EMBEDDED_SAMPLES, 16_000, WINDOW, 3 * WINDOW + 123]) {
        const samples = Int16Array.from({ length }, (_, i) => first[i % WINDOW] ?? 0);
        const vector = embed(samples);
        expect(vector).toHaveLength(embedder.dimension);
        expect(Math.hypot(...vector)).toBeCloseTo(1, 5);
      }
    });

    it("embedder: the same speech has the same vector, whatever came before and by whomever", async () => {
      const before = embed(first);
      embed(second);
      expect(embed(first)).toEqual(before);
      const other = await make();
      expect(other.name).toBe(embedder.name);
      expect(embed(first, other)).toEqual(before);
      other.close();
      expect(embed(first)).toEqual(before);
    });

    it("embedder: vectors are the caller's own, and samples are only read", () => {
      const samples = first.slice();
      const vector = embed(samples);
      const kept = vector.slice();
      embed(second);
      expect(vector).toEqual(kept);
      vector.fill(0);
      expect(embed(samples)).toEqual(kept);
      expect(samples).toEqual(first);
    });

    it("embedder: windows of one voice are nearer than those of different ones", () => {
      const vectors = windows.map(({ voice, samples }) => ({ voice, vector: embed(samples) }));
      const pairs = vectors.flatMap((a, i) =>
        vectors.slice(i + 1).map((b) => ({
          isSame: a.voice === b.voice,
          nearness: cosine(a.vector, b.vector),
        })),
      );
      const [same, different] = [true, false].map((isSame) =>
        pairs.filter((pair) => pair.isSame === isSame).map(({ nearness }) => nearness),
      );
      expect(same?.length).toBeGreaterThan(20);
      expect(different?.length).toBeGreaterThan(40);
      expect(meanOf(same ?? [])).toBeGreaterThan(meanOf(different ?? []));
      // A window taken at random is nearer to one of its own voice more often than not.
      const right = (same ?? []).flatMap((a) => (different ?? []).map((b) => Number(a > b)));
      expect(meanOf(right)).toBeGreaterThan(0.7);
    });

    it("embedder: loudness hardly counts", () => {
      const quiet = first.map((sample) => Math.round(sample / 4));
      expect(cosine(embed(first), embed(quiet))).toBeGreaterThan(0.95);
    });

    it("embedder: digital silence has a vector or none, never a broken one", () => {
      const vector = embedder.embed(new Int16Array(WINDOW));
      expect(vector?.every(Number.isFinite) ?? true).toBe(true);
    });

    it("embedder: refuses less than 0.4 s, and goes on", () => {
      const short = first.slice(0, LEAST_EMBEDDED_SAMPLES - 1);
      expect(() => embedder.embed(short)).toThrow(RangeError);
      expect(() => embedder.embed(new Int16Array(0))).toThrow(RangeError);
      expect(embed(first)).toHaveLength(embedder.dimension);
    });

    it("embedder: says that it is closed", async () => {
      const other = await make();
      other.close();
      other.close();
      expect(() => other.embed(first)).toThrow("closed");
    });
  });
}

embedderContract("of autocorrelations", async () => new AutocorrelationEmbedder());

describe("voice embedder: sherpa-onnx", () => {
  const folder = mkdtempSync(join(tmpdir(), "voice-model-"));
  writeFileSync(join(folder, "mean-cepstrum.onnx"), makeSpeakerModel());
  afterAll(() => rmSync(folder, { recursive: true, force: true }));

  embedderContract("sherpa-onnx with a made network", async () =>
    SherpaEmbedder.load(await findSpeakerModel(folder)),
  );
});

const real = process.env.SPEAKER_MODEL_DIR;
if (real) {
  embedderContract("sherpa-onnx with the network of SPEAKER_MODEL_DIR", async () =>
    SherpaEmbedder.load(await findSpeakerModel(real)),
  );
} else {
  it.skip("voice embedder, a trained network: SPEAKER_MODEL_DIR is not set, so none is tried", () => {});
}
