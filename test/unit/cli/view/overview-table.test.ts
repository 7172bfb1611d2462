import { stripVTControlCharacters } from "node:util";
import { describe, expect, it } from "vitest";
import { type Overview, overviewRows } from "../../../../src/cli/view/overview-table.ts";

const AT = Date.UTC(2026, 0, 1, 12);
const time = (ago: number): string => new Date(AT - ago).toISOString();

const overview: Overview = {
  at: time(0),
  warnings: [],
  failed_sign_ins: { this_hour: 12, accounts: 3 },
  nodes: [
    { name: "one", state: "alive", last_seen_at: time(200), partitions: [1, 2, 3], sessions: 2 },
    { name: "two", state: "silent", last_seen_at: time(95_000), partitions: [], sessions: 0 },
  ],
  workers: [
    {
      worker_id: "worker-1",
      address: "127.0.0.1:1",
      version: "1",
      engines: ["moonshine-tiny-en"],
      state: "full",
      sessions: 4,
      capacity: 4,
      silent_ms: 300,
    },
  ],
  queues: {
    outbox: { count: 3, oldest_age_ms: 1_500 },
    parked: { count: 2, oldest_age_ms: 95_000, session_ids: ["session-1"] },
    jobs: [{ kind: "transcription", queued: 1, running: 2 }],
    chunks_pending: 5,
    webhook_deliveries_due: 0,
  },
  sessions: {
    by_status: { recording: 14, processing: 0, completed: 1, failed: 0, deleted: 0 },
    live: Array.from({ length: 14 }, (_, n) => ({
      id: `session-${n}`,
      workspace_id: "w",
      seq: n,
      started_at: time(1_000),
      node: "one",
      pending_chunks: 1,
      lag_ms: 2_000,
    })),
  },
};

describe("overview table", () => {
  it("overview table: nodes with leases, workers, queues with lags, and live sessions", () => {
    expect(overviewRows(overview, { columns: 80, colour: false })).toEqual([
      "NODE  STATE   LEASES  SESSIONS  RENEWED",
      "one   alive   3       2         0.2 s",
      "two   silent  0       0         1 min 35 s",
      "",
      "WORKER    STATE  SESSIONS  ENGINES            HEARD",
      "worker-1  full   4/4       moonshine-tiny-en  0.3 s",
      "",
      "QUEUE          WAITING  RUNNING  LAG",
      "commands       3                 1.5 s",
      "parked         2                 1 min 35 s  voice outbox list",
      "chunks         5",
      "transcription  1        2",
      "webhooks       0",
      "",
      "SESSION     NODE  SEQ  CHUNKS  LAG",
      ...Array.from({ length: 12 }, (_, n) =>
        `session-${n}`.padEnd(12).concat(`one   ${String(n).padEnd(3)}  1       2.0 s`),
      ),
      "and 2 more that record",
      "14 recording, 0 processing, 1 completed, 0 failed, 0 deleted",
      "",
      "12 sign-ins failed this hour, at 3 accounts",
    ]);
  });

  it.each([
    [{ this_hour: 0, accounts: 0 }, "no sign-in failed this hour"],
    [{ this_hour: 1, accounts: 1 }, "1 sign-in failed this hour, at 1 account"],
  ])("overview table: of failed sign-ins %j it says so", (failed_sign_ins, row) => {
    const rows = overviewRows({ ...overview, failed_sign_ins }, { columns: 80, colour: false });
    expect(rows.at(-1)).toBe(row);
  });

  it("overview table: no row is wider than the terminal, and trouble is coloured", () => {
    const rows = overviewRows(overview, { columns: 20, colour: true });
    for (const row of rows) {
      expect(stripVTControlCharacters(row).length).toBeLessThanOrEqual(20);
    }
    expect(rows[2]?.startsWith("\u001b[31mtwo")).toBe(true);
  });

  it("overview table: what a worker calls itself moves no cursor and makes no row", () => {
    const [worker] = overview.workers;
    if (worker === undefined) throw new Error("There is no worker.");
    const hostile = {
      ...worker,
      worker_id: "w\u001b[2J\nWARNING  all is lost\u202e",
      engines: ["\u009b1A"],
    };
    const rows = overviewRows({ ...overview, workers: [hostile] }, { columns: 80, colour: false });
    expect(rows.join("")).not.toMatch(/[\p{Cc}\p{Bidi_Control}]/u);
    expect(rows.filter((row) => row.startsWith("WARNING"))).toEqual([]);
  });

  it("overview table: says so when the leases cannot be read, or nobody works", () => {
    const { nodes: _nodes, ...rest } = overview;
    const rows = overviewRows({ ...rest, workers: [] }, { columns: 80, colour: false });
    expect(rows[0]).toContain("leases cannot be read");
    expect(rows).toContain("WORKER  no worker");
  });
});
