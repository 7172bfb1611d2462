import { BinaryReader, WireType } from "@bufbuild/protobuf/wire";

/** Numbers of the fields of onnx.proto that lead to weights. */
const MODEL_GRAPH = 7;
const GRAPH_INITIALIZER = 5;
const TENSOR_DATA_TYPE = 2;
const TENSOR_NAME = 8;
const TENSOR_RAW_DATA = 9;
const FLOAT32 = 1;

/** The float32 weights of an ONNX file, by name; of other types and forms of data none is read. */
export function readOnnxWeights(file: Uint8Array): Map<string, Float32Array> {
  const weights = new Map<string, Float32Array>();
  for (const graph of fieldsOf(file, MODEL_GRAPH)) {
    for (const tensor of fieldsOf(graph, GRAPH_INITIALIZER)) {
      const [raw] = fieldsOf(tensor, TENSOR_RAW_DATA);
      const [name] = fieldsOf(tensor, TENSOR_NAME);
      if (raw === undefined || name === undefined || typeOf(tensor) !== FLOAT32) continue;
      // A copy, because numbers must lie at multiples of their size.
      const bytes = Uint8Array.from(raw);
      weights.set(Buffer.from(name).toString("utf8"), new Float32Array(bytes.buffer));
    }
  }
  return weights;
}

function typeOf(tensor: Uint8Array): number {
  const reader = new BinaryReader(tensor);
  while (reader.pos < reader.len) {
    const [field, type] = reader.tag();
    if (field === TENSOR_DATA_TYPE && type === WireType.Varint) return reader.int32();
    reader.skip(type);
  }
  return 0;
}

function fieldsOf(message: Uint8Array, wanted: number): Uint8Array[] {
  const found: Uint8Array[] = [];
  const reader = new BinaryReader(message);
  while (reader.pos < reader.len) {
    const [field, type] = reader.tag();
    if (field === wanted && type === WireType.LengthDelimited) found.push(reader.bytes());
    else reader.skip(type);
  }
  return found;
}
