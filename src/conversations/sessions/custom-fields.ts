import { Type } from "@sinclair/typebox";
import { AppError, shown } from "../../base/errors.ts";

/** What a program keeps with a session to find it again. */
export interface CustomFields {
  /** The program's own id of the session, unique within the workspace. */
  externalId?: string | undefined;
  metadata: Readonly<Record<string, string>>;
  tags: readonly string[];
}

const EXTERNAL_ID_BYTES = 256;
const KEYS = 16;
const KEY_BYTES = 64;
const VALUE_BYTES = 512;
const METADATA_BYTES = 2_048;
const TAGS = 20;
const TAG_BYTES = 64;
/** Neither could be told from nothing in a list or a query. */
const CONTROL = /\p{Cc}|\p{Cs}/u;

const externalId = Type.String({
  minLength: 1,
  maxLength: EXTERNAL_ID_BYTES,
  description: `The caller's own id of the session, at most ${EXTERNAL_ID_BYTES} bytes of UTF-8, unique within its workspace (409 \`external_id_taken\`) until the session is deleted`,
  examples: ["call-2026-000117"],
});
export const metadataSchema = Type.Record(Type.String(), Type.String(), {
  maxProperties: KEYS,
  description: `Up to ${KEYS} texts of at most ${VALUE_BYTES} bytes by keys of at most ${KEY_BYTES}, together ${METADATA_BYTES / 1024} kB`,
  examples: [{ customer: "acme", channel: "phone" }],
});
export const tagsSchema = Type.Array(Type.String(), {
  maxItems: TAGS,
  description: `Up to ${TAGS} of at most ${TAG_BYTES} bytes each`,
  examples: [["support", "berlin"]],
});

/** Members of the body that makes a session. */
export const newCustomFields = {
  external_id: Type.Optional(externalId),
  metadata: Type.Optional(metadataSchema),
  tags: Type.Optional(tagsSchema),
};

/** Members of the body that changes one. */
export const changedCustomFields = {
  external_id: Type.Optional(Type.Union([externalId, Type.Null()], { description: "null: none" })),
  metadata: Type.Optional(metadataSchema),
  tags: Type.Optional(tagsSchema),
};

interface SentFields {
  external_id?: string | null | undefined;
  metadata?: Record<string, string> | undefined;
  tags?: string[] | undefined;
}

/** Throws `invalid_body` for what is longer than it may be, in bytes, or holds control characters. */
export function assertCustomFields({
  external_id: id,
  metadata = {},
  tags = [],
}: SentFields): void {
  if (typeof id === "string") assertText("external_id", id, EXTERNAL_ID_BYTES);
  const entries = Object.entries(metadata);
  for (const [key, value] of entries) {
    if (key === "") throw new AppError("invalid_body", "A key of `metadata` is empty.");
    assertText("A key of `metadata`", key, KEY_BYTES);
    assertText(`metadata.${shown(key)}`, value, VALUE_BYTES);
  }
  const bytes = entries.reduce((sum, [key, value]) => sum + bytesOf(key) + bytesOf(value), 0);
  if (bytes > METADATA_BYTES) {
    const message = `\`metadata\` may hold ${METADATA_BYTES} bytes of keys and values, this one holds ${bytes}.`;
    throw new AppError("invalid_body", message);
  }
  for (const tag of tags) {
    if (tag === "") throw new AppError("invalid_body", "One of `tags` is empty.");
    assertText("One of `tags`", tag, TAG_BYTES);
  }
}

/** The fields of a new session. Throws like `assertCustomFields`. */
export function toCustomFields(sent: SentFields): CustomFields {
  assertCustomFields(sent);
  const { external_id: id, metadata = {}, tags = [] } = sent;
  return { externalId: id ?? undefined, metadata, tags: unique(tags) };
}

export function unique(tags: readonly string[]): string[] {
  return [...new Set(tags)];
}

function assertText(what: string, text: string, most: number): void {
  if (CONTROL.test(text)) {
    throw new AppError("invalid_body", `${what} holds a control character.`);
  }
  const bytes = bytesOf(text);
  if (bytes <= most) return;
  throw new AppError("invalid_body", `${what} may have ${most} bytes, this one has ${bytes}.`);
}

function bytesOf(text: string): number {
  return Buffer.byteLength(text, "utf8");
}
