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
const INT64 = 7;

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

/** Weights `[…, inputs, tokens]`: each token is a cosine over the bands of the spectrum. */
function weights(to: BinaryWriter, name: string, inputs: number, before: readonly 1[] = []): void {
  const values = Float32Array.from({ length: inputs * TOKENS.length }, (_, at) => {
    const [band, token] = [Math.floor(at / TOKENS.length) % BANDS, at % TOKENS.length];
    return Math.cos((Math.PI * (token + 1) * (band + 0.5)) / BANDS);
  });
  tensor(to, name, [...before, inputs, TOKENS.length], values);
}

/** A constant of the network. */
function tensor(
  to: BinaryWriter,
  name: string,
  sizes: readonly number[],
  values: Float32Array<ArrayBuffer> | BigInt64Array<ArrayBuffer>,
): void {
  message(to, 5, (constant) => {
    for (const size of sizes) whole(constant, 1, size);
    whole(constant, 2, values instanceof Float32Array ? FLOAT : INT64);
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

function writeFolder(
  folder: string,
  networks: Readonly<Record<string, Network>>,
  tokens: readonly string[],
): void {
  mkdirSync(folder, { recursive: true });
  for (const [name, network] of Object.entries(networks)) {
    writeFileSync(join(folder, `${name}.onnx`), fileOf(network));
  }
  const lines = tokens.map((token, id) => `${token} ${id}`).join("\n");
  writeFileSync(join(folder, "tokens.txt"), `${lines}\n`);
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
  writeFolder(folder, { model: SENSE_VOICE }, TOKENS);
}

/** Frames that the encoder takes together. */
const SUBSAMPLED = 8;
/** Size of the prediction network's state and output. */
const PREDICTED = 4;
/** Frames by which each token may go on, of a token-and-duration transducer: 0 to 4. */
const DURATIONS = 5;
/** The one that it always takes. */
const DURATION = 2;

/** `outputs [N, 80, T / 8]` and their lengths: the mean of every eight frames. */
const ENCODER: Network = {
  metadata: {
    vocab_size: String(TOKENS.length - 1),
    subsampling_factor: String(SUBSAMPLED),
    normalize_type: "per_feature",
    pred_rnn_layers: "1",
    pred_hidden: String(PREDICTED),
    feat_dim: String(BANDS),
    // By this it knows that durations follow the tokens.
    url: "a tdt model",
    comment: "made for tests: it is not trained",
  },
  graph: (to) => {
    message(to, 1, (pool) => {
      node(pool, "AveragePool", ["audio_signal"], "outputs");
      attribute(pool, "kernel_shape", [SUBSAMPLED]);
      attribute(pool, "strides", [SUBSAMPLED]);
    });
    message(to, 1, (ratio) => node(ratio, "Div", ["length", "eight"], "encoded_lengths"));
    text(to, 2, "frames to fewer");
    tensor(to, "eight", [1], BigInt64Array.of(BigInt(SUBSAMPLED)));
    port(to, 11, "audio_signal", FLOAT, ["N", BANDS, "T"]);
    port(to, 11, "length", INT64, ["N"]);
    port(to, 12, "outputs", FLOAT, ["N", BANDS, "T8"]);
    port(to, 12, "encoded_lengths", INT64, ["N"]);
  },
};

/** Predicts nothing and keeps its state. */
const DECODER: Network = {
  metadata: {},
  graph: (to) => {
    const kept = [
      ["nothing", "outputs"],
      ["target_length", "prednet_lengths"],
      ["states.1", "next.1"],
      ["states.2", "next.2"],
    ] as const;
    for (const [from, into] of kept) {
      message(to, 1, (same) => node(same, "Identity", [from], into));
    }
    text(to, 2, "tokens to nothing");
    tensor(to, "nothing", [1, PREDICTED, 1], new Float32Array(PREDICTED));
    port(to, 11, "targets", INT32, ["N", "U"]);
    port(to, 11, "target_length", INT32, ["N"]);
    for (const name of ["states.1", "states.2"]) port(to, 11, name, FLOAT, [1, "N", PREDICTED]);
    port(to, 12, "outputs", FLOAT, [1, PREDICTED, 1]);
    port(to, 12, "prednet_lengths", INT32, ["N"]);
    for (const name of ["next.1", "next.2"]) port(to, 12, name, FLOAT, [1, "N", PREDICTED]);
  },
};

/** `[1, 1, 1, tokens + durations]` from a frame of the encoder. */
const JOINER: Network = {
  metadata: {},
  graph: (to) => {
    message(to, 1, (turned) => {
      node(turned, "Transpose", ["encoder_outputs"], "frame");
      attribute(turned, "perm", [0, 2, 1]);
    });
    message(to, 1, (product) => node(product, "MatMul", ["frame", "weights"], "tokens"));
    message(to, 1, (joint) => {
      node(joint, "Concat", ["tokens", "durations"], "logits");
      attribute(joint, "axis", 3);
    });
    text(to, 2, "frames to tokens");
    weights(to, "weights", BANDS, [1, 1]);
    const durations = Float32Array.from({ length: DURATIONS }, (_, n) => (n === DURATION ? 1 : 0));
    tensor(to, "durations", [1, 1, 1, DURATIONS], durations);
    port(to, 11, "encoder_outputs", FLOAT, [1, BANDS, 1]);
    port(to, 11, "decoder_outputs", FLOAT, [1, PREDICTED, 1]);
    port(to, 12, "logits", FLOAT, [1, 1, 1, TOKENS.length + DURATIONS]);
  },
};

/**
 * Writes a folder that sherpa-onnx takes as a transducer of NeMo with tokens and durations, of the shape
 * of Parakeet: encoder, prediction network and joint network, blank as the last token.
 */
export function writeNemoTransducer(folder: string): void {
  const [blank = "", ...tokens] = TOKENS;
  const networks = { encoder: ENCODER, decoder: DECODER, joiner: JOINER };
  writeFolder(folder, networks, [...tokens, blank]);
}
