import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { BinaryWriter, WireType } from "@bufbuild/protobuf/wire";
import { attribute, type Fill, message, node, text, whole } from "./onnx-file.ts";

/** Mel bands of a frame, and frames that are stacked to one input of the network. */
const BANDS = 80;
const STACKED = 7;
const INPUTS = BANDS * STACKED;
const FLOAT = 1;
const INT32 = 6;

/** What the network can say; `<blk>` is nothing. */
export const TOKENS = ["<blk>", "▁tell", "▁me", "▁mo", "re", "▁now", "▁and", "▁then"];

/** What sherpa-onnx reads of a SenseVoice file before it uses the network in it. */
const SENSE_VOICE_METADATA = {
  vocab_size: String(TOKENS.length),
  lfr_window_size: String(STACKED),
  lfr_window_shift: "6",
  normalize_samples: "0",
  with_itn: "14",
  without_itn: "15",
  lang_auto: "0",
  lang_zh: "3",
  lang_en: "4",
  lang_ja: "11",
  lang_ko: "12",
  lang_yue: "7",
  neg_mean: Array.from({ length: INPUTS }, () => "0").join(","),
  inv_stddev: Array.from({ length: INPUTS }, () => "1").join(","),
  comment: "made for tests: it is not trained",
};

function port(
  to: BinaryWriter,
  field: number,
  name: string,
  kind: number,
  sizes: readonly (number | string)[],
): void {
  const shape: Fill = (inner) => {
    for (const size of sizes) {
      message(inner, 1, (dimension) => {
        if (typeof size === "number") whole(dimension, 1, size);
        else text(dimension, 2, size);
      });
    }
  };
  message(to, field, (inner) => {
    text(inner, 1, name);
    message(inner, 2, (type) =>
      message(type, 1, (tensor) => {
        whole(tensor, 1, kind);
        message(tensor, 2, shape);
      }),
    );
  });
}

interface Network {
  metadata: Readonly<Record<string, string>>;
  graph: Fill;
}

/** Weights `[inputs, tokens]`: each token is a cosine over the bands of the spectrum. */
function weights(to: BinaryWriter, name: string, inputs: number, isZero = false): void {
  const values = Float32Array.from({ length: inputs * TOKENS.length }, (_, at) => {
    const [band, token] = [Math.floor(at / TOKENS.length) % BANDS, at % TOKENS.length];
    return isZero ? 0 : Math.cos((Math.PI * (token + 1) * (band + 0.5)) / BANDS);
  });
  tensor(to, name, [inputs, TOKENS.length], values);
}

/** A constant of the network. */
function tensor(
  to: BinaryWriter,
  name: string,
  sizes: readonly number[],
  values: Float32Array<ArrayBuffer>,
): void {
  message(to, 5, (constant) => {
    for (const size of sizes) whole(constant, 1, size);
    whole(constant, 2, FLOAT);
    text(constant, 8, name);
    constant.tag(9, WireType.LengthDelimited).bytes(new Uint8Array(values.buffer));
  });
}

function fileOf({ metadata, graph }: Network): Uint8Array {
  const file = new BinaryWriter();
  whole(file, 1, 7);
  message(file, 7, graph);
  message(file, 8, (operators) => {
    text(operators, 1, "");
    whole(operators, 2, 13);
  });
  for (const [key, value] of Object.entries(metadata)) {
    message(file, 14, (entry) => {
      text(entry, 1, key);
      text(entry, 2, value);
    });
  }
  return file.finish();
}

function writeFolder(folder: string, networks: Readonly<Record<string, Network>>): void {
  mkdirSync(folder, { recursive: true });
  for (const [name, network] of Object.entries(networks)) {
    writeFileSync(join(folder, `${name}.onnx`), fileOf(network));
  }
  const tokens = TOKENS.map((token, id) => `${token} ${id}`).join("\n");
  writeFileSync(join(folder, "tokens.txt"), `${tokens}\n`);
}

/** What SenseVoice itself puts before the sound: language, emotion, event and style. */
const PROMPTS = 4;

/** `logits [1, 4 + T, V]` from `x [1, T, 560]`. */
const SENSE_VOICE: Network = {
  metadata: SENSE_VOICE_METADATA,
  graph: (to) => {
    message(to, 1, (joint) => {
      node(joint, "Concat", ["prompts", "x"], "prompted");
      attribute(joint, "axis", 1);
    });
    message(to, 1, (product) => node(product, "MatMul", ["prompted", "weights"], "logits"));
    text(to, 2, "spectrum to tokens");
    tensor(to, "prompts", [1, PROMPTS, INPUTS], new Float32Array(PROMPTS * INPUTS));
    weights(to, "weights", INPUTS);
    port(to, 11, "x", FLOAT, [1, "T", INPUTS]);
    for (const name of ["x_length", "language", "text_norm"]) port(to, 11, name, INT32, ["N"]);
    port(to, 12, "logits", FLOAT, [1, "T4", TOKENS.length]);
  },
};

/**
 * Writes a folder that sherpa-onnx takes as a SenseVoice model (30 kB). It is no trained network: it
 * says some of its eight tokens to any sound, which is enough to go the whole way from samples to
 * words with times.
 */
export function writeSenseVoice(folder: string): void {
  writeFolder(folder, { model: SENSE_VOICE });
}
