import { hostname } from "node:os";
import { type DatabasePool, type DatabaseTransactionConnection, sql } from "slonik";
import { z } from "zod";
import { AppError } from "../base/errors.ts";
import { toInstant } from "./columns.ts";

/** A signing key as the database knows it. */
interface KnownKey {
  kid: string;
  /** It signs from here on, Unix milliseconds; 0 when from the start. */
  signsFrom: number;
}

/** The keys that a process has: what the others need to have too. */
export interface HeldKeys {
  /** Oldest first. */
  signing: readonly KnownKey[];
  pairingFingerprint: string;
  cursorFingerprint: string;
  /** Where they lie; undefined when they came as a setting. */
  folder: string | undefined;
}

const setRow = z.object({
  pairing: z.string(),
  cursor: z.string(),
  host: z.string(),
  folder: z.string().nullable(),
});
const keyRow = z.object({ kid: z.string(), signsFrom: z.number().nullable() });

type KeySet = z.infer<typeof setRow>;

/**
 * Makes sure that this process has the keys of its database's installation, as a token that one
 * machine signs has to be valid at all. The first process makes its keys those of the
 * installation; a signing key that was added later is taken up from whoever has it beside one
 * that is known. Throws `unavailable`, saying what to do, for others and for those left behind.
 */
export function claimKeys(pool: DatabasePool, held: HeldKeys, now: number): Promise<void> {
  return pool.transaction(async (tx) => {
    const set = await claimSet(tx, held);
    if (set.pairing !== held.pairingFingerprint || set.cursor !== held.cursorFingerprint) {
      throw foreign(set, held);
    }
    const known = await knownKeys(tx);
    const kids = new Set(known.map(({ kid }) => kid));
    if (known.length > 0 && !held.signing.some(({ kid }) => kids.has(kid))) {
      throw foreign(set, held);
    }
    const missing = missingKey(known, held.signing, now);
    if (missing !== undefined) throw leftBehind(missing, set, held);
    for (const key of held.signing) await insertKey(tx, key);
  });
}

/** Makes a signing key that was added while processes run known to those that start later. */
export function noteSigningKey(pool: DatabasePool, key: KnownKey): Promise<void> {
  return insertKey(pool, key);
}

/** Waits for another process that claims at the same time, by the row that both want to be first. */
async function claimSet(tx: DatabaseTransactionConnection, held: HeldKeys): Promise<KeySet> {
  const { pairingFingerprint, cursorFingerprint, folder } = held;
  await tx.query(sql.unsafe`
    insert into key_set (pairing_fingerprint, cursor_fingerprint, host, folder)
    values (${pairingFingerprint}, ${cursorFingerprint}, ${hostname()}, ${folder ?? null})
    on conflict do nothing`);
  return tx.one(sql.type(setRow)`
    select pairing_fingerprint as pairing, cursor_fingerprint as cursor, host, folder
    from key_set`);
}

async function knownKeys(tx: DatabaseTransactionConnection): Promise<KnownKey[]> {
  const rows = await tx.any(sql.type(keyRow)`
    select kid, signs_from as "signsFrom" from signing_keys order by number`);
  return rows.map(({ kid, signsFrom }) => ({ kid, signsFrom: signsFrom ?? 0 }));
}

async function insertKey(
  on: DatabasePool | DatabaseTransactionConnection,
  { kid, signsFrom }: KnownKey,
): Promise<void> {
  const from = signsFrom === 0 ? sql.fragment`null` : toInstant(signsFrom);
  await on.query(sql.unsafe`
    insert into signing_keys (kid, signs_from) values (${kid}, ${from}) on conflict do nothing`);
}

/** The key that others sign with now, when it is not held, nor a newer one of our own. */
function missingKey(
  known: readonly KnownKey[],
  held: readonly KnownKey[],
  now: number,
): string | undefined {
  const signing = known.filter(({ signsFrom }) => signsFrom <= now);
  const current = signing.reduce<KnownKey | undefined>(
    (best, key) => (best === undefined || key.signsFrom >= best.signsFrom ? key : best),
    undefined,
  );
  if (current === undefined || held.some(({ kid }) => kid === current.kid)) return undefined;
  const newest = held.at(-1);
  const isOurs = newest !== undefined && !known.some(({ kid }) => kid === newest.kid);
  return isOurs && newest.signsFrom >= current.signsFrom ? undefined : current.kid;
}

function foreign(set: KeySet, held: HeldKeys): AppError {
  const whose = held.folder ?? "VOICE_KEYS";
  return new AppError(
    "unavailable",
    `${whose} holds the keys of another installation: all machines of a database need the same. ${mend(set, held)}`,
  );
}

function leftBehind(kid: string, set: KeySet, held: HeldKeys): AppError {
  const whose = held.folder ?? "VOICE_KEYS";
  return new AppError(
    "unavailable",
    `${whose} lacks signing key ${kid}, with which other machines sign by now. ${mend(set, held)}`,
  );
}

/** The command that brings the right keys here. */
function mend({ host, folder }: KeySet, held: HeldKeys): string {
  if (folder === null) return `Give this machine the VOICE_KEYS of ${host}.`;
  if (held.folder === undefined) return `Instead of VOICE_KEYS use the folder ${host}:${folder}.`;
  const copy = host === hostname() ? `cp -rp ${folder}` : `scp -rp ${host}:${folder}`;
  return `Bring them here: rm -r ${held.folder} && ${copy} ${held.folder}; or let all mount one folder (VOICE_KEY_DIR).`;
}
