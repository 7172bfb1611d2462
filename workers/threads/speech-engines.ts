import { AppError, errorMessage } from "../../src/base/errors.ts";
import { MOONSHINE } from "../../src/wire/speech-engines.ts";
import type { InferenceClient } from "../inference/inference-client.ts";
import { DeepgramRecogniser, describeDeepgram } from "../speech/deepgram/deepgram-recogniser.ts";
import { type EngineSettings, nameOfEngine } from "../speech/engine-settings.ts";
import { MoonshineRecogniser } from "../speech/moonshine/moonshine-recogniser.ts";
import { describeOpenAi, OpenAiRecogniser } from "../speech/openai/openai-recogniser.ts";
import { TranscriptionClient } from "../speech/openai/transcription-client.ts";
import type { OpenedEngine } from "../speech/opened-engine.ts";
import { openSherpa } from "../speech/sherpa/sherpa-engine.ts";

/** Opens an engine. Throws AppError `engine_unavailable`, which says what is missing. */
export function openEngine(
  settings: EngineSettings,
  inference: InferenceClient | undefined,
): OpenedEngine {
  try {
    switch (settings.kind) {
      case "moonshine-tiny-en": {
        if (inference === undefined) throw new Error("there are no inference threads");
        return { engine: MOONSHINE, create: async () => new MoonshineRecogniser(inference) };
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
