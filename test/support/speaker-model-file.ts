import { BinaryWriter, WireType } from "@bufbuild/protobuf/wire";

/** Bands of the mel filter bank that sherpa-onnx gives to a network of WeSpeaker's kind. */
const BANDS = 80;
const DIMENSION = 24;

/** What sherpa-onnx reads of a file before it uses the network in it. */
const METADATA = {
  framework: "wespeaker",
  language: "any",
  sample_rate: "16000",
  output_dim: String(DIMENSION),
  normalize_samples: "0",
};

export type Fill = (to: BinaryWriter) => void;

export function message(to: BinaryWriter, field: number, fill: Fill): void {
  fill(to.tag(field, WireType.LengthDelimited).fork());
  to.join();
}

export function text(to: BinaryWriter, field: number, value: string): void {
  to.tag(field, WireType.LengthDelimited).string(value);
}

export function whole(to: BinaryWriter, field: number, value: number): void {
  to.tag(field, WireType.Varint).int64(value);
}

export function node(
  to: BinaryWriter,
  operation: string,
  inputs: readonly string[],
  output: string,
): void {
  for (const input of inputs) text(to, 1, input);
  text(to, 2, output);
  text(to, 4, operation);
}

/** An attribute of whole numbers, one or a list of them. */
export function attribute(to: BinaryWriter, name: string, value: number | readonly number[]): void {
  message(to, 5, (inner) => {
    text(inner, 1, name);
    if (typeof value === "number") whole(inner, 3, value);
    else for (const each of value) whole(inner, 8, each);
    whole(inner, 20, typeof value === "number" ? 2 : 7);
  });
}

/** A tensor of 32-bit floats whose sizes are numbers, or names of what is known at run time only. */
function port(to: BinaryWriter, field: number, name: string, sizes: readonly (number | string)[]) {
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
        whole(tensor, 1, 1);
        message(tensor, 2, shape);
      }),
    );
  });
}

/** Cosines of the bands, without the constant one, so that loudness does not count. */
function cosines(scale: number): Float32Array {
  return Float32Array.from({ length: BANDS * DIMENSION }, (_, at) => {
    const band = Math.floor(at / DIMENSION);
    return scale * Math.cos((Math.PI * ((at % DIMENSION) + 1) * (band + 0.5)) / BANDS);
  });
}

/** The mean of log-mel frames over time, as cepstra: `features [N, T, 80] → embedding [N, 24]`. */
function graph(to: BinaryWriter, { pooling, scale }: Required<SpeakerNetwork>): void {
  message(to, 1, (mean) => {
    node(mean, pooling, ["features"], "mean");
    attribute(mean, "axes", [1]);
    attribute(mean, "keepdims", 0);
  });
  message(to, 1, (product) => node(product, "MatMul", ["mean", "cosines"], "embedding"));
  text(to, 2, "mean cepstrum");
  message(to, 5, (weights) => {
    whole(weights, 1, BANDS);
    whole(weights, 1, DIMENSION);
    whole(weights, 2, 1);
    text(weights, 8, "cosines");
    weights.tag(9, WireType.LengthDelimited).bytes(new Uint8Array(cosines(scale).buffer));
  });
  port(to, 11, "features", ["N", "T", BANDS]);
  port(to, 12, "embedding", ["N", DIMENSION]);
}

interface SpeakerNetwork {
  /** The operation over time. */
  pooling?: string;
  /** By what each weight is multiplied. */
  scale?: number;
}

/**
 * An ONNX file (8 kB) that sherpa-onnx takes as a speaker embedding model. It is no trained network:
 * its vectors are mean cepstra, which is enough to go the whole way from samples to vectors. What is
 * undefined in `metadata` is left out of the file.
 */
export function makeSpeakerModel(
  metadata: Readonly<Record<string, string | undefined>> = {},
  { pooling = "ReduceMean", scale = 1 }: SpeakerNetwork = {},
): Uint8Array {
  const file = new BinaryWriter();
  whole(file, 1, 7);
  message(file, 7, (to) => graph(to, { pooling, scale }));
  message(file, 8, (operators) => {
    text(operators, 1, "");
    whole(operators, 2, 13);
  });
  for (const [key, value] of Object.entries({ ...METADATA, ...metadata })) {
    if (value === undefined) continue;
    message(file, 14, (entry) => {
      text(entry, 1, key);
      text(entry, 2, value);
    });
  }
  return file.finish();
}
