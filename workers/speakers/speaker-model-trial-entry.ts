import { errorMessage } from "../../src/base/errors.ts";
import { SherpaEmbedder } from "./sherpa-embedder.ts";
import type { SpeakerModel } from "./speaker-model.ts";
import type { TrialReport } from "./speaker-model-trial.ts";
import { LEAST_EMBEDDED_SAMPLES } from "./voice-embedder.ts";

const SAMPLES = 24_000;
/** Lengths of speech that a tracker may ask for: some networks fail at some of them only. */
const LENGTHS = [LEAST_EMBEDDED_SAMPLES, 16_000, SAMPLES, 51_234];
const ROUNDS = 3;

/** A buzz whose pitch glides over a hum, so that no feature stands still. */
function probeSound(length: number): Int16Array {
  return Int16Array.from({ length }, (_, at) => {
    const seconds = at / 16_000;
    const phase = (seconds * (110 + 40 * seconds)) % 1;
    return Math.round(9_000 * (phase - 0.5) + 2_000 * Math.sin(seconds * 7_000));
  });
}

async function tryOut(model: SpeakerModel): Promise<TrialReport> {
  const before = process.memoryUsage.rss();
  const embedder = await SherpaEmbedder.load(model);
  for (const length of LENGTHS) {
    if (embedder.embed(probeSound(length)) !== undefined) continue;
    const reason = `SPEAKER_MODEL_DIR: ${model.path} gives no usable vector for a sound of ${length} samples: take another model`;
    return { ok: false, reason };
  }
  const memoryBytes = process.memoryUsage.rss() - before;
  const sound = probeSound(SAMPLES);
  const start = process.cpuUsage();
  for (let round = 0; round < ROUNDS; round += 1) embedder.embed(sound);
  const { user, system } = process.cpuUsage(start);
  embedder.close();
  return { ok: true, trial: { embedMs: (user + system) / 1_000 / ROUNDS, memoryBytes } };
}

const model = JSON.parse(process.argv[2] ?? "") as SpeakerModel;
const report = await tryOut(model).catch(
  (error: unknown): TrialReport => ({ ok: false, reason: errorMessage(error) }),
);
process.send?.(report, () => process.disconnect());
