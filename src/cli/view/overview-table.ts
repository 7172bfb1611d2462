import type { paths } from "../../client/gen/api-schema.ts";
import { tableRows } from "./table.ts";
import { printable } from "./transcript-line.ts";

export type Overview =
  paths["/admin/overview"]["get"]["responses"]["200"]["content"]["application/json"];

/** Most rows of the list of live sessions. */
const MOST_SESSIONS = 12;

interface TableStyle {
  readonly columns: number;
  readonly colour: boolean;
}

type Paint = (code: string, text: string) => string;

/** The overview as rows of text, none wider than the terminal. */
export function overviewRows(overview: Overview, style: TableStyle): string[] {
  const paint: Paint = (code, text) => (style.colour ? `\u001b[${code}m${text}\u001b[0m` : text);
  const at = Date.parse(overview.at);
  const rows = [
    ...overview.warnings.map((warning) => `WARNING  ${warning}`),
    ...nodeRows(overview, at),
    "",
    ...workerRows(overview),
    "",
    ...queueRows(overview),
    "",
    ...sessionRows(overview),
    "",
    failedSignInsRow(overview),
  ];
  // Workers and hosts say themselves what they are called.
  return rows.map((row) => emphasise(printable(row).slice(0, style.columns), paint));
}

function nodeRows({ nodes }: Overview, at: number): string[] {
  if (nodes === undefined) return ["NODES      the leases cannot be read: NATS does not answer"];
  const cells = nodes.map((node) => [
    node.name,
    node.state,
    String(node.partitions.length),
    String(node.sessions),
    span(at - Date.parse(node.last_seen_at)),
  ]);
  return table(["NODE", "STATE", "LEASES", "SESSIONS", "RENEWED"], cells, "no session host");
}

function workerRows({ workers }: Overview): string[] {
  const cells = workers.map((worker) => [
    worker.worker_id,
    worker.state,
    `${worker.sessions}/${worker.capacity}`,
    worker.engines.join(","),
    span(worker.silent_ms),
  ]);
  return table(["WORKER", "STATE", "SESSIONS", "ENGINES", "HEARD"], cells, "no worker");
}

function queueRows({ queues }: Overview): string[] {
  const { outbox, parked, jobs } = queues;
  const age = (ms: number | undefined) => (ms === undefined ? "" : span(ms));
  const cells = [
    ["commands", String(outbox.count), "", age(outbox.oldest_age_ms)],
    ...(parked.count > 0
      ? [["parked", String(parked.count), "", age(parked.oldest_age_ms), "voice outbox list"]]
      : []),
    ["chunks", String(queues.chunks_pending), "", ""],
    ...jobs.map(({ kind, queued, running }) => [kind, String(queued), String(running), ""]),
    ["webhooks", String(queues.webhook_deliveries_due), "", ""],
  ];
  return table(["QUEUE", "WAITING", "RUNNING", "LAG"], cells, "");
}

function sessionRows({ sessions }: Overview): string[] {
  const counts = Object.entries(sessions.by_status).map(([status, count]) => `${count} ${status}`);
  const cells = sessions.live
    .slice(0, MOST_SESSIONS)
    .map((live) => [
      live.id,
      live.node ?? "-",
      String(live.seq),
      String(live.pending_chunks),
      span(live.lag_ms),
    ]);
  const more = sessions.live.length - cells.length;
  return [
    ...table(["SESSION", "NODE", "SEQ", "CHUNKS", "LAG"], cells, "nothing records now"),
    ...(more > 0 ? [`and ${more} more that record`] : []),
    counts.join(", "),
  ];
}

function failedSignInsRow({ failed_sign_ins: failed }: Overview): string {
  const { this_hour: count, accounts } = failed;
  if (count === 0) return "no sign-in failed this hour";
  const what = count === 1 ? "1 sign-in" : `${count} sign-ins`;
  return `${what} failed this hour, at ${accounts} ${accounts === 1 ? "account" : "accounts"}`;
}

function table(head: readonly string[], cells: readonly string[][], none: string): string[] {
  return cells.length === 0 ? [`${head[0]}  ${none}`] : tableRows(head, cells);
}

/** Formats milliseconds for people. */
function span(ms: number): string {
  const seconds = Math.max(0, ms) / 1_000;
  if (seconds < 60) return `${seconds.toFixed(1)} s`;
  return `${Math.floor(seconds / 60)} min ${Math.floor(seconds % 60)} s`;
}

/** Shows titles in bold, problems in red, and what is stopping in yellow. */
function emphasise(row: string, paint: Paint): string {
  if (/^WARNING /.test(row)) return paint("31", row);
  if (/^[A-Z]+ /.test(row)) return paint("1", row);
  if (/ (silent|backing_off)( |$)|^parked /.test(row)) return paint("31", row);
  if (/ (leaving|draining|full)( |$)/.test(row)) return paint("33", row);
  return row;
}
