import { readdirSync } from "node:fs";
import { join } from "node:path";
import { AppError, errorMessage } from "../../../src/base/errors.ts";
import type { SherpaSettings } from "../engine-settings.ts";
import { MODEL_FILES, type SherpaType } from "../sherpa-types.ts";

/** A model that lies complete in its folder. */
export interface SherpaModel {
  /** The configuration of its recogniser, as the package wants it. */
  config: object;
  isStreaming: boolean;
  /** The configuration for punctuation, when a model for it was given. */
  punctuation?: object;
}

/**
 * Finds the files of an engine's model. Throws AppError `engine_unavailable`, which names the file
 * that is missing and what brings it; folders are named by their last part only.
 */
export function findSherpaModel(settings: SherpaSettings, threads = 1): SherpaModel {
  const { type, folder, name } = settings;
  const names = namesIn(folder, name);
  const tokens = names.find((each) => each.endsWith("tokens.txt"));
  if (tokens === undefined) throw missing(name, "tokens.txt");
  const found: Record<string, string> = {};
  for (const [part, begin] of Object.entries(MODEL_FILES[type])) {
    found[part] = join(folder, fileOf(names, type, part, begin, name));
  }
  const common = { tokens: join(folder, tokens), numThreads: threads, provider: "cpu", debug: 0 };
  const model = { ...modelConfig(settings, found), ...common };
  const featConfig = { sampleRate: 16_000, featureDim: 80 };
  return {
    isStreaming: type.startsWith("streaming-"),
    config: { featConfig, modelConfig: model, decodingMethod: "greedy_search" },
    ...punctuationOf(settings, threads),
  };
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

function fileOf(
  names: readonly string[],
  type: SherpaType,
  part: string,
  begin: string,
  name: string,
): string {
  const networks = names.filter((each) => each.endsWith(".onnx"));
  // Whisper's files carry the size before the part: tiny.en-encoder.int8.onnx.
  const fitting = networks.filter((each) =>
    type === "whisper" ? each.includes(part) : each.startsWith(begin),
  );
  const small = fitting.find((each) => each.endsWith(".int8.onnx"));
  const file = small ?? fitting[0];
  if (file !== undefined) return file;
  throw missing(name, type === "whisper" ? `*${part}*.onnx` : `${begin}*.onnx`);
}

function missing(name: string, file: string): AppError {
  return new AppError(
    "engine_unavailable",
    `The file ${file} is missing in the folder of the model of "${name}": voice models verify tells what else is, voice models pull brings it.`,
  );
}

function modelConfig({ type, languages }: SherpaSettings, files: Record<string, string>): object {
  const [language = "en"] = languages;
  switch (type) {
    case "streaming-transducer":
      return { transducer: files };
    case "streaming-ctc":
      return { zipformer2Ctc: files };
    case "whisper":
      return { whisper: { ...files, language, task: "transcribe" } };
    case "moonshine":
      return { moonshine: files };
    case "nemo-transducer":
      return { transducer: files, modelType: "nemo_transducer" };
    case "sense-voice":
      return { senseVoice: { ...files, language: "auto", useInverseTextNormalization: 1 } };
  }
}

function punctuationOf(
  { punctuation_folder: folder, name }: SherpaSettings,
  numThreads: number,
): Pick<SherpaModel, "punctuation"> {
  if (folder === undefined) return {};
  const file = namesIn(folder, name).find((each) => each.endsWith(".onnx"));
  if (file === undefined) throw missing(name, "*.onnx for punctuation");
  const model = { ctTransformer: join(folder, file), numThreads, provider: "cpu", debug: 0 };
  return { punctuation: { model } };
}
