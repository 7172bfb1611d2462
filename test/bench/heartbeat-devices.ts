import { connect, type Socket } from "node:net";

/** What the process of the devices is told, over IPC. */
export interface DevicesTask {
  host: string;
  port: number;
  periodMs: number;
  devices: { id: string; key: string; recording: boolean }[];
}

/** What it tells when it is asked, since it was asked last. */
export interface DevicesReport {
  sent: number;
  answered: number;
  /** Answers other than 200, and connections that broke. */
  failed: number;
  /** Heartbeats that were due while the one before had no answer yet. */
  skipped: number;
  p50Ms: number;
  p99Ms: number;
}

const TICK_MS = 5;

/** A device with one connection that it keeps: sends when told, times the answer. */
class KeptDevice {
  readonly #request: Buffer;
  readonly #task: DevicesTask;
  #socket: Socket | undefined;
  #sentAt = 0;
  dueAt: number;

  constructor(task: DevicesTask, device: DevicesTask["devices"][number], dueAt: number) {
    this.#task = task;
    this.dueAt = dueAt;
    const body = JSON.stringify({
      battery_percent: 71,
      rssi_dbm: -61,
      recording: device.recording,
      buffered_chunks: 0,
      period_seconds: task.periodMs / 1_000,
    });
    this.#request = Buffer.from(
      `POST /api/devices/${device.id}/heartbeat HTTP/1.1\r\nHost: ${task.host}:${task.port}\r\nX-API-Key: ${device.key}\r\nContent-Type: application/json\r\nContent-Length: ${body.length}\r\n\r\n${body}`,
    );
  }

  beat(now: number): void {
    this.dueAt += this.#task.periodMs;
    if (this.#sentAt !== 0) {
      tally.skipped += 1;
      return;
    }
    this.#sentAt = now;
    tally.sent += 1;
    this.#open().write(this.#request);
  }

  close(): void {
    this.#socket?.destroy();
  }

  #open(): Socket {
    if (this.#socket !== undefined) return this.#socket;
    const socket = connect({ host: this.#task.host, port: this.#task.port, noDelay: true });
    socket.on("data", (data) => this.#answered(data));
    socket.on("error", () => {});
    socket.on("close", () => this.#broken());
    this.#socket = socket;
    return socket;
  }

  /** An answer fits one packet; its head is all that is looked at. */
  #answered(data: Buffer): void {
    if (this.#sentAt === 0) return;
    if (data.subarray(0, 12).toString("latin1") === "HTTP/1.1 200") tally.answered += 1;
    else tally.failed += 1;
    tally.times.push(performance.now() - this.#sentAt);
    this.#sentAt = 0;
  }

  #broken(): void {
    this.#socket = undefined;
    if (this.#sentAt !== 0) tally.failed += 1;
    this.#sentAt = 0;
  }
}

const tally = { sent: 0, answered: 0, failed: 0, skipped: 0, times: [] as number[] };

function takeReport(): DevicesReport {
  const { sent, answered, failed, skipped } = tally;
  const times = tally.times.sort((a, b) => a - b);
  const at = (share: number) => times[Math.floor(times.length * share)] ?? 0;
  const report = { sent, answered, failed, skipped, p50Ms: at(0.5), p99Ms: at(0.99) };
  Object.assign(tally, { sent: 0, answered: 0, failed: 0, skipped: 0, times: [] });
  return report;
}

/** Devices begin spread over one period, and each keeps its own beat. */
function run(task: DevicesTask): void {
  const start = performance.now();
  const step = task.periodMs / task.devices.length;
  const devices = task.devices.map((each, n) => new KeptDevice(task, each, start + n * step));
  let next = 0;
  const timer = setInterval(() => {
    const now = performance.now();
    // In a circle: they are due in order, again and again.
    for (let n = 0; n < devices.length; n += 1) {
      const device = devices[next];
      if (device === undefined || device.dueAt > now) return;
      device.beat(now);
      next = (next + 1) % devices.length;
    }
  }, TICK_MS);
  process.on("disconnect", () => {
    clearInterval(timer);
    for (const device of devices) device.close();
  });
}

process.on("message", (message: DevicesTask | "report") => {
  if (message === "report") process.send?.(takeReport());
  else run(message);
});
