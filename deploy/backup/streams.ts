import { createHash } from "node:crypto";
import { promisify } from "node:util";
import { gunzip, gzip } from "node:zlib";
import { DamagedObject, type ObjectFolder } from "./objects.ts";

/** Long content in pieces: of one that only grew, as tables of events do, the old pieces are there. */
export interface StoredStream {
  /** Of the whole content, hex. */
  readonly sha256: string;
  readonly bytes: number;
  /** SHA-256 (hex) of each piece, compressed. */
  readonly pieces: string[];
}

const PIECE_BYTES = 4 * 1024 * 1024;
const LEVEL = 4;

const compressed = promisify<Uint8Array, object, Buffer>(gzip);
const expanded = promisify<Uint8Array, object, Buffer>(gunzip);

/** Cuts content into pieces of one length and puts them. */
export async function storeStream(
  objects: ObjectFolder,
  content: AsyncIterable<Uint8Array>,
): Promise<StoredStream> {
  const whole = createHash("sha256");
  const pieces: string[] = [];
  let bytes = 0;
  const put = async (piece: Uint8Array) => {
    const { sha256 } = await objects.putBytes(await compressed(piece, { level: LEVEL }));
    pieces.push(sha256);
  };
  let held: Uint8Array[] = [];
  let size = 0;
  for await (const part of content) {
    whole.update(part);
    bytes += part.byteLength;
    held.push(part);
    size += part.byteLength;
    if (size < PIECE_BYTES) continue;
    let rest: Uint8Array = Buffer.concat(held);
    for (; rest.byteLength >= PIECE_BYTES; rest = rest.subarray(PIECE_BYTES)) {
      await put(rest.subarray(0, PIECE_BYTES));
    }
    held = [rest];
    size = rest.byteLength;
  }
  if (size > 0) await put(Buffer.concat(held));
  return { sha256: whole.digest("hex"), bytes, pieces };
}

/** The content again. Throws `DamagedObject`, at its end at the latest. */
export async function* readStream(
  objects: ObjectFolder,
  { sha256, pieces }: StoredStream,
): AsyncGenerator<Uint8Array> {
  const whole = createHash("sha256");
  for (const piece of pieces) {
    const parts: Uint8Array[] = [];
    for await (const part of objects.read(piece)) parts.push(part);
    const content = await expanded(Buffer.concat(parts), { maxOutputLength: PIECE_BYTES });
    whole.update(content);
    yield content;
  }
  if (whole.digest("hex") !== sha256) throw new DamagedObject("It was put together wrongly.");
}

/** Its lines, without their ends. */
export async function* linesOf(content: AsyncIterable<Uint8Array>): AsyncGenerator<string> {
  let rest = "";
  const decoder = new TextDecoder();
  for await (const piece of content) {
    const lines = (rest + decoder.decode(piece, { stream: true })).split("\n");
    rest = lines.pop() ?? "";
    yield* lines;
  }
  if (rest !== "") yield rest;
}
