import { HttpDevice } from "./heartbeat-http.ts";
import { SocketDevice } from "./heartbeat-socket.ts";
import { HeartbeatTally, type PlayedDevice } from "./heartbeat-tally.ts";

/** How devices say that they are there. */
export type HeartbeatTransport = "http" | "socket";

/** What the process of the devices is told, over IPC. */
export interface DevicesTask {
  host: string;
  port: number;
  transport: HeartbeatTransport;
  periodMs: number;
  devices: { id: string; key: string; recording: boolean }[];
}

const TICK_MS = 5;
const tally = new HeartbeatTally();

function play(task: DevicesTask, device: DevicesTask["devices"][number]): PlayedDevice {
  const { host, port } = task;
  const telemetry = {
    battery_percent: 71,
    rssi_dbm: -61,
    recording: device.recording,
    buffered_chunks: 0,
    period_seconds: task.periodMs / 1_000,
  };
  const options = { ...device, host, port, telemetry, tally };
  return task.transport === "http" ? new HttpDevice(options) : new SocketDevice(options);
}

/** Devices begin spread over one period, and each keeps its own beat. */
function run(task: DevicesTask): void {
  const start = performance.now();
  const step = task.periodMs / task.devices.length;
  const devices = task.devices.map((each, n) => ({
    dueAt: start + n * step,
    played: play(task, each),
  }));
  let next = 0;
  const timer = setInterval(() => {
    const now = performance.now();
    // In a circle: they are due in order, again and again.
    for (let n = 0; n < devices.length; n += 1) {
      const device = devices[next];
      if (device === undefined || device.dueAt > now) return;
      device.dueAt += task.periodMs;
      device.played.beat(now);
      next = (next + 1) % devices.length;
    }
  }, TICK_MS);
  process.on("disconnect", () => {
    clearInterval(timer);
    for (const { played } of devices) played.close();
  });
}

process.on("message", (message: DevicesTask | "report") => {
  if (message === "report") process.send?.(tally.take());
  else run(message);
});
