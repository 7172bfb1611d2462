import { AppError, errorMessage } from "../../src/base/errors.ts";
import { POCKETSPHINX, type SpeechEngine } from "../../src/wire/speech-engines.ts";
import { DeepgramRecogniser, describeDeepgram } from "./deepgram/deepgram-recogniser.ts";
import { type EngineSettings, nameOfEngine } from "./engine-settings.ts";
import { describeOpenAi, OpenAiRecogniser } from "./openai/openai-recogniser.ts";
import { TranscriptionClient } from "./openai/transcription-client.ts";
import { loadNativeLibrary } from "./pocketsphinx/native-library.ts";
import { PocketsphinxRecogniser } from "./pocketsphinx/pocketsphinx-recogniser.ts";
import type { Recogniser } from "./recogniser.ts";

/** An engine of a thread, which makes its recognisers. */
export interface OpenedEngine {
  readonly engine: SpeechEngine;
  create(): Promise<Recogniser>;
  /** Called after recognisers were closed, so that their memory can be returned to the system. */
  onShrunk?(): void;
}

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
