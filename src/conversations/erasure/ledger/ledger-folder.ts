import { createHmac, timingSafeEqual } from "node:crypto";
import { z } from "zod";
import { toTimestamp } from "../../../base/clock.ts";
import { AppError } from "../../../base/errors.ts";
import { isId } from "../../../base/ids.ts";
import { fingerprintOf } from "../../../tenancy/accounts/signing-keys.ts";
import type { NamedTexts } from "../../recording/audio-store/audio-store.ts";

/** Why a session was deleted: the kind of its audit entry. */
export const SESSION_ERASURES = [
  "session_deleted_by_owner",
  "session_deleted_by_admin",
  "account_erasure_session_redacted",
  "retention_session_redacted",
] as const;

/** Rights that ended for good: keys of devices, of programs and their single secrets, and sign-ins. */
const ENDED_RIGHTS = [
  "device_key_ended",
  "service_key_ended",
  "service_secret_ended",
  "sign_in_ended",
] as const;

export const erasureKind = z.enum([
  ...SESSION_ERASURES,
  "account_erased",
  "span_redacted",
  "voice_forgotten",
  ...ENDED_RIGHTS,
]);

/** What the command of a redaction says, besides its id. Positions are samples at 16 kHz. */
export const redactionShape = z.object({
  sessionId: z.string(),
  from: z.number(),
  to: z.number(),
  /** Empty: all speakers. */
  label: z.string(),
  byUserId: z.string(),
});

/** One erasure; `id` is that of the session, the account, the redaction, the remembered voice or the right. */
export interface LedgerEntry {
  id: string;
  kind: z.output<typeof erasureKind>;
  redaction?: z.output<typeof redactionShape> | undefined;
  /** Unix milliseconds; of a right when it ends, which may be a day ahead. */
  at: number;
}

/** A file of the ledger: each process writes a chain of them, numbered from 1. */
export interface LedgerFileId {
  chain: string;
  number: number;
}

export interface LedgerFile extends LedgerFileId {
  /** Time of the file before it in its chain, or of the chain's beginning; Unix milliseconds. */
  since: number;
  at: number;
  /** The last files of other chains, as far as the writer knew: none may be missing. */
  after: readonly (LedgerFileId & { at: number })[];
  entries: readonly LedgerEntry[];
}

/** `foreign`: of another key; `forged`: not as it was written; `unreadable`: no such file at all. */
export type Refusal = "foreign" | "forged" | "unreadable";

const NAME = /^([0-9a-f-]{36})-(\d{6,9})\.json$/;
/** Ours have some 60 KB at most. */
const MOST_BYTES = 2 ** 20;

const id = z.string().refine(isId);
const number = z.number().int().positive();
const instant = z
  .string()
  .datetime()
  .transform((text) => Date.parse(text));
const content = z.object({
  version: z.literal(1),
  chain: id,
  number,
  since: instant,
  at: instant,
  after: z.array(z.object({ chain: id, number, at: instant })),
  entries: z.array(
    z.object({ id, kind: erasureKind, at: instant, redaction: redactionShape.optional() }),
  ),
});
const signature = z.object({ key: z.string(), mac: z.string() });

interface LedgerFolderOptions {
  files: NamedTexts;
  /** HMAC key, 32 bytes. */
  key: Uint8Array;
}

/**
 * The ledger's files, in `erasures` beside the audio. A file is written once, whole and durably, under
 * a name that no other one has, and never changed: ledgers are merged by copying their files together.
 * The first line is the content, the second its HMAC-SHA256.
 */
export class LedgerFolder {
  readonly #files: NamedTexts;
  readonly #key: Uint8Array;
  readonly #fingerprint: string;

  constructor({ files, key }: LedgerFolderOptions) {
    this.#files = files;
    this.#key = key;
    this.#fingerprint = fingerprintOf(key);
  }

  /** Where they are, for people. */
  get path(): string {
    return this.#files.address;
  }

  start(): Promise<void> {
    return this.#files.start();
  }

  /** All files there are, in no order. */
  async list(): Promise<LedgerFileId[]> {
    return (await this.#files.list()).flatMap((name) => {
      const [, chain, digits] = NAME.exec(name) ?? [];
      return chain === undefined ? [] : [{ chain, number: Number(digits) }];
    });
  }

  /** Asks for the one file, whose name a list may not have yet. */
  has(file: LedgerFileId): Promise<boolean> {
    return this.#files.has(nameOf(file));
  }

  /** Undefined when it is not there (any more). */
  async read(file: LedgerFileId): Promise<LedgerFile | Refusal | undefined> {
    const text = await this.#files.read(nameOf(file), MOST_BYTES);
    return text === undefined ? undefined : this.#verified(file, text);
  }

  /** Resolves when it is durable. Throws `unavailable` or `storage_full`. */
  async write(file: LedgerFile): Promise<void> {
    const text = JSON.stringify({
      version: 1,
      ...file,
      since: toTimestamp(file.since),
      at: toTimestamp(file.at),
      after: file.after.map((each) => ({ ...each, at: toTimestamp(each.at) })),
      entries: file.entries.map((each) => ({ ...each, at: toTimestamp(each.at) })),
    });
    const mac = this.#mac(text).toString("base64url");
    const signed = JSON.stringify({ key: this.#fingerprint, mac });
    if (await this.#files.writeOnce(nameOf(file), `${text}\n${signed}\n`)) return;
    throw new AppError("unavailable", "Another file of the ledger has this name.");
  }

  #verified(id: LedgerFileId, text: string): LedgerFile | Refusal {
    const [line = "", second = ""] = text.split("\n");
    const signed = signature.safeParse(parsed(second));
    if (!signed.success) return "unreadable";
    if (signed.data.key !== this.#fingerprint) return "foreign";
    const mac = Buffer.from(signed.data.mac, "base64url");
    const own = this.#mac(line);
    if (mac.length !== own.length || !timingSafeEqual(mac, own)) return "forged";
    const file = content.safeParse(parsed(line));
    if (!file.success) return "unreadable";
    const { version: _version, ...rest } = file.data;
    // A copy under another name.
    const isNamedSo = rest.chain === id.chain && rest.number === id.number;
    return isNamedSo ? rest : "forged";
  }

  #mac(text: string): Buffer {
    return createHmac("sha256", this.#key).update(text).digest();
  }
}

function nameOf({ chain, number }: LedgerFileId): string {
  return `${chain}-${String(number).padStart(6, "0")}.json`;
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
