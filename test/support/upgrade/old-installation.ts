import { createHash } from "node:crypto";
import { readFileSync } from "node:fs";
import { resolve } from "node:path";
import { conversationPcm } from "../paired-device.ts";

const FIXTURE = resolve(import.meta.dirname, "../../fixtures/release-20136bd");
const BYTES_PER_SECOND = 32_000;

/** A table and one of its rows, columns as PostgreSQL's `row_to_json` gives them. */
export type OldRow = [table: string, row: Record<string, unknown>];

export interface OldSession {
  id: string;
  device_id: string;
  api_key: string;
}

/** What stands beside the rows; its keys and passwords were made for this fixture and open nothing else. */
interface Installation {
  captured_at: string;
  admin: { email: string; password: string };
  webhook_secret: string;
  keys: Record<string, string>;
  sessions: Record<string, OldSession>;
}

/**
 * What commit 20136bd left when all of its processes were killed with SIGKILL at once: sessions in
 * every state that it knows, taken from its own PostgreSQL. Left out are passing rows (logins,
 * pairing codes, budgets of attempts), and all sound: each chunk of a session lies where it lay in
 * the demo's conversation, so that it is cut from there again.
 *
 * How it was brought there: nine sessions were told what their names say, and an orderly stop left
 * snapshots of the first five. After the next start its worker stood still, so that nothing was read
 * any more; then a lock on `events` let chunks, stops and wishes come in while no actor could append.
 */
export const OLD_INSTALLATION: Installation = JSON.parse(
  readFileSync(resolve(FIXTURE, "installation.json"), "utf8"),
);

/** Rows in no special order. */
export function oldRows(): OldRow[] {
  const lines = readFileSync(resolve(FIXTURE, "rows.jsonl"), "utf8").trim().split("\n");
  return lines.map((line) => withBytes(JSON.parse(line)));
}

/** Seconds `from` to `to` of the conversation. */
export function seconds(from: number, to: number): Buffer {
  return conversationPcm().subarray(from * BYTES_PER_SECOND, to * BYTES_PER_SECOND);
}

/** The sound of a chunk: they were five seconds long, but for that of a stream. */
export function chunkSound({ sequence, bytes }: Record<string, unknown>): Buffer {
  const from = Number(sequence) * 5;
  return seconds(from, from + Number(bytes) / BYTES_PER_SECOND);
}

/** Binary columns, which the fixture holds shorter than PostgreSQL writes them, or not at all. */
function withBytes([table, row]: OldRow): OldRow {
  if (table === "checkpoints") {
    const { recogniser, speakers } = row;
    return [table, { ...row, recogniser: fromBase64(recogniser), speakers: fromBase64(speakers) }];
  }
  // The conversation was spoken anew since, so what is laid down has digests of its own.
  if (table === "chunks") {
    const digest = createHash("sha256").update(chunkSound(row)).digest("hex");
    return [table, { ...row, sha256: `\\x${digest}` }];
  }
  // Pieces of one second.
  if (table === "audio_pieces") {
    const piece = Number(row.piece);
    return [table, { ...row, data: toHex(seconds(piece, piece + 1)) }];
  }
  return [table, row];
}

function fromBase64(text: unknown): string {
  return toHex(Buffer.from(String(text), "base64"));
}

function toHex(bytes: Buffer): string {
  return `\\x${bytes.toString("hex")}`;
}
