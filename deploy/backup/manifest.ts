import { z } from "zod";

const sha256 = z.string().regex(/^[0-9a-f]{64}$/);
const count = z.number().int().nonnegative();
const storedStream = z.object({ sha256, bytes: count, pieces: z.array(sha256) });
/** Below the data folder: no other place is ever written to. */
const path = z
  .string()
  .regex(/^[\w.-]+(\/[\w.-]+)*$/)
  .refine((text) => !text.split("/").some((name) => name === "." || name === ".."));

const table = storedStream.extend({
  name: z.string(),
  columns: z.array(z.string()),
  rows: count,
});

const record = z.object({
  /** Of the moment that the backup shows: the record's snapshot. */
  at: z.string().datetime(),
  migrations: z.array(z.object({ name: z.string().regex(/^\d{4}_\w+\.sql$/), checksum: sha256 })),
  tables: z.array(table),
  sequences: z.array(
    z.object({
      name: z.string(),
      last: z
        .string()
        .regex(/^-?\d+$/)
        .nullable(),
    }),
  ),
});

const lack = z.object({
  session: z.string(),
  /** SHA-256 (hex) of what was sent: the file's name. */
  name: z.string(),
  why: z.enum(["gone", "changed", "unreadable"]),
  /** The service had noted the damage before. */
  isKnown: z.boolean(),
});

const manifestShape = z.object({
  version: z.literal(1),
  name: z.string(),
  /** Of the project that made it. */
  release: z.string(),
  record,
  sound: z.object({
    files: count,
    bytes: count,
    /** A line for each file: session, name, SHA-256 of what it holds, bytes. */
    list: storedStream,
    /** Files that the record names, and that were not there whole. */
    lacking: z.array(lack),
    /** Files whose session was erased while the backup was made. */
    erased: count,
  }),
  /** Secrets and keys. */
  files: z.array(z.object({ path, sha256, bytes: count })),
  /** The ledger of erasures, as it was at the end. */
  ledger: z.array(z.object({ name: z.string().regex(/^[\w-]+\.json$/), sha256 })),
});

/** All of one backup. */
export type Manifest = z.output<typeof manifestShape>;
export type RecordFacts = Manifest["record"];
export type SoundFacts = Manifest["sound"];
export type Lack = z.output<typeof lack>;
export type StoredTable = z.output<typeof table>;

/** Throws when it is none. */
export function parseManifest(text: string): Manifest {
  return manifestShape.parse(JSON.parse(text));
}
