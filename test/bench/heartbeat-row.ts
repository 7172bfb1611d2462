import { type HeartbeatFigures, measureHeartbeats } from "./heartbeats.ts";
import type { BenchRow, BenchScale } from "./row.ts";

const DEVICES = 10_000;
const PERIOD_MS = 2_000;
const CORES = 0.5;
/** Share of the beats that are due within the time, so that the period counts as held. */
const HELD = 0.99;

/** Ten thousand devices that are only there: what they cost, and whether all are heard. */
export async function measureHeartbeatRow(scale: BenchScale): Promise<BenchRow[]> {
  const figures = await measureHeartbeats({
    devices: Math.round(DEVICES * scale.size),
    periodMs: PERIOD_MS,
    warmUpMs: 12_000,
    measureMs: Math.max(6_000, scale.roundMs * 20 * scale.size),
  });
  return [
    describe("over HTTP", figures.http, scale.size),
    describe("over WebSocket", figures.socket, scale.size),
  ];
}

function describe(how: string, figures: HeartbeatFigures, size: number): BenchRow {
  const { devices, sentPerSecond, heard, failed, frontCores, databaseCores, clientCores } = figures;
  const wanted = (devices * 1_000) / PERIOD_MS;
  const held = sentPerSecond >= wanted * HELD && heard >= HELD && failed === 0;
  return {
    figure: `heartbeats of ${devices.toLocaleString("en")} devices every ${PERIOD_MS / 1_000} s ${how}`,
    unit: "cores of our process",
    ours: frontCores,
    mark: `<= ${CORES * size} cores, held`,
    met: held && frontCores <= CORES * size,
    detail: `${sentPerSecond.toFixed(0)} of ${wanted.toFixed(0)} a second, ${(heard * 100).toFixed(1)} % of the devices on record as heard, ${failed} failed; PostgreSQL used ${databaseCores.toFixed(2)} cores, the devices ${clientCores.toFixed(2)}`,
  };
}
