import { hostname } from "node:os";
import { type DatabasePool, type DatabaseTransactionConnection, sql } from "slonik";
import { z } from "zod";
import { AppError } from "../base/errors.ts";
import { toInstant } from "./columns.ts";

/** A signing key as recorded in the database. */
interface KnownKey {
  kid: string;
  /** The key signs from this time on, Unix milliseconds; 0 from the start. */
  signsFrom: number;
}

/** The keys of a process, which all other processes must have too. */
export interface HeldKeys {
  /** Oldest first. */
  signing: readonly KnownKey[];
  pairingFingerprint: string;
  cursorFingerprint: string;
  /** The folder of the keys; undefined when they came from a setting. */
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
 * Checks that this process has the keys of its database's installation, so that a token signed on
 * one machine is valid on all. The first process makes its keys those of the installation. A
 * process that has a new signing key beside a known one adds it. Throws `unavailable`, with a
 * message that says what to do, when the keys are foreign or incomplete.
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

/** Records a signing key that was added while processes run, so that later ones require it. */
export function noteSigningKey(pool: DatabasePool, key: KnownKey): Promise<void> {
  return insertKey(pool, key);
}

/**
 * Returns the installation's key set; creates it if this process is first. Of concurrent processes
 * the insert lets one wait for the other.
 */
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

/**
 * The id of the key that others sign with now, unless this process has it or a newer one of its
 * own.
 */
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

/** The command that copies the right keys to this machine. */
function mend({ host, folder }: KeySet, held: HeldKeys): string {
  if (folder === null) return `Give this machine the VOICE_KEYS of ${host}.`;
  if (held.folder === undefined) return `Instead of VOICE_KEYS use the folder ${host}:${folder}.`;
  const copy = host === hostname() ? `cp -rp ${folder}` : `scp -rp ${host}:${folder}`;
  return `Bring them here: rm -r ${held.folder} && ${copy} ${held.folder}; or let all mount one folder (VOICE_KEY_DIR).`;
}
