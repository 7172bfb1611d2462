import { createDeferred } from "../../../src/base/deferred.ts";
import { errorMessage, isAppError } from "../../../src/base/errors.ts";
import type { SherpaSettings } from "../engine-schemas.ts";
import type { TrialReport } from "./model-trial.ts";
import { openSherpa } from "./sherpa-engine.ts";

const SAMPLES = 32_000;

/** A buzz whose pitch glides over a hum, so that no feature stands still. */
const PROBE = Int16Array.from({ length: SAMPLES }, (_, at) => {
  const seconds = at / 16_000;
  const phase = (seconds * (110 + 40 * seconds)) % 1;
  return Math.round(9_000 * (phase - 0.5) + 2_000 * Math.sin(seconds * 7_000));
});

/** Reads an utterance, as a session would. */
async function tryOut(settings: SherpaSettings): Promise<TrialReport> {
  const recogniser = await openSherpa(settings).create();
  const settled = createDeferred<void>();
  recogniser.onNews?.(() => settled.resolve());
  recogniser.start(0);
  recogniser.feed(PROBE);
  if (recogniser.settle?.() === false) await settled.promise;
  recogniser.finish();
  recogniser.close();
  return {};
}

const settings = JSON.parse(process.argv[2] ?? "") as SherpaSettings;
const report = await tryOut(settings).catch(
  (error: unknown): TrialReport => ({
    reason: errorMessage(error),
    ...(isAppError(error, "engine_unavailable") ? { isMissing: true } : {}),
  }),
);
process.send?.(report, () => process.disconnect());
