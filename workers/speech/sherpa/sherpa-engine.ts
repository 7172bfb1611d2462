import { SESSION_RATE } from "../../../src/base/audio/sample-rate.ts";
import { AppError, errorMessage } from "../../../src/base/errors.ts";
import type { SpeechEngine } from "../../../src/wire/speech-engines.ts";
import type { SherpaSettings } from "../engine-schemas.ts";
import type { OpenedEngine } from "../opened-engine.ts";
import type { RecognisedWord } from "../recogniser.ts";
import { type EndedUtterance, WholeUtteranceRecogniser } from "../whole-utterance.ts";
import { findSherpaModel } from "./sherpa-model.ts";
import { loadSherpa, type OfflineRecogniser } from "./sherpa-package.ts";
import { tokenWords } from "./token-words.ts";

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

const FULL_SCALE = 32_768;

/** Models that read a whole utterance at once, on a thread of the native library. */
class SherpaOfflineRecogniser extends WholeUtteranceRecogniser {
  readonly engine: string;
  readonly engineVersion: string;
  readonly #model: OfflineRecogniser;

  constructor({ name, type, languages }: SherpaSettings, model: OfflineRecogniser) {
    super(languages[0] ?? "en");
    this.engine = name;
    this.engineVersion = `sherpa-onnx ${type}`;
    this.#model = model;
  }

  /** These models take no vocabulary here. */
  useVocabulary(): void {}

  protected async read({ pcm, start }: EndedUtterance): Promise<RecognisedWord[]> {
    const stream = this.#model.createStream();
    const samples = Float32Array.from(pcm, (sample) => sample / FULL_SCALE);
    stream.acceptWaveform({ samples, sampleRate: SESSION_RATE });
    try {
      const result = await this.#model.decodeAsync(stream);
      return tokenWords(result, result.text.trim(), start, start + pcm.length);
    } catch (error) {
      throw new AppError("internal", errorMessage(error));
    }
  }
}
