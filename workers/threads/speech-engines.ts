import { AppError, errorMessage } from "../../src/base/errors.ts";
import { POCKETSPHINX } from "../../src/wire/speech-engines.ts";
import { DeepgramRecogniser, describeDeepgram } from "../speech/deepgram/deepgram-recogniser.ts";
import { type EngineSettings, nameOfEngine } from "../speech/engine-settings.ts";
import { describeOpenAi, OpenAiRecogniser } from "../speech/openai/openai-recogniser.ts";
import { TranscriptionClient } from "../speech/openai/transcription-client.ts";
import type { OpenedEngine } from "../speech/opened-engine.ts";
import { loadNativeLibrary } from "../speech/pocketsphinx/native-library.ts";
import { PocketsphinxRecogniser } from "../speech/pocketsphinx/pocketsphinx-recogniser.ts";
import { openSherpa } from "../speech/sherpa/sherpa-engine.ts";

/** Opens an engine. Throws AppError `engine_unavailable`, which says what is missing. */
export function openEngine(
  settings: EngineSettings,
  { nativeRoot }: { nativeRoot: string | undefined },
): OpenedEngine {
  try {
    switch (settings.kind) {
      case "pocketsphinx": {
        const library = loadNativeLibrary(nativeRoot);
        return {
          engine: POCKETSPHINX,
          create: () => PocketsphinxRecogniser.load(library),
          onShrunk: () => library.giveBackMemory(),
        };
      }
      case "openai": {
        const client = new TranscriptionClient(settings);
        return {
          engine: describeOpenAi(settings),
          create: async () => new OpenAiRecogniser(settings, client),
        };
      }
      case "sherpa-onnx":
        return openSherpa(settings);
      case "deepgram":
        return {
          engine: describeDeepgram(settings),
          create: async () => new DeepgramRecogniser(settings),
        };
    }
  } catch (error) {
    throw new AppError("engine_unavailable", `${nameOfEngine(settings)}: ${errorMessage(error)}`);
  }
}
