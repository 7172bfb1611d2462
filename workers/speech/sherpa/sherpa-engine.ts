import type { SpeechEngine } from "../../../src/wire/speech-engines.ts";
import type { SherpaSettings } from "../engine-schemas.ts";
import type { OpenedEngine } from "../opened-engine.ts";
import { SherpaOfflineRecogniser } from "./offline-recogniser.ts";
import { findSherpaModel } from "./sherpa-model.ts";
import { loadSherpa, type OfflineRecogniser } from "./sherpa-package.ts";

function describe({ name, languages, type }: SherpaSettings): SpeechEngine {
  const [first = "en", ...others] = languages;
  return {
    name,
    languages: [first, ...others],
    streaming: false,
    wordTimes: true,
    punctuation: true,
    vocabulary: false,
    local: true,
    model: { name: type },
  };
}

/**
 * Opens a model of sherpa-onnx, which is loaded once for a thread. Throws AppError
 * `engine_unavailable`, which says what is missing. The native library ends the process at a file
 * that it cannot use: models are tried in a process of their own before (`tryEngines`).
 */
export function openSherpa(settings: SherpaSettings): OpenedEngine {
  const config = findSherpaModel(settings);
  let loading: Promise<OfflineRecogniser> | undefined;
  const create = async () => {
    loading ??= loadSherpa().OfflineRecognizer.createAsync(config);
    return new SherpaOfflineRecogniser(settings, await loading);
  };
  return { engine: describe(settings), create };
}
