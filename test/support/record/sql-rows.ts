import pg from "pg";
import type { OutboxRow } from "../../../src/postgres/outbox.ts";
import type { Cast, RowOf, TableName } from "./sim-record.ts";

interface Source {
  table: string;
  group: string;
  /** Columns that are not what the twin's rows have: as SQL. */
  as?: Readonly<Record<string, string>>;
  columns: readonly string[];
}

const session = "session_id";

/** How the rows of each table are read, so that they look as the twin's. */
const SOURCES: Readonly<Record<TableName, Source>> = {
  sessions: {
    table: "sessions",
    group: "id",
    columns: [
      ..."id workspace_id owner_id device_id job_id title language vocabulary status".split(" "),
      ..."epoch seq last_chunk_sequence started_at stopped_at completed_at".split(" "),
      ..."updated_at stop_reason failure_reason has_work work_seq".split(" "),
    ],
  },
  chunks: {
    table: "chunks",
    group: session,
    as: { sha256: "encode(sha256, 'hex')" },
    columns: [
      ..."session_id sequence id media_type filename bytes sha256 frames sample_rate".split(" "),
      ..."duration_seconds status error start_sample length_samples uploaded_at".split(" "),
      ..."recorded_at broken_spans silence_wanted silence_done".split(" "),
    ],
  },
  events: {
    table: "events",
    group: session,
    columns: "session_id seq epoch at type payload".split(" "),
  },
  snapshots: {
    table: "versioned_snapshots",
    group: session,
    columns: "session_id seq version state at".split(" "),
  },
  checkpoints: {
    table: "checkpoints",
    group: session,
    columns: "session_id attempt position recogniser speakers voices at".split(" "),
  },
  suspects: {
    table: "suspects",
    group: session,
    columns: "session_id attempt sequence breaks position".split(" "),
  },
  segments: {
    table: "segments",
    group: session,
    columns: [
      ..."session_id id attempt start_sample end_sample label text words confidence".split(" "),
      ..."speaker_confidence overlapping revision redacted language".split(" "),
    ],
  },
  edits: {
    table: "segment_edits",
    group: session,
    columns: "id session_id segment_id text words by_user_id".split(" "),
  },
  claims: {
    table: "speaker_claims",
    group: session,
    columns: "id session_id label source claimed_user_id by_user_id revoked_at".split(" "),
  },
  jobs: {
    table: "jobs",
    group: session,
    columns: [
      ..."id kind session_id workspace_id status progress error attempt engine".split(" "),
      ..."detected_language forced_language diarisation_model_version segment_count".split(" "),
      ..."speaker_count duration_ms avg_confidence created_at started_at completed_at".split(" "),
    ],
  },
  outbox: {
    table: "outbox",
    group: session,
    columns: [
      ..."id session_id command created_at attempts not_before".split(" "),
      ..."parked_at parked_reason".split(" "),
    ],
  },
  outcomes: {
    table: "command_outcomes",
    group: session,
    columns: "session_id command_id at outcome".split(" "),
  },
  streams: {
    table: "audio_streams",
    group: session,
    columns: "session_id epoch settings offset_bytes sequence pieces touched_at".split(" "),
  },
  pieces: {
    table: "audio_pieces",
    group: session,
    columns: [
      ..."session_id sequence piece media_type frames sample_rate data created_at".split(" "),
      ..."log pieces".split(" "),
    ],
  },
  redactions: {
    table: "redactions",
    group: session,
    columns: "id session_id start_sample end_sample label created_at".split(" "),
  },
  receipts: {
    table: "deletion_receipts",
    group: session,
    columns: "id session_id workspace_id kind deleted_at removed audio_erased_at".split(" "),
  },
  audit: {
    table: "audit_log",
    group: session,
    columns: "id kind actor_kind actor_id workspace_id session_id subject_id detail".split(" "),
  },
  positions: {
    table: "reading_positions",
    group: session,
    columns: "session_id read_to".split(" "),
  },
  webhooks: {
    table: "webhooks",
    group: "id",
    as: { event_types: "to_json(event_types)" },
    columns: "id workspace_id event_types enabled".split(" "),
  },
  deliveries: {
    table: "webhook_deliveries",
    group: "webhook_id",
    columns: "webhook_id id event_type data occurred_at status".split(" "),
  },
  devices: {
    table: "devices",
    group: "id",
    columns: "id workspace_id owner_id last_seen_at telemetry firmware".split(" "),
  },
  users: { table: "users", group: "id", columns: "id name email".split(" ") },
};

/** Rows of a table as the twin has them: times in Unix ms, JSON as text. */
export async function readRows<K extends TableName>(
  client: pg.Client,
  name: K,
  group?: string,
): Promise<RowOf<K>[]> {
  const { rows } = await client.query<Record<string, unknown>>(selectFrom(client, name, group));
  return rows.map((row) => toRow<K>(row));
}

/** The same of many tables, in their order and on one way there. */
export async function readTables(
  client: pg.Client,
  names: readonly TableName[],
  group?: string,
): Promise<RowOf<TableName>[][]> {
  const text = names.map((name) => selectFrom(client, name, group)).join(";");
  const answer: unknown = await client.query(text);
  const results = (Array.isArray(answer) ? answer : [answer]) as pg.QueryResult<
    Record<string, unknown>
  >[];
  return results.map(({ rows }) => rows.map((row) => toRow<TableName>(row)));
}

function selectFrom(client: pg.Client, name: TableName, group: string | undefined): string {
  const { table, group: by, columns, as = {} } = SOURCES[name];
  const list = columns.map((column) => `${as[column] ?? column} as ${column}`).join(", ");
  const where = group === undefined ? "" : `where ${by} = ${client.escapeLiteral(group)}`;
  return `select ${list} from ${table} ${where}`;
}

function toRow<K extends TableName>(row: Record<string, unknown>): RowOf<K> {
  const entries = Object.entries(row).map(([column, value]) => [column, toPlain(value)]);
  return Object.fromEntries(entries) as RowOf<K>;
}

function toPlain(value: unknown): unknown {
  if (value instanceof Date) return value.getTime();
  if (Buffer.isBuffer(value) || value === null || typeof value !== "object") return value;
  return JSON.stringify(value);
}

const INT8 = 20;

/** A connection beside the service's own. */
export async function openClient(url: string): Promise<pg.Client> {
  const types = {
    getTypeParser: (id: number, format?: "text" | "binary") =>
      id === INT8 ? Number : pg.types.getTypeParser(id, format as "text"),
  };
  const client = new pg.Client({ connectionString: url, types });
  // Whoever asks it something is told.
  client.on("error", () => {});
  await client.connect();
  return client;
}

/** Returns false when the session is deleted. */
export async function insertCommand(
  client: pg.Client,
  { id, sessionId, command }: OutboxRow,
): Promise<boolean> {
  const { rowCount } = await client.query(
    `with told as (select id from sessions where id = $2 and status <> 'deleted' for update)
     insert into outbox (id, session_id, command)
     select $1, told.id, $3::jsonb from told`,
    [id, sessionId, JSON.stringify(command)],
  );
  return rowCount === 1;
}

/** People, devices and webhooks, and the workspaces that they are of. */
export async function insertCast(
  client: pg.Client,
  { users = [], devices = [], webhooks = [] }: Cast,
): Promise<void> {
  for (const { id, name, email } of users) {
    await client.query(
      "insert into users (id, name, email, role) values ($1, $2, $3, 'participant')",
      [id, name, email],
    );
  }
  for (const { workspace_id: id } of [...devices, ...webhooks]) {
    await client.query(
      "insert into workspaces (id, name) values ($1, 'W') on conflict (id) do nothing",
      [id],
    );
  }
  for (const { id, workspace_id, owner_id } of devices) {
    await client.query(
      `insert into devices (id, serial, status, workspace_id, owner_id, pairing_secret_hash)
       values ($1, 'serial', 'paired', $2, $3, convert_to($4, 'UTF8'))`,
      [id, workspace_id, owner_id, id],
    );
  }
  for (const { id, workspace_id, event_types, enabled } of webhooks) {
    await client.query(
      `insert into webhooks (id, workspace_id, url, secret, event_types, enabled)
       select $1, $2, 'http://127.0.0.1:9/', 'x'::bytea,
         array(select jsonb_array_elements_text($3::jsonb)), $4`,
      [id, workspace_id, event_types, enabled],
    );
  }
}
