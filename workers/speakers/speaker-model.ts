import { createHash } from "node:crypto";
import { readdir, readFile, stat } from "node:fs/promises";
import { basename, join, resolve } from "node:path";
import { BinaryReader, WireType } from "@bufbuild/protobuf/wire";
import { errorMessage } from "../../src/base/errors.ts";

/** A network for speaker embeddings that an operator has put into a folder. */
export interface SpeakerModel {
  /** Absolute path of the ONNX file. */
  path: string;
  /** Name of the file without its ending, with the beginning of its SHA-256. */
  name: string;
  /** Length of its vectors. */
  dimension: number;
  /** Size and time of the file, by which a later change shows. */
  stamp: string;
}

/** Thrown when an operator's network cannot be used; the message says what a person can do. */
export class SpeakerModelError extends Error {
  readonly code = "speaker_model";
}

const ENDING = ".onnx";
const SAMPLE_RATE = 16_000;
const LONGEST_STEM = 80;
/** Fields of ONNX's ModelProto and of its StringStringEntryProto. */
const GRAPH = 7;
const METADATA = 14;
const KEY = 1;
const VALUE = 2;
const LISTED =
  "take one from sherpa-onnx's list of speaker recognition models, or add its metadata with sherpa-onnx's own scripts";

/**
 * Finds the network in a folder and reads what its file tells of it, without the native library,
 * which ends the whole process at many a file. Rejects with SpeakerModelError.
 */
export async function findSpeakerModel(folder: string): Promise<SpeakerModel> {
  const path = join(resolve(folder), await onlyModel(folder));
  try {
    const stamp = await stampOf(path);
    const bytes = await readFile(path);
    const dimension = checkedDimension(path, bytes);
    const digest = createHash("sha256").update(bytes).digest("hex").slice(0, 8);
    const stem = basename(path, ENDING).slice(0, LONGEST_STEM);
    return { path, name: `${stem}@${digest}`, dimension, stamp };
  } catch (error) {
    if (error instanceof SpeakerModelError) throw error;
    throw new SpeakerModelError(
      `SPEAKER_MODEL_DIR: ${path} cannot be read: ${errorMessage(error)}`,
    );
  }
}

/** Size and time of a file. */
export async function stampOf(path: string): Promise<string> {
  const { size, mtimeMs } = await stat(path);
  return `${size}:${mtimeMs}`;
}

async function onlyModel(folder: string): Promise<string> {
  const names = await readdir(folder).catch((error: unknown) => {
    throw new SpeakerModelError(
      `SPEAKER_MODEL_DIR: the folder ${folder} cannot be read (${errorMessage(error)}): name one that holds one ${ENDING} file and that the worker's user may read, or leave the setting out`,
    );
  });
  const models = names.filter((name) => name.endsWith(ENDING)).sort();
  const [model, ...others] = models;
  if (model === undefined) {
    throw new SpeakerModelError(
      `SPEAKER_MODEL_DIR: there is no ${ENDING} file in ${folder}: put one speaker embedding model into it, or leave the setting out`,
    );
  }
  if (others.length > 0) {
    throw new SpeakerModelError(
      `SPEAKER_MODEL_DIR: there are several ${ENDING} files in ${folder} (${models.join(", ")}): leave the one that is to be used`,
    );
  }
  return model;
}

/** Throws SpeakerModelError when the file is no network for speakers that hears 16 kHz. */
function checkedDimension(path: string, bytes: Uint8Array): number {
  const metadata = readMetadata(bytes);
  if (metadata === undefined) {
    throw new SpeakerModelError(
      `SPEAKER_MODEL_DIR: ${path} is no ONNX model, or not all of one: fetch it again and compare its size and checksum`,
    );
  }
  if (!metadata.get("framework")) {
    throw new SpeakerModelError(
      `SPEAKER_MODEL_DIR: ${path} has no metadata "framework", by which sherpa-onnx knows speaker embedding models: ${LISTED}`,
    );
  }
  const rate = Number(metadata.get("sample_rate"));
  if (rate !== SAMPLE_RATE) {
    const told = metadata.get("sample_rate") ?? "nothing";
    throw new SpeakerModelError(
      `SPEAKER_MODEL_DIR: ${path} is for ${told} Hz by its metadata "sample_rate", and ${SAMPLE_RATE} is needed: ${LISTED}`,
    );
  }
  const dimension = Number(metadata.get("output_dim"));
  if (!Number.isSafeInteger(dimension) || dimension < 1) {
    throw new SpeakerModelError(
      `SPEAKER_MODEL_DIR: ${path} does not tell the length of its vectors in its metadata "output_dim": ${LISTED}`,
    );
  }
  return dimension;
}

/** The metadata of an ONNX file; undefined when it is none. The network itself is passed over. */
function readMetadata(bytes: Uint8Array): Map<string, string> | undefined {
  const metadata = new Map<string, string>();
  let hasGraph = false;
  try {
    const reader = new BinaryReader(bytes);
    while (reader.pos < reader.len) {
      const [field, type] = reader.tag();
      if (field === METADATA && type === WireType.LengthDelimited) {
        const [key, value] = readEntry(reader.bytes());
        metadata.set(key, value);
      } else {
        hasGraph ||= field === GRAPH && type === WireType.LengthDelimited;
        reader.skip(type, field);
      }
    }
  } catch {
    return undefined;
  }
  return hasGraph ? metadata : undefined;
}

function readEntry(bytes: Uint8Array): [key: string, value: string] {
  const reader = new BinaryReader(bytes);
  let key = "";
  let value = "";
  while (reader.pos < reader.len) {
    const [field, type] = reader.tag();
    if (field === KEY) key = reader.string();
    else if (field === VALUE) value = reader.string();
    else reader.skip(type, field);
  }
  return [key, value];
}
