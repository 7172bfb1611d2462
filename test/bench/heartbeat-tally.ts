/** What the process of the devices tells when it is asked, since it was asked last. */
export interface DevicesReport {
  sent: number;
  /** Over HTTP each heartbeat has an answer; over a socket none has. */
  answered: number;
  /** Answers other than 200, and connections that broke or were closed. */
  failed: number;
  /** Heartbeats that were due while the one before was under way, or no connection was there. */
  skipped: number;
  p50Ms: number;
  p99Ms: number;
}

/** Counts what happens to heartbeats. */
export class HeartbeatTally {
  sent = 0;
  failed = 0;
  skipped = 0;
  #times: number[] = [];

  answered(ms: number): void {
    this.#times.push(ms);
  }

  take(): DevicesReport {
    const { sent, failed, skipped } = this;
    const times = this.#times.sort((a, b) => a - b);
    const at = (share: number) => times[Math.floor(times.length * share)] ?? 0;
    const report = {
      sent,
      answered: times.length,
      failed,
      skipped,
      p50Ms: at(0.5),
      p99Ms: at(0.99),
    };
    this.sent = 0;
    this.failed = 0;
    this.skipped = 0;
    this.#times = [];
    return report;
  }
}

export interface PlayOptions {
  host: string;
  port: number;
  id: string;
  key: string;
  telemetry: object;
  tally: HeartbeatTally;
}

export interface PlayedDevice {
  /** Its next heartbeat is due. */
  beat(now: number): void;
  close(): void;
}
