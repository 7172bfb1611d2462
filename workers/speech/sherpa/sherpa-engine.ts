import type { SpeechEngine } from "../../../src/wire/speech-engines.ts";
import type { SherpaSettings } from "../engine-settings.ts";
import type { OpenedEngine } from "../opened-engine.ts";
import { type SharedModel, SherpaOfflineRecogniser } from "./offline-recogniser.ts";
import { SherpaOnlineRecogniser } from "./online-recogniser.ts";
import { findSherpaModel, type SherpaModel } from "./sherpa-model.ts";
import { loadSherpa, type OfflineRecogniser, type OnlineRecogniser } from "./sherpa-package.ts";

/** Types whose models write capitals and sentence marks themselves. */
const PUNCTUATES = new Set(["whisper", "moonshine", "nemo-transducer", "sense-voice"]);
/** Types that tell when their tokens were said. */
const UNTIMED = new Set(["whisper", "moonshine"]);

function describe(settings: SherpaSettings): SpeechEngine {
  const { name, type, languages, punctuation_folder } = settings;
  const [first = "en", ...others] = languages;
  return {
    name,
    languages: [first, ...others],
    streaming: type.startsWith("streaming-"),
    wordTimes: !UNTIMED.has(type),
    punctuation: PUNCTUATES.has(type) || punctuation_folder !== undefined,
    vocabulary: false,
    local: true,
  };
}

/**
 * Opens a model of sherpa-onnx, which is loaded once for a thread. Throws AppError
 * `engine_unavailable`, which says what is missing. The native library ends the process at a file
 * that it cannot use: models are tried in a process of their own before (`tryEngines`).
 */
export function openSherpa(settings: SherpaSettings): OpenedEngine {
  const model = findSherpaModel(settings);
  const engine = describe(settings);
  if (model.isStreaming) {
    let shared: SharedModel<OnlineRecogniser> | undefined;
    const create = async () => {
      shared ??= {
        recogniser: new (loadSherpa().OnlineRecognizer)(model.config),
        ...extras(model),
      };
      return new SherpaOnlineRecogniser(settings, shared);
    };
    return { engine, create };
  }
  let loading: Promise<SharedModel<OfflineRecogniser>> | undefined;
  const create = async () => {
    loading ??= loadOffline(model);
    return new SherpaOfflineRecogniser(settings, await loading);
  };
  return { engine, create };
}

async function loadOffline(model: SherpaModel): Promise<SharedModel<OfflineRecogniser>> {
  const { OfflineRecognizer } = loadSherpa();
  return { recogniser: await OfflineRecognizer.createAsync(model.config), ...extras(model) };
}

function extras({ punctuation }: SherpaModel): Pick<SharedModel<unknown>, "punctuation"> {
  if (punctuation === undefined) return {};
  return { punctuation: new (loadSherpa().OfflinePunctuation)(punctuation) };
}
