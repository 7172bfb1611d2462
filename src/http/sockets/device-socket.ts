import { type Authenticator, endsCaller } from "../../access/authenticator.ts";
import type { RightHolder } from "../../access/rights-watch.ts";
import { withTimeout } from "../../base/deferred.ts";
import { AppError, errorMessage, toAppError } from "../../base/errors.ts";
import type { Log } from "../../base/log.ts";
import { type AudioStream, SLOW_BYTES } from "../../conversations/recording/stream.ts";
import type {
  StreamCaller,
  StreamOrder,
  StreamPort,
} from "../../conversations/recording/streams.ts";
import type { LiveSource } from "../../live/live-source.ts";
import type { HeartbeatCommand } from "../../tenancy/devices/heartbeats.ts";
import { CLOSE, type CloseCode } from "../../wire/close-codes.ts";
import type { DeviceFrame, DeviceServerFrame } from "../../wire/device-frames.ts";
import type { PublishedFrame } from "../../wire/live-frames.ts";
import type { NoticeCode } from "../../wire/notice-codes.ts";
import { callerFields } from "../server/request-log.ts";
import { AudioAcks } from "./audio-acks.ts";
import { beginFrame, deviceCloseCode, isNoAudio } from "./device-answers.ts";
import {
  DeviceTranscriptAccess,
  type DeviceTranscriptAccessOptions,
  noReader,
  type TranscriptRequest,
} from "./device-transcript-access.ts";
import { orderOf, parseDeviceFrame } from "./frame-parser.ts";
import type { Connection } from "./live-socket.ts";

const CLOSE_MS = 30_000;
/** Most time for storing what came before a right ended: its socket is to close within 5 s. */
const LEAVE_MS = 2_000;
const AUDIO_FRAME_BYTES = 1024 * 1024;

/** Frames of the session that all devices receive; none contains words. */
const FOR_DEVICES: ReadonlySet<PublishedFrame["type"]> = new Set([
  "SpeechStarted",
  "UtteranceEnd",
  "SessionStatus",
  "Heartbeat",
  "Warning",
]);

/** Dependencies that all device sockets share. */
export interface DeviceSocketOptions extends DeviceTranscriptAccessOptions {
  streams: StreamPort;
  source: Pick<LiveSource, "follow">;
  authenticator: Pick<Authenticator, "revalidate">;
  log: Log;
}

/**
 * The stream of an authenticated device, or of a service key into a session of its workspace.
 *
 * waiting ─Configure | Resume→ opening ─Begin→ streaming ─CloseStream→ closing → closed
 *                            streaming | closing ─right ended→ leaving → closed
 *    any ─failure | other end gone | superseded→ closed
 *
 * Audio that came before the end is stored and becomes a chunk, whatever ends the stream.
 */
export class DeviceSocket implements RightHolder {
  readonly #options: DeviceSocketOptions;
  readonly #connection: Connection;
  #device: StreamCaller;
  #phase: "waiting" | "opening" | "streaming" | "closing" | "leaving" | "closed" = "waiting";
  #stream: AudioStream | undefined;
  #stopFollowing: (() => void) | undefined;
  readonly #transcript: DeviceTranscriptAccess;
  #badFrames = 0;
  #isHeard = false;
  #acks: AudioAcks | undefined;
  #slow = false;
  #reported: Set<string> | undefined;
  /** True when Configure started the session. */
  #begun = false;
  /** True when the socket was closed because of what the device sent. */
  #refused = false;
  /** Number of broken packets at which the device is warned again. */
  #reportAt = 1;

  constructor(options: DeviceSocketOptions, connection: Connection, device: StreamCaller) {
    this.#options = options;
    this.#connection = connection;
    this.#device = device;
    this.#transcript = new DeviceTranscriptAccess(options, {
      connection,
      deviceId: device.id,
      onSlow: () => this.#closeSlow(),
      onEnd: (error) => this.#sendError(error),
    });
  }

  get principal(): StreamCaller {
    return this.#device;
  }

  /** The caller in log lines. */
  get #who(): object {
    const { kind, id } = this.#device;
    return kind === "device" ? { device_id: id } : callerFields(this.#device);
  }

  /** The session that it streams into, or streamed into before it closed. */
  get sessionId(): string | undefined {
    return this.#stream?.sessionId;
  }

  follows(sessionId: string): boolean {
    return this.sessionId === sessionId;
  }

  /** Takes a message of the device; `bytes` is not used after the call returns. */
  message(bytes: Buffer, isBinary: boolean): void {
    if (["closing", "leaving", "closed"].includes(this.#phase)) return;
    this.isThere();
    const most = isBinary ? AUDIO_FRAME_BYTES : this.#options.limits.frameBytes;
    if (bytes.byteLength > most) return this.close(CLOSE.tooLarge, "The message is too large.");
    try {
      if (isBinary) this.#hear(bytes);
      else this.#obey(parseDeviceFrame(bytes));
      this.#isHeard = true;
    } catch (error) {
      this.#refuse(toAppError(error));
    }
  }

  /** Notes the device as connected after any message, even a pong. */
  isThere(): void {
    this.#options.streams.heartbeats.seen(this.#device.id);
  }

  #hear(bytes: Buffer): void {
    if (this.#stream === undefined) {
      throw new AppError("bad_request", "Send Configure or Resume, and wait for Begin.");
    }
    this.#stream.push(bytes);
    if (this.#stream.buffered < SLOW_BYTES) return;
    if (!this.#slow)
      this.#warn("overloaded", "Audio comes faster than it is stored: wait for AudioAck.");
    this.#slow = true;
  }

  #obey(frame: DeviceFrame): void {
    switch (frame.type) {
      case "Configure":
        return this.#open(orderOf(frame), frame);
      case "Resume":
        return this.#open({ sessionId: frame.session_id, oldest: frame.audio_offset_bytes }, frame);
      case "Heartbeat":
        return this.#beat(frame);
      case "Finalize":
        return this.#stream?.finalize();
      case "CloseStream":
        return this.#finish();
      case "KeepAlive":
        return;
    }
  }

  #refuse(error: AppError): void {
    if (isNoAudio(error)) {
      this.#refused = true;
      return this.#end(error);
    }
    this.#badFrames += 1;
    this.#sendError(error);
    const isHopeless = this.#badFrames >= this.#options.limits.badFrames;
    this.#refused = isHopeless;
    if (error.code === "overloaded") this.close(CLOSE.rate, error.message);
    else if (isHopeless) this.close(CLOSE.protocol, "Too many malformed messages.");
  }

  #open(order: StreamOrder, wish: TranscriptRequest): void {
    if (this.#phase !== "waiting") {
      throw new AppError("bad_request", "The stream is open already; connect again to change it.");
    }
    this.#phase = "opening";
    this.#begin(order, wish).catch((error: unknown) => this.#end(toAppError(error)));
  }

  async #begin(order: StreamOrder, wish: TranscriptRequest): Promise<void> {
    const { streams, limits, source, runtime } = this.#options;
    const opening = streams.open(this.#device, order, {
      onStored: () => this.#acknowledge(),
      onBroken: (packets) => this.#warnBroken(packets),
      onEnd: (error) => this.#end(error),
    });
    // A stream that opened after the socket closed must be given up.
    opening.then(
      ({ stream }) => {
        if (this.#phase === "closed") void stream.close();
      },
      () => undefined,
    );
    const opened = await withTimeout(opening, limits.readTimeoutMs, "Opening the stream", runtime);
    if (this.#phase !== "opening") return;
    const { stream } = opened;
    const reads = wish.transcript === true && (await this.#transcript.mayRead(stream.sessionId));
    if (this.#phase !== "opening") return;
    this.#stream = stream;
    this.#begun = opened.begun;
    this.#acks = new AudioAcks(stream, runtime, (frame) => this.#send([frame]));
    this.#phase = "streaming";
    this.#stopFollowing = source.follow(stream.sessionId, (frames) => this.#forward(frames));
    this.#send([beginFrame(opened, reads)]);
    if (opened.warning !== undefined) this.#warn("language_unsupported", opened.warning);
    if (reads) this.#transcript.start(stream.sessionId, opened.seq, wish.from_seq);
    else if (wish.transcript === true) this.#sendError(noReader());
    this.#options.log.info(
      { ...this.#who, session_id: stream.sessionId, offset: opened.offset },
      "device streams",
    );
  }

  /** The transport has written some of the waiting bytes. */
  drained(): void {
    this.#transcript.drained();
  }

  #closeSlow(): void {
    this.close(CLOSE.tooSlow, "You do not read what you are told; connect again.");
  }

  #forward(frames: readonly PublishedFrame[]): void {
    const wanted = frames.filter(({ type }) => FOR_DEVICES.has(type)) as DeviceServerFrame[];
    if (wanted.length > 0) this.#send(wanted);
    for (const frame of wanted) {
      if (frame.type !== "SessionStatus" || frame.status === "recording") continue;
      const code = frame.status === "deleted" ? "session_deleted" : "session_ended";
      this.#end(new AppError(code, "The session has ended; it takes no more audio."));
      return;
    }
  }

  #acknowledge(): void {
    const buffered = this.#stream?.buffered ?? 0;
    if (this.#slow && buffered < SLOW_BYTES / 4) this.#slow = false;
    this.#acks?.plan();
  }

  #beat({ type: _type, ...telemetry }: Extract<DeviceFrame, { type: "Heartbeat" }>): void {
    this.#options.streams.heartbeats.hear(this.#device, telemetry).then(
      (commands) => {
        for (const { type } of commands) this.#reportOnce(type);
      },
      (error: unknown) => this.#sendError(toAppError(error)),
    );
  }

  /** Sends a command once per connection, although it comes with every heartbeat. */
  #reportOnce(command: HeartbeatCommand["type"]): void {
    this.#reported ??= new Set();
    if (this.#reported.has(command)) return;
    this.#reported.add(command);
    const text: Record<HeartbeatCommand["type"], string> = {
      renew_key: "The device's key runs out soon: renew it.",
      stop_recording: "No session is recording on this device.",
    };
    this.#warn(command, text[command]);
  }

  /** Stores and acknowledges all received audio before the socket closes. */
  #finish(): void {
    if (this.#stream === undefined) return this.close(CLOSE.done, "Nothing was streamed.");
    this.#phase = "closing";
    const closing = this.#stream.close();
    withTimeout(closing, CLOSE_MS, "Storing the last audio", this.#options.runtime).then(
      () => {
        if (this.#phase !== "closing") return;
        this.#acks?.now();
        this.close(CLOSE.done, "Everything is stored.");
      },
      (error: unknown) => this.#end(toAppError(error)),
    );
  }

  /** Reports that the stream takes no more, and why. */
  #end(error: AppError | undefined): void {
    if (["leaving", "closed"].includes(this.#phase) || error === undefined) return;
    const { log } = this.#options;
    const fields = { ...this.#who, session_id: this.#stream?.sessionId };
    const cause = errorMessage(error.cause ?? error);
    if (error.status >= 500) log.error({ ...fields, error: cause }, "device stream failed");
    this.#sendError(error);
    this.close(deviceCloseCode(error), error.message);
  }

  get rightUntil(): number {
    return this.#device.expiresAt;
  }

  /** Authenticates the device again; true when the check was answered. */
  async recheck(): Promise<boolean> {
    const { authenticator, limits, runtime } = this.#options;
    try {
      const valid = authenticator.revalidate(this.#device);
      const current = await withTimeout(
        valid,
        limits.readTimeoutMs,
        "Checking who you are",
        runtime,
      );
      if (current.kind === "device" || current.kind === "service") this.#device = current;
      await this.#transcript.recheck();
      return true;
    } catch (error) {
      const failure = toAppError(error);
      if (endsCaller(failure)) this.#end(failure);
      return endsCaller(failure);
    }
  }

  /** True when nothing valid came yet. */
  get isSilent(): boolean {
    return this.#phase === "waiting" && !this.#isHeard;
  }

  #warn(code: NoticeCode, message: string): void {
    const session_id = this.#stream?.sessionId;
    const about = session_id === undefined ? {} : { session_id };
    this.#send([{ type: "Warning", ...about, code, message, retryable: true }]);
  }

  /** Warns at the first broken packet, and each time their number has doubled. */
  #warnBroken(packets: number): void {
    if (packets < this.#reportAt) return;
    this.#reportAt = 2 * packets;
    const what = packets === 1 ? "A message or packet is" : `${packets} messages or packets are`;
    this.#warn("not_audio", `${what} no Opus packet; silence stands in its place.`);
  }

  #sendError({ code, message, retryable }: AppError): void {
    const session_id = this.#stream?.sessionId;
    const about = session_id === undefined ? {} : { session_id };
    this.#send([{ type: "Error", ...about, code, message, retryable }]);
  }

  #send(frames: readonly DeviceServerFrame[]): void {
    if (this.#phase === "closed") return;
    const connection = this.#connection;
    const messages = frames.map((frame) => ({ bytes: Buffer.from(JSON.stringify(frame)) }));
    const hasRoom = connection.bufferedBytes() <= this.#options.limits.bufferedBytes;
    if (!hasRoom || !connection.send(messages)) this.#closeSlow();
  }

  close(code: CloseCode, reason: string): void {
    if (this.#phase === "closed") return;
    if (code === CLOSE.auth && this.#stream !== undefined) return this.#leave(this.#stream, reason);
    this.#shut(code, reason);
  }

  /**
   * Ends the stream of a device whose right has ended. Its key may still upload for a day, so it is
   * told how much of what it sent is stored: the rest it can bring as chunks.
   */
  #leave(stream: AudioStream, reason: string): void {
    if (this.#phase === "leaving") return;
    this.#phase = "leaving";
    const stored = withTimeout(stream.close(), LEAVE_MS, "Storing", this.#options.runtime);
    void stored
      .catch(() => undefined)
      .then(() => {
        this.#acks?.now();
        this.#shut(CLOSE.auth, reason);
      });
  }

  #shut(code: CloseCode, reason: string): void {
    if (this.#phase === "closed") return;
    this.closed();
    this.#connection.close(code, reason);
  }

  /** The connection was lost; audio that came is stored all the same. */
  closed(): void {
    if (this.#phase === "closed") return;
    this.#phase = "closed";
    this.#acks?.cancel();
    this.#stopFollowing?.();
    this.#transcript.stop();
    const stream = this.#stream;
    if (stream === undefined) return;
    const isDiscarded = this.#refused && this.#begun;
    void stream.close().then(() => {
      if (isDiscarded && !stream.isReadable) this.#discard(stream.sessionId);
    });
  }

  /** Ends the session that Configure started, because it received no usable audio. */
  #discard(sessionId: string): void {
    this.#options.streams.discard(this.#device, sessionId).catch((error: unknown) => {
      const fields = { session_id: sessionId, error: errorMessage(error) };
      this.#options.log.warn(fields, "a session without audio was not ended");
    });
  }
}
