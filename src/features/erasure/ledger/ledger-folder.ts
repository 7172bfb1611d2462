import { createHmac, timingSafeEqual } from "node:crypto";
import { link, mkdir, open, readdir, readFile, rm, stat } from "node:fs/promises";
import { join } from "node:path";
import { z } from "zod";
import { toTimestamp } from "../../../base/clock.ts";
import { errnoOf, systemFault } from "../../../base/errors.ts";
import { isId, newId } from "../../../base/ids.ts";
import { fingerprintOf } from "../../accounts/signing-keys.ts";

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

/** One erasure; `id` is that of the session, the account, the redaction or the right. */
export interface LedgerEntry {
  id: string;
  kind: z.output<typeof erasureKind>;
  redaction?: z.output<typeof redactionShape> | undefined;
  /** Unix milliseconds; of a right when it ends, which may be a day ahead. */
  at: number;
}

/** A file of the ledger: each process writes a chain of them, numbered from 1. */
export interface FilePlace {
  chain: string;
  number: number;
}

export interface LedgerFile extends FilePlace {
  /** Time of the file before it in its chain, or of the chain's beginning; Unix milliseconds. */
  since: number;
  at: number;
  /** The last files of other chains, as far as the writer knew: none may be missing. */
  after: readonly (FilePlace & { at: number })[];
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
const seal = z.object({ key: z.string(), mac: z.string() });

interface LedgerFolderOptions {
  /** Where the audio is. */
  audioFolder: string;
  /** On the same file system; what lies there for an hour is removed by others. */
  temporaryFolder: string;
  /** HMAC key, 32 bytes. */
  key: Uint8Array;
}

/**
 * The ledger's files, in `erasures` beside the audio. A file is written once, whole and durably, under
 * a name that no other one has, and never changed: ledgers are merged by copying their files together.
 * The first line is the content, the second its HMAC-SHA256.
 */
export class LedgerFolder {
  readonly path: string;
  readonly #temporaryFolder: string;
  readonly #key: Uint8Array;
  readonly #fingerprint: string;

  constructor({ audioFolder, temporaryFolder, key }: LedgerFolderOptions) {
    this.path = join(audioFolder, "erasures");
    this.#temporaryFolder = temporaryFolder;
    this.#key = key;
    this.#fingerprint = fingerprintOf(key);
  }

  async start(): Promise<void> {
    await mkdir(this.path, { recursive: true, mode: 0o700 });
  }

  /** All files there are, in no order. */
  async list(): Promise<FilePlace[]> {
    return (await readdir(this.path)).flatMap((name) => {
      const [, chain, digits] = NAME.exec(name) ?? [];
      return chain === undefined ? [] : [{ chain, number: Number(digits) }];
    });
  }

  /** Asks for the one file: lists of network file systems may be some seconds old. */
  async has(place: FilePlace): Promise<boolean> {
    try {
      await stat(this.#pathOf(place));
      return true;
    } catch (error) {
      if (errnoOf(error) !== "ENOENT") throw error;
      return false;
    }
  }

  /** Undefined when it is not there (any more). */
  async read(place: FilePlace): Promise<LedgerFile | Refusal | undefined> {
    const path = this.#pathOf(place);
    try {
      if ((await stat(path)).size > MOST_BYTES) return "unreadable";
      return this.#verified(place, await readFile(path, "utf8"));
    } catch (error) {
      if (errnoOf(error) !== "ENOENT") throw error;
      return undefined;
    }
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
    const sealed = JSON.stringify({ key: this.#fingerprint, mac });
    const temporary = join(this.#temporaryFolder, newId());
    try {
      await writeDurably(temporary, `${text}\n${sealed}\n`);
      await link(temporary, this.#pathOf(file));
      await syncFolder(this.path);
    } catch (error) {
      throw systemFault(error, true) ?? error;
    } finally {
      // What cannot be removed now is left to the next start.
      await rm(temporary, { force: true }).catch(() => {});
    }
  }

  #verified(place: FilePlace, text: string): LedgerFile | Refusal {
    const [line = "", second = ""] = text.split("\n");
    const sealed = seal.safeParse(parsed(second));
    if (!sealed.success) return "unreadable";
    if (sealed.data.key !== this.#fingerprint) return "foreign";
    const mac = Buffer.from(sealed.data.mac, "base64url");
    const own = this.#mac(line);
    if (mac.length !== own.length || !timingSafeEqual(mac, own)) return "forged";
    const file = content.safeParse(parsed(line));
    if (!file.success) return "unreadable";
    const { version: _version, ...rest } = file.data;
    // A copy under another name.
    const isNamedSo = rest.chain === place.chain && rest.number === place.number;
    return isNamedSo ? rest : "forged";
  }

  #mac(text: string): Buffer {
    return createHmac("sha256", this.#key).update(text).digest();
  }

  #pathOf({ chain, number }: FilePlace): string {
    return join(this.path, `${chain}-${String(number).padStart(6, "0")}.json`);
  }
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

async function writeDurably(path: string, text: string): Promise<void> {
  const file = await open(path, "wx", 0o600);
  try {
    await file.writeFile(text);
    await file.sync();
  } finally {
    await file.close();
  }
}

async function syncFolder(path: string): Promise<void> {
  const folder = await open(path, "r");
  try {
    await folder.sync();
  } finally {
    await folder.close();
  }
}
