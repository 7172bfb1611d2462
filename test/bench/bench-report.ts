import { readFileSync } from "node:fs";
import { join } from "node:path";
import type { Machine } from "../eval/machine.ts";
import { textTable } from "../eval/text-table.ts";
import type { BenchRow } from "./row.ts";

const PEERS = ["uWebSockets.js", "ws", "socket.io", "fastify", "@grpc/grpc-js", "pg"];

export interface BenchReport {
  made_at: string;
  machine: Pick<Machine, "cpu" | "cores" | "kernel" | "node" | "project"> & { peers: string };
  /** Of one minute, when it began. */
  load_before: number;
  rounds: number;
  rows: BenchRow[];
  left_out: string[];
}

/** The versions of what is measured beside ours. */
export function describePeers(project: string): { peers: string } {
  const versions = PEERS.map((name) => {
    const file = join(project, "node_modules", name, "package.json");
    const { version } = JSON.parse(readFileSync(file, "utf8")) as { version: string };
    return `${name} ${version}`;
  });
  return { peers: versions.join(", ") };
}

export function printBench(report: BenchReport): string {
  const { machine, made_at, rounds, left_out } = report;
  return [
    `${made_at}, project ${machine.project}`,
    `load average ${report.load_before.toFixed(1)} at the start; far above 1 means that others use the machine too, and absolute figures say little`,
    `${machine.cores} cores of ${machine.cpu}, Linux ${machine.kernel}, Node ${machine.node}`,
    `peers: ${machine.peers}; medians of ${rounds} interleaved rounds, load and service on the same cores`,
    "",
    printRows(report.rows),
    ...left_out.map((what) => `left out: ${what}`),
  ].join("\n");
}

/** The rows as tables, and below them how they were measured. */
export function printRows(all: readonly BenchRow[]): string {
  const rows = all.filter(({ growth }) => growth === undefined);
  const head = ["figure", "unit", "ours", "peer", "", "ratio", "mark", ""];
  const lines = rows.map((row) => [
    row.figure,
    row.unit,
    round(row.ours),
    row.peer?.name ?? "",
    row.peer === undefined ? "" : round(row.peer.value),
    row.ratio === undefined ? "" : `${row.ratio.toFixed(2)}x`,
    row.mark,
    row.met === undefined ? "" : row.met ? "met" : "missed",
  ]);
  const details = all.flatMap(({ figure, peer, detail }) =>
    detail === undefined ? [] : [`${figure}${peer ? `, ${peer.name}` : ""}: ${detail}`],
  );
  return [
    ...(rows.length === 0 ? [] : [textTable([head, ...lines]), ""]),
    ...growthTables(all),
    ...details,
  ].join("\n");
}

/** A table for each axis, with the cost at each of its sizes. */
function growthTables(rows: readonly BenchRow[]): string[] {
  const axes = new Set(rows.flatMap(({ growth }) => growth?.axis ?? []));
  return [...axes].flatMap((axis) => {
    const found = rows.filter(({ growth }) => growth?.axis === axis);
    const sizes = found[0]?.growth?.costs.map(({ size }) => size) ?? [];
    const lines = found.map(({ figure, unit, growth, ratio, met }) => [
      figure,
      unit,
      ...(growth?.costs.map(({ cost }) => round(cost)) ?? []),
      ratio === undefined ? "" : `${ratio.toFixed(2)}x`,
      met === undefined ? "" : met ? "flat" : "grows",
    ]);
    return [textTable([[axis, "unit", ...sizes, "ratio", ""], ...lines]), ""];
  });
}

function round(value: number): string {
  if (Math.abs(value) >= 1000) return Math.round(value).toLocaleString("en");
  return value.toPrecision(3);
}
