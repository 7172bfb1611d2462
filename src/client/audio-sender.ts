import { CLOSE } from "../wire/close-codes.ts";
import { type BackOff, waitBefore } from "./back-off.ts";
import { delay } from "./delay.ts";
import { ApiError, ChannelError, reasonOf, Unreachable, VoiceError } from "./errors.ts";
import { HANDSHAKE_MS, RECONNECT, SILENCE_MS } from "./follow.ts";
import { type FrameSocket, type OpenSocket, SocketClosed } from "./frame-socket.ts";
import type { StreamConfiguration, StreamFrame, StreamServerFrame } from "./frames.ts";
import { UnacknowledgedAudio } from "./unacknowledged-audio.ts";

export interface AudioSenderOptions {
  /** Opens the stream's WebSocket at `path`. */
  readonly open: OpenSocket;
  /** `/sessions/{id}/stream` of a program's key, `/devices/{id}/stream` of a device's. */
  readonly path: string;
  readonly configuration: StreamConfiguration;
  readonly signal?: AbortSignal | undefined;
  /**
   * True: the bytes follow those that the service has of this session's stream, from an earlier
   * process; they wait for `onBegin`, which tells their place.
   */
  readonly resume?: boolean | undefined;
  /**
   * What an earlier process had kept, and its place in the stream: it is sent first, but for what
   * the service has by now; if that is more than this, the bytes follow that.
   */
  readonly kept?: BufferedBytes | undefined;
  /** Told when a connection is open and while it stays; else no more than that it is alive. */
  readonly heartbeat?: Omit<Extract<StreamFrame, { type: "Heartbeat" }>, "type"> | undefined;
  /** The waits after consecutive connections that brought nothing. */
  readonly backOff?: BackOff | undefined;
  /** Called when a connection is open, with the session and the byte from which it goes on. */
  readonly onBegin?: ((sessionId: string, offset: number) => void) | undefined;
  /** Called with the number of stream bytes that the service has stored. */
  readonly onStored?: ((offset: number) => void) | undefined;
  readonly onReconnect?: ((reason: string, waitMs: number) => void) | undefined;
  /** Words of the session, if `transcript` asks for them, each once; warnings; signs of life. */
  readonly onFrame?: ((frame: StreamServerFrame) => void) | undefined;
}

/** Bytes of a stream, from `offset` on. */
interface BufferedBytes {
  readonly bytes: Uint8Array<ArrayBuffer>;
  readonly offset: number;
}

/** What a device still has when its right to the stream ends. */
export interface UnstoredAudio extends BufferedBytes {
  /** The sequence with which an upload goes on after what is stored. */
  readonly chunkSequence: number;
}

/**
 * Thrown when the right to stream has ended: the owner left or was disabled, the key was revoked, or
 * the device was unpaired. For a day a device's key still uploads what was recorded until then.
 */
export class AccessEnded extends ChannelError {
  readonly unstored: UnstoredAudio;
  readonly reason: string;

  constructor(
    reason: string,
    code: ChannelError["code"],
    closeCode: number,
    unstored: UnstoredAudio,
  ) {
    super(code, `The stream was refused: ${reason}`, { closeCode, said: reason });
    this.unstored = unstored;
    this.reason = reason;
  }
}

/** Most bytes that are sent without an acknowledgement; further bytes wait here. */
const MOST_AHEAD = 512 * 1024;
const MOST_KEPT = 8 * 1024 * 1024;
const KEEP_ALIVE_MS = 15_000;
/** Close codes with which the right ends, though not the duty to bring what is there. */
const ENDED: ReadonlySet<number> = new Set([CLOSE.auth, CLOSE.forbidden]);
/** Close codes after which retrying is useless. */
const FINAL: ReadonlySet<number> = new Set([
  CLOSE.tooLarge,
  CLOSE.protocol,
  CLOSE.unknownSession,
  CLOSE.superseded,
]);
/** What a refused upgrade is among the close codes. */
const CODE_OF_STATUS: Readonly<Record<number, number>> = {
  401: CLOSE.auth,
  403: CLOSE.forbidden,
  404: CLOSE.unknownSession,
};

/** How a connection ended. */
interface Ending {
  readonly code: number;
  readonly reason: string;
}

/**
 * Streams audio: keeps every byte until it is acknowledged, and after a broken connection sends again
 * from the offset that the service names, so that no sample is lost or doubled.
 */
export class AudioSender {
  readonly #options: AudioSenderOptions;
  readonly #kept: UnacknowledgedAudio;
  #sessionId: string | undefined;
  #seq: number | undefined;
  #chunkSequence = 0;
  #socket: FrameSocket | undefined;
  #isBegun = false;
  #ended = false;
  #isClosing = false;
  #fruitless = 0;
  #failure: VoiceError | undefined;
  #refusal = "";
  #refusalCode: ChannelError["code"] = "";

  constructor(options: AudioSenderOptions) {
    this.#options = options;
    // Opus packets go as they are handed over; of samples any cut will do.
    this.#kept = new UnacknowledgedAudio(options.configuration.encoding !== "opus");
    if (options.kept === undefined) return;
    this.#kept.startAt(options.kept.offset);
    this.#kept.push(options.kept.bytes);
  }

  /** Number of bytes that the service has not stored yet. */
  get unstored(): number {
    return this.#kept.bytes;
  }

  /** What the service has not stored yet. */
  get rest(): BufferedBytes {
    return { bytes: this.#kept.all(), offset: this.#kept.from };
  }

  /** The place in the stream of the byte that is pushed next. */
  get position(): number {
    return this.#kept.to;
  }

  /** True when so many bytes wait that the caller should pause. */
  get isFull(): boolean {
    return this.#failure === undefined && this.#kept.bytes >= MOST_KEPT;
  }

  /** Adds the next bytes of the stream; throws when the service refused them permanently. */
  push(bytes: Uint8Array): void {
    if (this.#failure !== undefined) throw this.#failure;
    this.#kept.push(bytes);
    this.#send();
  }

  /** Ends the current utterance. */
  finalize(): void {
    if (this.#isBegun) this.#notify({ type: "Finalize" });
  }

  /** Marks the end of the stream. `run` resolves when everything is stored. */
  end(): void {
    this.#ended = true;
    this.#send();
  }

  /** Cuts the connection, as a network failure does. */
  drop(): void {
    this.#socket?.drop();
  }

  /**
   * Connects, and reconnects after every break, until everything is stored. Rejects with
   * `AccessEnded`, another `ChannelError`, or the reason of the signal.
   */
  async run(): Promise<void> {
    const { signal, onReconnect, backOff = RECONNECT } = this.#options;
    for (;;) {
      const { code, reason } = await this.#connectOnce();
      if (code === CLOSE.done && this.#ended && this.#kept.bytes === 0) return;
      if (this.#failure !== undefined) throw this.#failure;
      if (ENDED.has(code)) throw this.#endAccess(reason, code);
      if (FINAL.has(code) || code === CLOSE.done) this.#fail(reason, code);
      this.#fruitless += 1;
      if (this.#fruitless >= backOff.attempts) this.#fail(reason, code, true);
      const waitMs = waitBefore(this.#fruitless, backOff);
      onReconnect?.(reason, waitMs);
      await delay(waitMs, signal);
    }
  }

  #fail(reason: string, code: number, isRetryable = false): never {
    const told = `The stream was refused: ${reason}`;
    this.#failure = new ChannelError(this.#refusalCode || "closed", told, {
      isRetryable,
      closeCode: code,
      said: reason,
    });
    throw this.#failure;
  }

  #endAccess(reason: string, code: number): AccessEnded {
    const unstored = { ...this.rest, chunkSequence: this.#chunkSequence };
    const ended = new AccessEnded(reason, this.#refusalCode || "forbidden", code, unstored);
    this.#failure = ended;
    return ended;
  }

  async #connectOnce(): Promise<Ending> {
    const { open, path, signal } = this.#options;
    [this.#isBegun, this.#isClosing] = [false, false];
    [this.#refusal, this.#refusalCode] = ["", ""];
    let alive: ReturnType<typeof setInterval> | undefined;
    try {
      this.#socket = await open(path, { handshakeMs: HANDSHAKE_MS, signal });
      alive = setInterval(() => this.#beat(), KEEP_ALIVE_MS);
      this.#notify({ type: "Configure", ...this.#options.configuration, ...this.#goingOn });
      return await this.#listen(this.#socket);
    } catch (error) {
      if (error instanceof SocketClosed) {
        return { code: error.code, reason: this.#refusal || error.message };
      }
      if (error instanceof ApiError) {
        const code = CODE_OF_STATUS[error.status] ?? (error.isRetryable ? 0 : CLOSE.protocol);
        this.#refusalCode = error.code;
        return { code, reason: `${error.said} (HTTP ${error.status})` };
      }
      // Whoever streams knows the address; with its ids it is longer than a terminal is wide.
      if (error instanceof Unreachable) return { code: 0, reason: `no answer${error.how}` };
      if (error instanceof VoiceError) return { code: 0, reason: reasonOf(error) };
      throw error;
    } finally {
      clearInterval(alive);
      this.#isBegun = false;
      this.#socket?.close();
      this.#socket = undefined;
    }
  }

  /** What Configure says of the connections before. */
  get #goingOn(): { session_id?: string; from_seq?: number } {
    const { transcript } = this.#options.configuration;
    return {
      ...(this.#sessionId !== undefined && { session_id: this.#sessionId }),
      ...(this.#seq !== undefined && transcript === true && { from_seq: this.#seq }),
    };
  }

  async #listen(socket: FrameSocket): Promise<Ending> {
    for (;;) {
      const frames = await socket.next<StreamServerFrame>(SILENCE_MS, this.#options.signal);
      if (frames !== undefined) {
        for (const frame of frames) this.#hear(frame);
        if (this.#failure !== undefined) return { code: 0, reason: this.#failure.message };
        continue;
      }
      const isAwaited = !this.#isBegun || this.#isClosing || this.#kept.isUnderWay;
      if (isAwaited) return { code: 0, reason: "it fell silent" };
      // Nothing was sent, so nothing has to be answered.
      socket.heard();
    }
  }

  #hear(frame: StreamServerFrame): void {
    if (frame.type === "Begin") return this.#begin(frame);
    if (frame.type === "AudioAck") {
      this.#chunkSequence = frame.chunk_sequence;
      return this.#forget(frame.audio_offset_bytes);
    }
    if (frame.type === "Error") [this.#refusal, this.#refusalCode] = [frame.message, frame.code];
    if ("at" in frame) {
      if (this.#seq !== undefined && frame.seq <= this.#seq) return;
      this.#seq = frame.seq;
    }
    this.#options.onFrame?.(frame);
  }

  #begin(frame: Extract<StreamServerFrame, { type: "Begin" }>): void {
    const { audio_offset_bytes: offset, session_id: sessionId } = frame;
    const isFirst = this.#sessionId === undefined;
    this.#chunkSequence = frame.chunk_sequence;
    if (isFirst && this.#options.resume === true) this.#kept.moveTo(offset);
    // What was sent last may have been stored, but not kept any more.
    const isAhead = this.#options.kept !== undefined && offset > this.#kept.to;
    if (isFirst && isAhead) this.#kept.startAt(offset);
    const { from, to } = this.#kept;
    if (offset < from || offset > to) {
      const message = `The service wants audio from byte ${offset}; only ${from} to ${to} are kept.`;
      this.#failure = new ChannelError("audio_lost", message);
      return;
    }
    this.#sessionId = sessionId;
    this.#kept.sendFrom(offset);
    this.#isBegun = true;
    this.#options.onBegin?.(sessionId, offset);
    if (this.#options.heartbeat !== undefined) this.#beat();
    this.#forget(offset);
  }

  #forget(offset: number): void {
    if (this.#kept.forget(offset)) {
      this.#fruitless = 0;
      this.#options.onStored?.(offset);
    }
    this.#send();
  }

  #send(): void {
    const socket = this.#socket;
    if (!this.#isBegun || this.#isClosing || socket === undefined) return;
    while (this.#kept.ahead <= MOST_AHEAD) {
      const part = this.#kept.next;
      if (part === undefined || !socket.send(part)) break;
      this.#kept.sent();
    }
    if (!this.#ended || this.#kept.next !== undefined) return;
    this.#isClosing = true;
    this.#notify({ type: "CloseStream" });
  }

  #beat(): void {
    const { heartbeat } = this.#options;
    this.#notify(
      heartbeat === undefined ? { type: "KeepAlive" } : { type: "Heartbeat", ...heartbeat },
    );
  }

  #notify(frame: StreamFrame): void {
    this.#socket?.send(frame);
  }
}
