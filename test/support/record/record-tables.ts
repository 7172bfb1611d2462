import type {
  AuditRow,
  CheckpointRow,
  ChunkRow,
  ClaimRow,
  DeliveryRow,
  DeviceRow,
  EventRow,
  JobRow,
  OutboxTableRow,
  OutcomeRow,
  PieceRow,
  PositionRow,
  ReceiptRow,
  RedactionRow,
  SegmentEditRow,
  SegmentRow,
  SessionRow,
  SnapshotRow,
  StreamRow,
  SuspectRow,
  UserRow,
  WebhookRow,
} from "./rows.ts";
import { Table } from "./table.ts";

/** A table whose rows belong to sessions, by the columns of its key. */
function ofSession<R extends { session_id: string | null }>(
  name: string,
  ...key: (keyof R)[]
): Table<R> {
  const keyOf = (row: R) => key.map((column) => String(row[column])).join(":");
  return new Table<R>(name, keyOf, (row) => row.session_id ?? "");
}

function byId<R extends { id: string }>(name: string): Table<R> {
  return new Table<R>(
    name,
    ({ id }) => id,
    ({ id }) => id,
  );
}

export class RecordTables {
  readonly sessions = byId<SessionRow>("sessions");
  readonly chunks = ofSession<ChunkRow>("chunks", "session_id", "sequence");
  readonly events = ofSession<EventRow>("events", "session_id", "seq");
  readonly snapshots = ofSession<SnapshotRow>("versioned_snapshots", "session_id", "version");
  readonly checkpoints = ofSession<CheckpointRow>(
    "checkpoints",
    "session_id",
    "attempt",
    "position",
  );
  readonly suspects = ofSession<SuspectRow>("suspects", "session_id", "attempt", "sequence");
  readonly segments = ofSession<SegmentRow>("segments", "session_id", "id");
  readonly edits = ofSession<SegmentEditRow>("segment_edits", "id");
  readonly claims = ofSession<ClaimRow>("speaker_claims", "id");
  readonly jobs = ofSession<JobRow>("jobs", "id");
  readonly outbox = ofSession<OutboxTableRow>("outbox", "id");
  readonly outcomes = ofSession<OutcomeRow>("command_outcomes", "session_id", "command_id");
  readonly streams = ofSession<StreamRow>("audio_streams", "session_id");
  readonly pieces = ofSession<PieceRow>("audio_pieces", "session_id", "sequence", "piece");
  readonly redactions = ofSession<RedactionRow>("redactions", "id");
  readonly receipts = ofSession<ReceiptRow>("deletion_receipts", "session_id");
  readonly audit = ofSession<AuditRow>("audit_log", "id");
  readonly positions = ofSession<PositionRow>("reading_positions", "session_id");
  readonly webhooks = byId<WebhookRow>("webhooks");
  readonly deliveries = new Table<DeliveryRow>(
    "webhook_deliveries",
    ({ webhook_id, id }) => `${webhook_id}:${id}`,
    ({ webhook_id }) => webhook_id,
  );
  readonly devices = byId<DeviceRow>("devices");
  readonly users = byId<UserRow>("users");
  #claims = 0;

  /** Numbers of claims, as the database gives them. */
  nextClaim(): number {
    this.#claims += 1;
    return this.#claims;
  }
}
