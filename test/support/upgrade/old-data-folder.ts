import { randomUUID } from "node:crypto";
import { chmodSync, mkdirSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { loadSecrets } from "../../../deploy/supervisor/secrets.ts";
import { layDownCommands, type OldCommand } from "./old-command-stream.ts";
import { layDownDatabase } from "./old-database.ts";
import { chunkSound, OLD_INSTALLATION, type OldRow, oldRows } from "./old-installation.ts";

/** What was published to the old release's command stream and is in no table. */
export const UNANSWERED: readonly OldCommand[] = unansweredWishes();

/** Makes the data folder that commit 20136bd left, its webhook turned to `webhookUrl`. */
export async function layDownOldFolder(data: string, webhookUrl: string): Promise<void> {
  const { captured_at: capturedAt, keys } = OLD_INSTALLATION;
  mkdirSync(data);
  chmodSync(data, 0o711);
  for (const name of ["logs", "blobs", "keys"]) mkdirSync(join(data, name), { mode: 0o700 });
  const marker = { what: "data folder of voice-session-service", id: randomUUID() };
  writeFileSync(join(data, ".voice-data.json"), JSON.stringify(marker));
  for (const [name, key] of Object.entries(keys)) {
    writeFileSync(join(data, "keys", name), key, { mode: 0o600 });
  }
  const rows = oldRows().map(([table, row]): OldRow => {
    return [table, table === "webhooks" ? { ...row, url: webhookUrl } : row];
  });
  layDownSound(join(data, "blobs"), rows);
  const secrets = loadSecrets(join(data, "secrets.json"));
  await layDownDatabase(data, secrets, rows, capturedAt);
  const told = rowsOf(rows, "outbox").map(
    ({ id, session_id, command }) => ({ id, sessionId: session_id, command }) as OldCommand,
  );
  await layDownCommands(data, secrets.natsToken, [...told, ...UNANSWERED]);
  // How the test ran that server, which is no part of what was left.
  rmSync(join(data, "nats/owners.json"), { force: true });
}

/**
 * As `<session>/<sha256>`; none of deleted sessions. In place of what was redacted lies the sound as
 * it came, as that release could leave it behind.
 */
function layDownSound(blobs: string, rows: readonly OldRow[]): void {
  const [folder] = rowsOf(rows, "audio_folder");
  writeFileSync(join(blobs, "store-id"), `${folder?.id}\n`, { mode: 0o600 });
  const deleted = new Set(
    rowsOf(rows, "sessions").flatMap(({ id, status }) => (status === "deleted" ? [id] : [])),
  );
  for (const chunk of rowsOf(rows, "chunks")) {
    if (deleted.has(chunk.session_id)) continue;
    const place = join(blobs, String(chunk.session_id));
    mkdirSync(place, { recursive: true });
    const name = String(chunk.sha256).slice(2);
    writeFileSync(join(place, name), chunkSound(chunk), { mode: 0o600 });
  }
}

function rowsOf(rows: readonly OldRow[], table: string): Record<string, unknown>[] {
  return rows.filter(([name]) => name === table).map(([, row]) => row);
}

/** An edit and a claim whose callers were answered 503 `timeout` after eight seconds. */
function unansweredWishes(): OldCommand[] {
  const { edited, redone } = OLD_INSTALLATION.sessions;
  const rows = oldRows();
  const [edit = {}] = rowsOf(rows, "segment_edits");
  const { segment_id: segmentId, id: editId, by_user_id: byUserId } = edit;
  const claimedUserId = rowsOf(rows, "users").find(({ name }) => name === "Ben")?.id;
  const source = "moderator_assignment";
  const replyTo = "voice.replies.01a20888-aa89-7b55-9459-6dc92f9414d8";
  return [
    {
      id: "01a20888-bf61-771a-afba-7dfbcbd496ef",
      sessionId: String(redone?.id),
      command: { type: "Claim", label: "S2", source, claimedUserId, byUserId, byOwner: true },
      replyTo,
    },
    {
      id: "01a20888-bf62-78b7-b9ce-2d60b9dc6637",
      sessionId: String(edited?.id),
      command: { type: "EditSegment", segmentId, editId, label: "", byUserId },
      replyTo,
    },
  ];
}
