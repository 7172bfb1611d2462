import { AppError } from "../../src/base/errors.ts";
import type { Machine } from "./kernel/machine.ts";

/** One file of audio. */
export interface Blob {
  data: Buffer;
  /** As it is, and not cells that stand for sound. */
  isTrack: boolean;
}

/** The installation's audio, by session and digest. */
export class SimBlobs {
  readonly #sessions = new Map<string, Map<string, Blob>>();
  readonly #logs = new Map<string, Map<string, Buffer>>();

  /** One that has the name already stays: it may have been silenced since. */
  async put(by: Machine, sessionId: string, sha256: string, blob: Blob): Promise<void> {
    await by.delay(0.2);
    if (this.peek(sessionId, sha256) === undefined) this.#set(sessionId, sha256, blob);
  }

  async replace(by: Machine, sessionId: string, sha256: string, blob: Blob): Promise<void> {
    await by.delay(0.2);
    this.#set(sessionId, sha256, blob);
  }

  #set(sessionId: string, sha256: string, blob: Blob): void {
    const held = this.#sessions.get(sessionId) ?? new Map<string, Blob>();
    this.#sessions.set(sessionId, held.set(sha256, blob));
  }

  async read(by: Machine, sessionId: string, sha256: string): Promise<Blob> {
    await by.delay(0.2);
    const blob = this.peek(sessionId, sha256);
    if (blob === undefined) throw new AppError("not_found", "There is no such audio.");
    return blob;
  }

  /** As it is now, for who looks at everything. */
  peek(sessionId: string, sha256: string): Blob | undefined {
    return this.#sessions.get(sessionId)?.get(sha256);
  }

  async delete(by: Machine, sessionId: string): Promise<void> {
    await by.delay(0.2);
    this.#sessions.delete(sessionId);
    this.#logs.delete(sessionId);
  }

  /** Some logs take no more after a few entries, as on a disk that is full. */
  async appendLog(by: Machine, sessionId: string, log: string, at: number, bytes: Uint8Array) {
    await by.delay(0.2);
    const logs = this.#logs.get(sessionId) ?? new Map<string, Buffer>();
    const before = at === 0 ? Buffer.alloc(0) : logs.get(log);
    if (before === undefined) throw new AppError("not_found", "There is no such log.");
    if (at > 2_000 && log.endsWith("0")) throw new AppError("storage_full", "The disk is full.");
    this.#logs.set(sessionId, logs.set(log, Buffer.concat([before.subarray(0, at), bytes])));
  }

  async readLog(by: Machine, sessionId: string, log: string): Promise<Buffer> {
    await by.delay(0.2);
    const found = this.#logs.get(sessionId)?.get(log);
    if (found === undefined) throw new AppError("not_found", "There is no such log.");
    return found;
  }

  async removeLog(by: Machine, sessionId: string, log: string): Promise<void> {
    await by.delay(0.2);
    this.#logs.get(sessionId)?.delete(log);
  }
}
