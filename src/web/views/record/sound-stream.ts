import type { DeviceFrame, DeviceServerFrame } from "../../../wire/device-frames.ts";
import { API_BASE, ApiFailure, call, messageOf } from "../../api/client.ts";
import type { RestOfSound } from "./kept-sound.ts";
import { UnstoredSound } from "./unstored-sound.ts";

interface StreamOptions {
  readonly deviceId: string;
  readonly key: string;
  readonly sessionId: string;
  readonly sampleRate: number;
  /** Sound of a recording that was cut off: it is sent first. */
  readonly rest?: RestOfSound | undefined;
  /** Called with the offset before which everything is stored. */
  readonly onStored?: (offset: number) => void;
  /** Called when the connection breaks and when it is back. */
  readonly onLink: (isThere: boolean) => void;
}

const MESSAGE_BYTES = 32 * 1024;
const MOST_AHEAD = 512 * 1024;
const BEAT_MS = 15_000;
const SILENCE_MS = 45_000;
const LONGEST_WAIT_MS = 5_000;
/** Closed with one of these, trying again is useless: protocol, right, session, superseded. */
const FINAL: ReadonlySet<number> = new Set([1009, 4400, 4401, 4403, 4404, 4409]);
const DONE = 1000;

/** The service takes no more of the recording, with its error code; "" where it told none. */
export class StreamRefused extends Error {
  readonly code: string;

  constructor(message: string, code: string) {
    super(message);
    this.code = code;
  }
}

/** Streams 16-bit sound into a session as a device does, over as many connections as it takes. */
export class SoundStream {
  readonly #options: StreamOptions;
  #sound: UnstoredSound;
  #tellBegun: (end: number) => void = () => undefined;
  /**
   * Resolves to the offset at which new sound follows, once the service has said what it has of a
   * recording that was cut off. Until then nothing may be pushed to such a stream.
   */
  readonly begun: Promise<number>;
  #socket: WebSocket | undefined;
  #isBegun = false;
  #isEnding = false;
  #sentTo = 0;
  #fruitless = 0;
  #refusal = "";
  #refusalCode = "";
  #hasBegun = false;

  constructor(options: StreamOptions) {
    this.#options = options;
    const { rest } = options;
    this.#sound = new UnstoredSound(rest?.from);
    if (rest !== undefined && rest.bytes.byteLength > 0) this.#sound.push(rest.bytes);
    this.begun = new Promise((resolve) => {
      this.#tellBegun = resolve;
    });
  }

  /** Bytes that the service has not stored yet. */
  get unstored(): number {
    return this.#sound.bytes;
  }

  /** What the service has not stored yet. */
  get rest(): RestOfSound {
    const { from, bytes } = this.#sound;
    const rest = new Uint8Array(bytes);
    for (let at = from; at < this.#sound.end; ) {
      const part = this.#sound.read(at, bytes);
      rest.set(part, at - from);
      at += part.byteLength;
    }
    return { from, bytes: rest };
  }

  /** What comes after `end`, as the last message of a microphone's thread may, is dropped. */
  push(samples: ArrayBuffer): void {
    if (this.#isEnding) return;
    this.#sound.push(new Uint8Array(samples));
    this.#send();
  }

  /** No more sound follows; `run` ends when all of it is stored. */
  end(): void {
    this.#isEnding = true;
    this.#send();
  }

  /** Cuts the connection, as a network failure does. */
  drop(): void {
    this.#socket?.close();
  }

  /** Resolves when everything is stored; throws what the service refuses for good. */
  async run(): Promise<void> {
    for (;;) {
      const code = await this.#connectOnce();
      if (code === DONE && this.#isEnding && this.#sound.bytes === 0) return;
      if (code === DONE || FINAL.has(code)) {
        const message = this.#refusal || `The service closed the recording (${code}).`;
        throw new StreamRefused(message, this.#refusalCode);
      }
      this.#options.onLink(false);
      this.#fruitless += 1;
      const ceiling = Math.min(LONGEST_WAIT_MS, 250 * 2 ** Math.min(this.#fruitless, 10));
      await new Promise((resolve) => setTimeout(resolve, ceiling * (0.5 + Math.random() / 2)));
    }
  }

  async #connectOnce(): Promise<number> {
    const { deviceId, key } = this.#options;
    let ticket: string;
    try {
      const headers = { "x-api-key": key };
      ({ ticket } = await call((api) => api.POST("/auth/live-ticket", { headers })));
    } catch (error) {
      const status = error instanceof ApiFailure ? error.status : 0;
      this.#refusal = messageOf(error);
      return status === 401 || status === 403 ? 4401 : 0;
    }
    const base = API_BASE.replace(/^http/, "ws");
    const socket = new WebSocket(
      `${base}/devices/${deviceId}/stream?ticket=${encodeURIComponent(ticket)}`,
    );
    this.#socket = socket;
    return new Promise((resolve) => {
      const cut = () => socket.close();
      let silence = setTimeout(cut, SILENCE_MS);
      const beat = setInterval(() => this.#beat(), BEAT_MS);
      socket.onopen = () => this.#configure();
      socket.onmessage = ({ data }) => {
        clearTimeout(silence);
        silence = setTimeout(cut, SILENCE_MS);
        this.#hear(String(data));
      };
      socket.onclose = ({ code, reason }) => {
        clearTimeout(silence);
        clearInterval(beat);
        this.#isBegun = false;
        this.#refusal ||= reason;
        resolve(code);
      };
    });
  }

  #configure(): void {
    const { sessionId, sampleRate } = this.#options;
    this.#refusal = "";
    this.#refusalCode = "";
    this.#tell({
      type: "Configure",
      session_id: sessionId,
      encoding: "pcm_s16le",
      sample_rate: sampleRate,
      channels: 1,
    });
  }

  #beat(): void {
    this.#tell({ type: "Heartbeat", recording: true, period_seconds: BEAT_MS / 1_000 });
  }

  #hear(text: string): void {
    const content: unknown = JSON.parse(text);
    const frames = (Array.isArray(content) ? content : [content]) as DeviceServerFrame[];
    for (const frame of frames) {
      if (frame.type === "Error") {
        this.#refusal = frame.message;
        this.#refusalCode = frame.code;
      }
      if (frame.type === "AudioAck") this.#forget(frame.audio_offset_bytes);
      if (frame.type === "Begin") this.#begin(frame.audio_offset_bytes);
    }
  }

  #begin(offset: number): void {
    // What was sent last before a reload may have been stored, but not kept here any more.
    const isAhead = this.#options.rest !== undefined && offset > this.#sound.end;
    if (isAhead && !this.#hasBegun) this.#sound = new UnstoredSound(offset);
    if (!this.#sound.reaches(offset)) {
      this.#refusal = "The service wants sound that this page has no more.";
      this.#socket?.close(4400);
      return;
    }
    this.#forget(offset);
    this.#sentTo = offset;
    this.#isBegun = true;
    this.#hasBegun = true;
    this.#tellBegun(this.#sound.end);
    this.#options.onLink(true);
    this.#beat();
    this.#send();
  }

  #forget(offset: number): void {
    this.#sound.forget(offset);
    this.#options.onStored?.(offset);
    this.#fruitless = 0;
    this.#send();
  }

  #send(): void {
    const socket = this.#socket;
    if (!this.#isBegun || socket?.readyState !== WebSocket.OPEN) return;
    while (this.#sentTo < this.#sound.end) {
      if (this.#sentTo - this.#sound.from > MOST_AHEAD) return;
      const part = this.#sound.read(this.#sentTo, MESSAGE_BYTES);
      socket.send(part.slice());
      this.#sentTo += part.byteLength;
    }
    if (!this.#isEnding) return;
    this.#isBegun = false;
    this.#tell({ type: "CloseStream" });
  }

  #tell(frame: DeviceFrame): void {
    if (this.#socket?.readyState === WebSocket.OPEN) this.#socket.send(JSON.stringify(frame));
  }
}
