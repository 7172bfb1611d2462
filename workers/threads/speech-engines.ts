import { AppError, errorMessage } from "../../src/base/errors.ts";
import { MOONSHINE } from "../../src/wire/speech-engines.ts";
import type { InferenceClient } from "../inference/inference-client.ts";
import type {
  DeepgramSettings,
  EngineSettings,
  OpenAiSettings,
  SherpaSettings,
} from "../speech/engine-schemas.ts";
import { nameOfEngine } from "../speech/engine-settings.ts";
import { MoonshineRecogniser } from "../speech/moonshine/moonshine-recogniser.ts";
import type { OpenedEngine } from "../speech/opened-engine.ts";

/**
 * Opens an engine; what only another engine needs is not loaded. Rejects with AppError
 * `engine_unavailable`, which says what is missing.
 */
export async function openEngine(
  settings: EngineSettings,
  inference: InferenceClient | undefined,
): Promise<OpenedEngine> {
  try {
    switch (settings.kind) {
      case "moonshine-tiny-en":
        return openMoonshine(inference);
      case "openai":
        return await openOpenAi(settings);
      case "sherpa-onnx":
        return await openSherpa(settings);
      case "deepgram":
        return await openDeepgram(settings);
    }
  } catch (error) {
    throw new AppError("engine_unavailable", `${nameOfEngine(settings)}: ${errorMessage(error)}`);
  }
}

function openMoonshine(inference: InferenceClient | undefined): OpenedEngine {
  if (inference === undefined) throw new Error("there are no inference threads");
  return {
    engine: MOONSHINE,
    create: async (share) => new MoonshineRecogniser(inference.of(share)),
  };
}

async function openOpenAi(settings: OpenAiSettings): Promise<OpenedEngine> {
  const { describeOpenAi, OpenAiRecogniser } = await import(
    "../speech/openai/openai-recogniser.ts"
  );
  const { TranscriptionClient } = await import("../speech/openai/transcription-client.ts");
  const client = new TranscriptionClient(settings);
  return {
    engine: describeOpenAi(settings),
    create: async () => new OpenAiRecogniser(settings, client),
  };
}

async function openSherpa(settings: SherpaSettings): Promise<OpenedEngine> {
  return (await import("../speech/sherpa/sherpa-engine.ts")).openSherpa(settings);
}

async function openDeepgram(settings: DeepgramSettings): Promise<OpenedEngine> {
  const { DeepgramRecogniser, describeDeepgram } = await import(
    "../speech/deepgram/deepgram-recogniser.ts"
  );
  return {
    engine: describeDeepgram(settings),
    create: async () => new DeepgramRecogniser(settings),
  };
}
