import { text } from "node:stream/consumers";
import { setTimeout as delay } from "node:timers/promises";
import { WebSocket } from "ws";
import { CLOSE } from "../../wire/close-codes.ts";
import type { ConfigureFrame, DeviceFrame, DeviceServerFrame } from "../../wire/device-frames.ts";
import { messageIn } from "../client/api-client.ts";
import { type BackOff, waitBefore } from "../client/back-off.ts";
import { CommandFailure } from "../client/command-context.ts";

export interface AudioSenderOptions {
  /** The stream's address: `ws://…/api/devices/{id}/stream`. */
  readonly url: string;
  /** The device's key. */
  readonly key: string;
  readonly configuration: Omit<ConfigureFrame, "type"> & { session_id: string };
  readonly signal: AbortSignal;
  /** The waits after consecutive connections that brought nothing. */
  readonly backOff?: BackOff;
  /** Called with the number of stream bytes that the service has stored. */
  readonly onStored?: (offset: number) => void;
  readonly onReconnect?: (reason: string, waitMs: number) => void;
}

/** What a device still has when its right to the stream ends. */
export interface UnstoredAudio {
  /** Bytes of the stream that the service has not stored, from `offset` on. */
  readonly bytes: Buffer;
  readonly offset: number;
  /** The sequence with which an upload goes on after what is stored. */
  readonly chunkSequence: number;
}

/**
 * Thrown when the device's right to stream has ended: its owner left or was disabled, its key was
 * revoked, or it was unpaired. For a day its key still uploads what was recorded until then.
 */
export class AccessEnded extends CommandFailure {
  readonly unstored: UnstoredAudio;
  readonly reason: string;

  constructor(reason: string, unstored: UnstoredAudio) {
    super(`The stream was refused: ${reason}`);
    this.unstored = unstored;
    this.reason = reason;
  }
}

const RECONNECT: BackOff = { attempts: 15, firstMs: 200, longestMs: 5_000 };
const HANDSHAKE_MS = 10_000;
const MESSAGE_BYTES = 32 * 1024;
/** Most bytes that are sent without an acknowledgement; further bytes wait here. */
const MOST_AHEAD = 512 * 1024;
const MOST_KEPT = 8 * 1024 * 1024;
const SILENCE_MS = 45_000;
const KEEP_ALIVE_MS = 15_000;
/** Close codes with which the device's right ends, though not its duty to bring what it has. */
const ENDED: ReadonlySet<number> = new Set([CLOSE.auth, CLOSE.forbidden]);
/** Close codes after which retrying is useless. */
const FINAL: ReadonlySet<number> = new Set([
  CLOSE.tooLarge,
  CLOSE.protocol,
  CLOSE.unknownSession,
  CLOSE.superseded,
]);

/**
 * Streams audio as a device does: keeps every byte until it is acknowledged, and after a broken
 * connection sends again from the offset that the service names, so that no sample is lost or
 * doubled.
 */
export class AudioSender {
  readonly #options: AudioSenderOptions;
  /** Bytes that are not acknowledged yet; the first one is at offset `#from` of the stream. */
  #kept = Buffer.alloc(0);
  #from = 0;
  #sentTo = 0;
  #chunkSequence = 0;
  #socket: WebSocket | undefined;
  #isBegun = false;
  #ended = false;
  #fruitless = 0;
  #failure: CommandFailure | undefined;
  #refusal = "";

  constructor(options: AudioSenderOptions) {
    this.#options = options;
  }

  /** Number of bytes that the service has not stored yet. */
  get unstored(): number {
    return this.#kept.byteLength;
  }

  /** True when so many bytes wait that the caller should pause. */
  get isFull(): boolean {
    return this.#failure === undefined && this.#kept.byteLength >= MOST_KEPT;
  }

  /** Adds the next bytes of the stream; throws when the service refused them permanently. */
  push(bytes: Uint8Array): void {
    if (this.#failure !== undefined) throw this.#failure;
    this.#kept = Buffer.concat([this.#kept, bytes]);
    this.#send();
  }

  /** Ends the current utterance. */
  finalize(): void {
    if (this.#isBegun) this.#tell({ type: "Finalize" });
  }

  /** Marks the end of the stream. `run` resolves when everything is stored. */
  end(): void {
    this.#ended = true;
    this.#send();
  }

  /** Cuts the connection, as a network failure does. */
  drop(): void {
    this.#socket?.terminate();
  }

  /** Connects, and reconnects after every break, until everything is stored. */
  async run(): Promise<void> {
    const { signal, onReconnect, backOff = RECONNECT } = this.#options;
    while (!signal.aborted) {
      const { code, reason } = await this.#connectOnce();
      if (code === CLOSE.done && this.#ended && this.#kept.byteLength === 0) return;
      if (ENDED.has(code)) throw this.#endAccess(reason || `closed with ${code}`);
      if (FINAL.has(code) || code === CLOSE.done) this.#fail(reason || `closed with ${code}`);
      this.#fruitless += 1;
      if (this.#fruitless >= backOff.attempts) this.#fail(reason || "The connection breaks.");
      const waitMs = waitBefore(this.#fruitless, backOff);
      onReconnect?.(reason || `connection lost (${code})`, waitMs);
      await delay(waitMs, undefined, { signal });
    }
  }

  #fail(reason: string): never {
    this.#failure = new CommandFailure(`The stream was refused: ${reason}`);
    throw this.#failure;
  }

  #endAccess(reason: string): AccessEnded {
    const unstored = { bytes: this.#kept, offset: this.#from, chunkSequence: this.#chunkSequence };
    const ended = new AccessEnded(reason, unstored);
    this.#failure = ended;
    return ended;
  }

  #connectOnce(): Promise<{ code: number; reason: string }> {
    const { url, key, signal } = this.#options;
    this.#isBegun = false;
    this.#refusal = "";
    const socket = new WebSocket(url, {
      headers: { "x-api-key": key },
      handshakeTimeout: HANDSHAKE_MS,
    });
    this.#socket = socket;
    return new Promise((resolve) => {
      const silence = setTimeout(() => socket.terminate(), SILENCE_MS);
      const alive = setInterval(() => this.#tell({ type: "KeepAlive" }), KEEP_ALIVE_MS);
      const abort = () => socket.terminate();
      signal.addEventListener("abort", abort, { once: true });
      const finish = (code: number, reason: string) => {
        clearTimeout(silence);
        clearInterval(alive);
        signal.removeEventListener("abort", abort);
        this.#isBegun = false;
        resolve({ code, reason: this.#refusal || reason });
      };
      socket.on("open", () => this.#tell({ type: "Configure", ...this.#options.configuration }));
      socket.on("message", (data) => {
        silence.refresh();
        this.#hear(JSON.parse(data.toString()) as DeviceServerFrame);
      });
      socket.on("ping", () => silence.refresh());
      socket.on("unexpected-response", async (_request, response) => {
        const status = response.statusCode ?? 0;
        const said = messageIn(await text(response).catch(() => ""));
        const code = status === 401 ? CLOSE.auth : status === 403 ? CLOSE.forbidden : 0;
        finish(status === 404 ? CLOSE.unknownSession : code, `${said} (HTTP ${status})`);
        socket.terminate();
      });
      socket.on("error", (error) => {
        this.#refusal ||= error.message;
      });
      socket.on("close", (code, reason) => finish(code, reason.toString()));
    });
  }

  #hear(frame: DeviceServerFrame): void {
    if (frame.type === "Begin" || frame.type === "AudioAck") {
      this.#chunkSequence = frame.chunk_sequence;
    }
    if (frame.type === "Begin") return this.#begin(frame.audio_offset_bytes);
    if (frame.type === "AudioAck") return this.#forget(frame.audio_offset_bytes);
    if (frame.type === "Error") this.#refusal = frame.message;
  }

  #begin(offset: number): void {
    if (offset < this.#from || offset > this.#from + this.#kept.byteLength) {
      this.#failure = new CommandFailure(
        `The service wants audio from byte ${offset}; only ${this.#from} to ${this.#from + this.#kept.byteLength} are kept.`,
      );
      this.#socket?.close();
      return;
    }
    this.#forget(offset);
    this.#sentTo = offset;
    this.#isBegun = true;
    this.#send();
  }

  #forget(offset: number): void {
    const stored = offset - this.#from;
    if (stored > 0) {
      this.#kept = this.#kept.subarray(Math.min(stored, this.#kept.byteLength));
      this.#from = offset;
      this.#fruitless = 0;
      this.#options.onStored?.(offset);
    }
    this.#send();
  }

  #send(): void {
    const socket = this.#socket;
    if (!this.#isBegun || socket?.readyState !== WebSocket.OPEN) return;
    for (;;) {
      const at = this.#sentTo - this.#from;
      const part = this.#kept.subarray(at, at + MESSAGE_BYTES);
      if (part.byteLength === 0 || at > MOST_AHEAD) break;
      socket.send(part);
      this.#sentTo += part.byteLength;
    }
    const isAllSent = this.#sentTo === this.#from + this.#kept.byteLength;
    if (!this.#ended || !isAllSent) return;
    this.#isBegun = false;
    this.#tell({ type: "CloseStream" });
  }

  #tell(frame: DeviceFrame): void {
    if (this.#socket?.readyState !== WebSocket.OPEN) return;
    this.#socket.send(JSON.stringify(frame));
  }
}
