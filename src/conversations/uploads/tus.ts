import { AppError } from "../../base/errors.ts";

/** The resumable upload protocol tus, see https://tus.io/protocols/resumable-upload. */
export const TUS_VERSION = "1.0.0";
export const TUS_EXTENSIONS = "creation,checksum,expiration,termination";
/** Media type of the bytes that a PATCH brings. */
export const TUS_BYTES = "application/offset+octet-stream";
/** Digests by the protocol's names of them, which are those of Node's as well. */
export const CHECKSUM_ALGORITHMS = ["sha256", "sha1"] as const;

type Headers = Readonly<Record<string, string>>;
type Algorithm = (typeof CHECKSUM_ALGORITHMS)[number];

/** A digest of the bytes of one PATCH. */
export interface Checksum {
  algorithm: Algorithm;
  digest: Buffer;
}

const MOST_METADATA = 4_096;

/** Throws `precondition_failed` for another version of the protocol than ours. */
export function assertVersion(headers: Headers): void {
  if (headers["tus-resumable"] === TUS_VERSION) return;
  const message = `Send \`Tus-Resumable: ${TUS_VERSION}\`: no other version of the protocol is known here.`;
  throw new AppError("precondition_failed", message);
}

/** `Upload-Length` in bytes. Throws `invalid_parameter`, and `payload_too_large` beyond `most`. */
export function readLength(headers: Headers, most: number): number {
  if (headers["upload-defer-length"] !== undefined) {
    const message = "`Upload-Defer-Length` is not known here: say the file's `Upload-Length`.";
    throw new AppError("invalid_parameter", message);
  }
  const length = readCount(headers, "Upload-Length");
  if (length === 0) throw new AppError("invalid_parameter", "The file is empty.");
  if (length <= most) return length;
  throw new AppError("payload_too_large", `A file may have ${most} bytes, this one has ${length}.`);
}

/** `Upload-Offset` in bytes. Throws `invalid_parameter`. */
export function readOffset(headers: Headers): number {
  return readCount(headers, "Upload-Offset");
}

function readCount(headers: Headers, name: string): number {
  const text = headers[name.toLowerCase()] ?? "";
  const count = /^\d{1,15}$/.test(text) ? Number(text) : Number.NaN;
  if (!Number.isNaN(count)) return count;
  throw new AppError("invalid_parameter", `\`${name}\` must be a number of bytes.`);
}

/** The texts of `Upload-Metadata` by their keys. Throws `invalid_parameter`. */
export function readMetadata(headers: Headers): Readonly<Record<string, string>> {
  const text = headers["upload-metadata"] ?? "";
  const malformed = () =>
    new AppError(
      "invalid_parameter",
      "`Upload-Metadata` must be keys and values in Base64, separated by commas.",
    );
  if (text.length > MOST_METADATA) throw malformed();
  const found: Record<string, string> = {};
  for (const pair of text.split(",")) {
    const [key = "", value = "", ...rest] = pair.trim().split(" ");
    if (key === "" && value === "") continue;
    if (rest.length > 0 || !/^[A-Za-z0-9+/]*={0,2}$/.test(value)) throw malformed();
    const decoded = Buffer.from(value, "base64").toString("utf8");
    if (decoded.includes("\u0000")) throw malformed();
    found[key.toLowerCase()] = decoded;
  }
  return found;
}

/** `Upload-Checksum`, if there is one. Throws `invalid_parameter`. */
export function readChecksum(headers: Headers): Checksum | undefined {
  const text = headers["upload-checksum"];
  if (text === undefined) return undefined;
  const [name, value = ""] = text.split(" ");
  const algorithm = CHECKSUM_ALGORITHMS.find((each) => each === name);
  if (algorithm === undefined) {
    const known = CHECKSUM_ALGORITHMS.join(", ");
    throw new AppError("invalid_parameter", `\`Upload-Checksum\` may be of ${known}.`);
  }
  return { algorithm, digest: Buffer.from(value, "base64") };
}
