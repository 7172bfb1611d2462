import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import ts from "typescript";

/** Folders of src, and the tables that they alone write. Others read them, and write through what the owner exports. */
export const TABLES: Readonly<Record<string, readonly string[]>> = {
  access: ["audit_log", "ended_rights"],
  "tenancy/accounts": [
    ...["attempt_budgets", "live_tickets", "logins", "magic_links", "oauth_requests"],
    ...["sign_in_places", "user_identities", "users"],
  ],
  "tenancy/audit": ["content_elevations", "failed_sign_in_addresses", "failed_sign_ins"],
  "conversations/concerns": ["concerns"],
  "tenancy/devices": ["device_keys", "devices", "pairing_codes"],
  "conversations/erasure": ["deletion_receipts", "erasure_ledger_files", "erasures"],
  "conversations/questions/graph": [
    "graph_builds",
    "graph_entities",
    "graph_links",
    "graph_mentions",
  ],
  "conversations/guests": ["guest_codes", "guests", "installation"],
  "tenancy/workspaces/invitations": ["invitations"],
  "conversations/jobs": ["jobs"],
  "conversations/transcript/marks": ["session_marks"],
  "conversations/recording": [
    ...["audio_folder", "audio_pieces", "audio_scrub", "audio_streams", "chunks"],
    ...["damaged_audio", "stored_audio"],
  ],
  "conversations/sessions": ["session_listings", "session_members", "sessions"],
  "conversations/summaries": ["action_item_edits", "note_templates", "notes_due", "summaries"],
  "conversations/transcript": ["audio_parts", "segment_edits", "speaker_names"],
  "conversations/uploads": ["file_uploads"],
  "conversations/voices": [
    ...["lapsed_voices", "remembered_voices", "voice_comparisons", "voice_suggestions"],
  ],
  "tenancy/webhooks": ["webhook_deliveries", "webhooks"],
  "tenancy/workspaces": [
    ...["service_key_secrets", "service_keys", "workshop_characters", "workshops"],
    ...["workspace_departures", "workspace_members", "workspaces"],
  ],
  journal: [
    ...["candidate_segments", "checkpoints", "events", "redactions", "redo_candidates"],
    ...["segment_changes", "segments", "speaker_claims", "speaker_merges", "suspects"],
  ],
  postgres: [
    ...["command_outcomes", "idempotency_keys", "key_set", "model_tokens", "outbox"],
    ...["partition_owners", "session_hosts", "signing_keys", "versioned_snapshots"],
  ],
  recognition: ["reading_positions"],
};

const OWNERS = new Map(
  Object.entries(TABLES).flatMap(([folder, tables]) => tables.map((table) => [table, folder])),
);

/** A table that a statement inserts into, updates, deletes from, merges into or empties. */
const WRITE =
  /\b(?:insert\s+into|delete\s+from|merge\s+into|truncate)\s+(\w+|\$\{)|(?<!\bfor |\bno key |\bdo )\bupdate\s+(?:only\s+)?(\w+|\$\{)/g;

/** Tables as the migrations leave them. */
export function tablesOf(migrations: readonly string[]): string[] {
  const tables = new Set<string>();
  for (const [, verb, table = ""] of migrations
    .join("\n")
    .matchAll(/^\s*(create|drop) table (?:if (?:not )?exists )?(\w+)/gm)) {
    if (verb === "create") tables.add(table);
    else tables.delete(table);
  }
  return [...tables].sort();
}

/** "path table" of each table that a file writes; a table whose name is worked out is "?". */
export function writesOf(path: string, text: string): string[] {
  const tree = ts.createSourceFile(path, text, ts.ScriptTarget.Latest);
  const found = new Set<string>();
  const visit = (node: ts.Node): void => {
    if (ts.isTaggedTemplateExpression(node) && /^sql\b/.test(node.tag.getText(tree))) {
      for (const table of tablesIn(node.template.getText(tree))) found.add(`${path} ${table}`);
    }
    ts.forEachChild(node, visit);
  };
  visit(tree);
  return [...found];
}

/** Writes of the service whose table belongs to another folder, or to none: "path table", sorted. */
export function foreignWrites(project: string): string[] {
  return ["src", "workers"]
    .flatMap((root) =>
      readdirSync(join(project, root), { recursive: true, encoding: "utf8" }).map((path) =>
        join(root, path),
      ),
    )
    .filter((path) => path.endsWith(".ts"))
    .flatMap((path) => {
      const text = readFileSync(join(project, path), "utf8");
      return text.includes('from "slonik"') ? writesOf(path, text) : [];
    })
    .filter((write) => {
      const [path = "", table = ""] = write.split(" ");
      const owner = OWNERS.get(table);
      return owner === undefined || !path.startsWith(`src/${owner}/`);
    })
    .sort();
}

function tablesIn(statement: string): string[] {
  const text = statement.toLowerCase();
  return [...text.matchAll(WRITE)]
    .map(([, one, other]) => one ?? other ?? "")
    .map((name) => (name === "${" ? "?" : name));
}
