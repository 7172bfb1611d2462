import { readFileSync } from "node:fs";
import { afterAll, beforeAll, expect, it } from "vitest";
import { FeatureBlocks } from "../../workers/inference/feature-blocks.ts";
import type { RecognitionAnswer } from "../../workers/inference/inference-protocol.ts";
import { type RunningEngine, startMoonshine } from "../support/moonshine-engine.ts";

const WAV_HEADER_BYTES = 44;
const SECOND = 16_000;
const wav = readFileSync(new URL("../../deploy/demo/conversation.wav", import.meta.url));
const pcm = new Int16Array(wav.buffer, wav.byteOffset + WAV_HEADER_BYTES, 25 * SECOND);

let engine: RunningEngine;

beforeAll(async () => {
  engine = await startMoonshine(2);
}, 60_000);

afterAll(() => engine.close());

async function read(samples: number, features?: SharedArrayBuffer): Promise<RecognitionAnswer> {
  const request = { pcm: pcm.slice(0, samples), features, isFinal: true, agreed: [], draft: [] };
  const answer = await engine.read({ ...request, phrases: [] }).answer;
  if (answer === undefined) throw new Error("left out");
  return { ...answer, workMs: 0 };
}

it("a growing utterance: is read to the last number as if it had come at once", async () => {
  const features = FeatureBlocks.allocate();
  // Of a quarter of a second, of less than a block, over several, over all that is stored; shorter again; two at once.
  for (const seconds of [0.25, 0.7, 1.9, 6.3, 6.4, 24.5, 3.1]) {
    const samples = Math.round(seconds * SECOND);
    const [grown, again, fresh] = await Promise.all([
      read(samples, features),
      read(samples, features),
      read(samples),
    ]);
    expect(grown, `${seconds} s`).toEqual(fresh);
    expect(again, `${seconds} s`).toEqual(fresh);
  }
}, 120_000);
