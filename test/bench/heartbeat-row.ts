import { measureHeartbeats } from "./heartbeats.ts";
import type { BenchRow, BenchScale } from "./row.ts";

const DEVICES = 10_000;
const PERIOD_MS = 2_000;
const CORES = 0.5;
/** Share of the beats that are due within the time, so that the period counts as held. */
const HELD = 0.99;

/** Ten thousand devices that are only there: what they cost, and whether all are heard. */
export async function measureHeartbeatRow(scale: BenchScale): Promise<BenchRow[]> {
  const devices = Math.round(DEVICES * scale.size);
  const figures = await measureHeartbeats({
    devices,
    periodMs: PERIOD_MS,
    warmUpMs: 12_000,
    measureMs: Math.max(6_000, scale.roundMs * 20 * scale.size),
  });
  const wanted = (devices * 1_000) / PERIOD_MS;
  const held = figures.requestsPerSecond >= wanted * HELD;
  return [
    {
      figure: `heartbeats of ${devices.toLocaleString("en")} devices every ${PERIOD_MS / 1_000} s`,
      unit: "cores of our process",
      ours: figures.frontCores,
      mark: `<= ${CORES * scale.size} cores, held`,
      met: held && figures.frontCores <= CORES * scale.size,
      detail: `${figures.requestsPerSecond.toFixed(0)} of ${wanted.toFixed(0)} a second were answered; PostgreSQL used ${figures.databaseCores.toFixed(2)} cores, the devices ${figures.clientCores.toFixed(2)}`,
    },
  ];
}
