import { AppError } from "../../../base/errors.ts";
import type { Log } from "../../../base/log.ts";
import type { Runtime, Timer } from "../../../base/runtime.ts";
import { TroubleLog } from "../../../base/trouble-log.ts";

/** What a try to write found out about a disk. */
export interface DiskState {
  /** Why a small file could not be written: the system's code and message. */
  fault?: string;
  /** Bytes that may still be written, and of the whole file system; absent when it tells neither. */
  room?: { free: number; size: number };
}

interface AudioWatchOptions {
  disk: {
    /** Writes a small file durably, and removes it; takes as long as the disk does. */
    probe(): Promise<DiskState>;
  };
  /** What is tried; a folder by default. */
  name?: { kind: "folder" | "bucket" };
  runtime: Pick<Runtime, "every" | "monotonic">;
  log: Log;
}

interface Check {
  status: "ok" | "degraded" | "down";
  message?: string;
}

/** Between two tries, milliseconds. */
const EVERY_MS = 10_000;
/** A try that takes longer is told as a slow disk, milliseconds. */
const SLOW_MS = 2_000;
/** A try that takes longer is told as a hanging disk, where uploads would fail, milliseconds. */
const HANGING_MS = 10_000;
/** Share of the disk below which the operator is told. */
const LITTLE = 0.1;
/** With less room most uploads do not fit, bytes. */
const LEAST_BYTES = 1024 * 1024;

/**
 * Watches whether the folder of the audio takes files: it tries every 10 s. There is never more than
 * one try, so a disk that hangs holds one, and is known to work again as soon as that one ends.
 */
export class AudioWatch {
  readonly #options: AudioWatchOptions;
  readonly #trouble: TroubleLog;
  #timer: Timer | undefined;
  /** When the try under way began. */
  #since: number | undefined;
  #last: { state: DiskState; ms: number } = { state: {}, ms: 0 };

  constructor(options: AudioWatchOptions) {
    this.#options = options;
    this.#trouble = new TroubleLog(options.log, "audio cannot be stored", options.runtime);
  }

  start(): void {
    this.#timer ??= this.#options.runtime.every(EVERY_MS, () => this.#beat());
    this.#beat();
  }

  stop(): void {
    this.#timer?.cancel();
  }

  /** `down` where uploads would fail, `degraded` when they may soon. */
  get check(): Check {
    const { fault, room } = this.#last.state;
    if (this.#isHanging)
      return { status: "down", message: `The audio ${this.#kind} does not answer.` };
    if (fault !== undefined) {
      return { status: "down", message: `The audio ${this.#kind} cannot be written: ${fault}` };
    }
    if (room !== undefined && room.free < LEAST_BYTES) {
      return { status: "down", message: "The disk of the audio is full." };
    }
    if (room !== undefined && room.free < room.size * LITTLE) {
      const percent = Math.floor((room.free / room.size) * 100);
      return { status: "degraded", message: `The disk of the audio has ${percent} % left.` };
    }
    if (this.#ms <= SLOW_MS) return { status: "ok" };
    const seconds = Math.round(this.#ms / 1_000);
    return {
      status: "degraded",
      message: `The ${this.#kind === "folder" ? "disk" : "bucket"} of the audio takes ${seconds} s for a file.`,
    };
  }

  /** Bytes, as of the last try; undefined while the disk does not tell. */
  get room(): DiskState["room"] {
    return this.#last.state.room;
  }

  /** How long the last try took, or takes by now. */
  get seconds(): number {
    return this.#ms / 1_000;
  }

  /**
   * Throws `unavailable` while the disk hangs: audio that is received for it would fill memory, and
   * the tries to store it the process's threads.
   */
  admit(): void {
    if (!this.#isHanging) return;
    throw new AppError("unavailable", "Audio cannot be stored just now. Please try again.", {
      retryAfter: EVERY_MS / 1_000,
    });
  }

  get #kind(): string {
    return this.#options.name?.kind ?? "folder";
  }

  get #underWayMs(): number {
    return this.#since === undefined ? 0 : this.#options.runtime.monotonic() - this.#since;
  }

  get #ms(): number {
    return Math.max(this.#last.ms, this.#underWayMs);
  }

  get #isHanging(): boolean {
    return this.#underWayMs > HANGING_MS;
  }

  #beat(): void {
    if (this.#since === undefined) void this.#try();
    else if (this.#isHanging) this.#report();
  }

  async #try(): Promise<void> {
    const { disk, runtime } = this.#options;
    const since = runtime.monotonic();
    this.#since = since;
    const state = await disk.probe().catch((error: unknown): DiskState => {
      return { fault: String(error) };
    });
    this.#since = undefined;
    this.#last = { state, ms: runtime.monotonic() - since };
    this.#report();
  }

  #report(): void {
    const { status, message } = this.check;
    if (status === "down") this.#trouble.failed(message);
    else this.#trouble.worked();
  }
}
