import { readdirSync } from "node:fs";
import { join } from "node:path";
import { AppError, errorMessage } from "../../../src/base/errors.ts";
import type { SherpaSettings } from "../engine-schemas.ts";
import { MODEL_FILES } from "../sherpa-types.ts";

/**
 * The configuration of an engine's model, as the package wants it, from the files in its folder. Throws AppError `engine_unavailable`, which names the file
 * that is missing and what brings it; folders are named by their last part only.
 */
export function findSherpaModel(settings: SherpaSettings): object {
  const { type, folder, name, threads = 1 } = settings;
  const names = namesIn(folder, name);
  const tokens = names.find((each) => each.endsWith("tokens.txt"));
  if (tokens === undefined) throw missing(name, "tokens.txt");
  const found: Record<string, string> = {};
  for (const [part, begin] of Object.entries(MODEL_FILES[type])) {
    found[part] = join(folder, fileOf(names, begin, name));
  }
  // The published builds of the package have no other provider.
  const common = { tokens: join(folder, tokens), numThreads: threads, provider: "cpu", debug: 0 };
  const modelConfig = { ...networksOf(settings, found), ...common };
  const featConfig = { sampleRate: 16_000, featureDim: 80 };
  return { featConfig, modelConfig, decodingMethod: "greedy_search" };
}

function namesIn(folder: string, name: string): string[] {
  try {
    return readdirSync(folder).sort();
  } catch (error) {
    const code = (error as { code?: unknown }).code;
    throw new AppError(
      "engine_unavailable",
      `The folder of the model of "${name}" cannot be read (${String(code ?? errorMessage(error))}): voice models pull brings a model.`,
    );
  }
}

function fileOf(names: readonly string[], begin: string, name: string): string {
  const fitting = names.filter((each) => each.startsWith(begin) && each.endsWith(".onnx"));
  const small = fitting.find((each) => each.endsWith(".int8.onnx"));
  const file = small ?? fitting[0];
  if (file !== undefined) return file;
  throw missing(name, `${begin}*.onnx`);
}

function missing(name: string, file: string): AppError {
  return new AppError(
    "engine_unavailable",
    `The file ${file} is missing in the folder of the model of "${name}": voice models verify tells what else is, voice models pull brings it.`,
  );
}

/** SenseVoice finds out the language by itself unless the engine is there for one only. */
function networksOf({ type, languages }: SherpaSettings, files: Record<string, string>): object {
  switch (type) {
    case "nemo-transducer":
      return { transducer: files, modelType: "nemo_transducer" };
    case "sense-voice": {
      const language = languages.length === 1 ? languages[0] : "auto";
      return { senseVoice: { ...files, language, useInverseTextNormalization: 1 } };
    }
  }
}
