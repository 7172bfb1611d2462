/**
 * The files of each type of model, by the beginning of their names, as sherpa-onnx publishes them.
 * Of a file that is there as 8-bit numbers too (`.int8.onnx`), that one is taken.
 */
export const MODEL_FILES = {
  "nemo-transducer": { encoder: "encoder", decoder: "decoder", joiner: "joiner" },
  "sense-voice": { model: "model" },
} as const;

type SherpaType = keyof typeof MODEL_FILES;

export const SHERPA_TYPES = Object.keys(MODEL_FILES) as SherpaType[];
