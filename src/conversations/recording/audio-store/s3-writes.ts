import { createHash } from "node:crypto";
import { type FileHandle, open } from "node:fs/promises";
import type { CompletedPart, PutObjectCommandInput, S3Client } from "@aws-sdk/client-s3";

export type Sdk = typeof import("@aws-sdk/client-s3");

/** Bytes, or a file of this machine. */
export type ObjectContent = Uint8Array | { path: string };

/** Under which condition a name is written: nobody has it, or it is still this version. */
export type WriteCondition = { once: true } | { ifMatch: string } | Record<string, never>;

/** By what requests are made; `limited` bounds the time of each. */
interface Writer {
  sdk: Sdk;
  client: S3Client;
  limited(): { abortSignal: AbortSignal };
}

/** Bucket, key, and how the server encrypts it. */
type Target = Pick<
  PutObjectCommandInput,
  "Bucket" | "Key" | "ServerSideEncryption" | "SSEKMSKeyId"
>;

/** Gives the bytes from `at` on, which never reach beyond the end. */
interface Source {
  length: number;
  part(at: number, size: number): Uint8Array | Promise<Uint8Array>;
}

/** Larger files go in parts of this length, each with its checksum; bytes. */
const PART_BYTES = 8 * 1024 * 1024;

/** Writes an object whole, in one request or in parts. Rejects with the SDK's error. */
export async function writeObject(
  writer: Writer,
  target: Target,
  content: ObjectContent,
  condition: WriteCondition,
): Promise<void> {
  if (content instanceof Uint8Array) {
    const part = (at: number, size: number) => content.subarray(at, at + size);
    await write(writer, target, { length: content.byteLength, part }, condition);
    return;
  }
  const file = await open(content.path, "r");
  try {
    const { size: length } = await file.stat();
    const part = (at: number, size: number) => readPart(file, at, size);
    await write(writer, target, { length, part }, condition);
  } finally {
    await file.close();
  }
}

async function write(
  writer: Writer,
  target: Target,
  source: Source,
  condition: WriteCondition,
): Promise<void> {
  if (source.length > PART_BYTES) {
    await writeParts(writer, target, source, condition);
    return;
  }
  const Body = await source.part(0, source.length);
  const sum = { ContentLength: Body.byteLength, ChecksumSHA256: checksumOf(Body) };
  const command = { ...target, ...conditionOf(condition), ...sum, Body };
  await writer.client.send(new writer.sdk.PutObjectCommand(command), writer.limited());
}

async function writeParts(
  { sdk, client, limited }: Writer,
  target: Target,
  source: Source,
  condition: WriteCondition,
): Promise<void> {
  const { Bucket, Key } = target;
  const begin = new sdk.CreateMultipartUploadCommand({ ...target, ChecksumAlgorithm: "SHA256" });
  const { UploadId } = await client.send(begin, limited());
  const upload = { Bucket, Key, UploadId };
  try {
    const Parts: CompletedPart[] = [];
    for (let at = 0; at < source.length; at += PART_BYTES) {
      const Body = await source.part(at, Math.min(PART_BYTES, source.length - at));
      const part = { PartNumber: Parts.length + 1, ChecksumSHA256: checksumOf(Body) };
      const command = { ...upload, ...part, Body, ContentLength: Body.byteLength };
      const { ETag } = await client.send(new sdk.UploadPartCommand(command), limited());
      Parts.push({ ...part, ETag });
    }
    const end = { ...upload, ...conditionOf(condition), MultipartUpload: { Parts } };
    await client.send(new sdk.CompleteMultipartUploadCommand(end), limited());
  } catch (error) {
    // What cannot be removed now goes by the bucket's rule for unfinished uploads.
    await client.send(new sdk.AbortMultipartUploadCommand(upload), limited()).catch(() => {});
    throw error;
  }
}

function conditionOf(condition: WriteCondition) {
  if ("once" in condition) return { IfNoneMatch: "*" };
  return "ifMatch" in condition ? { IfMatch: condition.ifMatch } : {};
}

function checksumOf(bytes: Uint8Array): string {
  return createHash("sha256").update(bytes).digest("base64");
}

async function readPart(file: FileHandle, at: number, size: number): Promise<Buffer> {
  const part = Buffer.allocUnsafe(size);
  for (let done = 0; done < size; ) {
    const { bytesRead } = await file.read(part, done, size - done, at + done);
    if (bytesRead === 0) throw new Error("A received file was cut while it was stored.");
    done += bytesRead;
  }
  return part;
}
