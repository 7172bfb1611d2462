import type { Stand } from "./contract-stand.ts";
import type { TableName } from "./sim-record.ts";

/** Chosen at random where they are written, or by the clock. */
const CHANCE: Partial<Record<TableName, readonly string[]>> = {
  audit: ["id"],
  claims: ["id"],
  deliveries: ["id"],
  receipts: ["id"],
  outbox: ["id"],
};

const TIME = /(^at|_at|^not_before)$/;
const JSON_COLUMNS = new Set([
  ..."payload state words overlapping outcome command data detail settings removed vocabulary".split(
    " ",
  ),
  ..."broken_spans telemetry event_types".split(" "),
]);

/**
 * Rows as two records may be compared by: sorted, JSON as values, bytes in hex, times told only
 * where they came from outside, names that chance gave left out.
 */
export async function comparable(
  stand: Stand,
  tables: readonly TableName[],
  group?: string,
): Promise<Record<string, unknown[]>> {
  const all = await stand.tables(tables, group);
  const entries = tables.map((table, index) => {
    const rows = (all[index] ?? []) as unknown as Record<string, unknown>[];
    const plain = rows.map((row) => toComparable(table, row));
    return [table, plain.sort((a, b) => (JSON.stringify(a) < JSON.stringify(b) ? -1 : 1))] as const;
  });
  return Object.fromEntries(entries);
}

function toComparable(table: TableName, row: Record<string, unknown>): Record<string, unknown> {
  const entries = Object.entries(row)
    .filter(([column]) => !CHANCE[table]?.includes(column) && !isOfDeletion(row, column))
    .map(([column, value]) => [column, toValue(table, column, value)] as const)
    .sort(([a], [b]) => (a < b ? -1 : 1));
  return Object.fromEntries(entries);
}

/** Its time is the database's, and what its entry of the audit names is a receipt's new id. */
function isOfDeletion({ type, kind }: Record<string, unknown>, column: string): boolean {
  if (type === "SessionDeleted") return column === "at";
  return column === "subject_id" && String(kind).startsWith("session_deleted");
}

function toValue(table: TableName, column: string, value: unknown): unknown {
  if (TIME.test(column) && table !== "events") return value === null ? null : "some time";
  if (Buffer.isBuffer(value)) return value.toString("hex");
  if (JSON_COLUMNS.has(column) && typeof value === "string") return sorted(JSON.parse(value));
  return value;
}

/** jsonb keeps members in an order of its own. */
function sorted(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(sorted);
  if (value === null || typeof value !== "object") return value;
  const entries = Object.entries(value).map(([key, member]) => [key, sorted(member)] as const);
  return Object.fromEntries(entries.sort(([a], [b]) => (a < b ? -1 : 1)));
}
