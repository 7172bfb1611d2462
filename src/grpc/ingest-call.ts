import type { ServerDuplexStream } from "@grpc/grpc-js";
import type { Authenticator } from "../access/authenticator.ts";
import type { Principal } from "../access/principal.ts";
import { askAgain } from "../access/rights-watch.ts";
import type { Clock } from "../base/clock.ts";
import { withTimeout } from "../base/deferred.ts";
import { AppError, toAppError } from "../base/errors.ts";
import type { Log } from "../base/log.ts";
import { type AudioStream, SLOW_BYTES } from "../conversations/recording/stream.ts";
import type { StreamSettings } from "../conversations/recording/stream-records.ts";
import type { AudioStreams } from "../conversations/recording/stream-routes.ts";
import { recheckSession } from "../conversations/sessions/access.ts";
import type { SessionStore } from "../conversations/sessions/store.ts";
import type { LiveSource } from "../live/live-source.ts";
import {
  IngestAudioRequest,
  type IngestAudioResponse,
  type IngestConfigure,
} from "../wire/gen/voice/v1/sessions.ts";
import type { PublishedFrame } from "../wire/live-frames.ts";
import { failStream, type RpcLimits } from "./call-admission.ts";
import type { OpenStream } from "./open-streams.ts";
import { decodeRequest, logFailure } from "./unary-call.ts";

export type IngestStream = ServerDuplexStream<Buffer, IngestAudioResponse>;

export interface IngestCallOptions {
  call: IngestStream;
  principal: Principal;
  streams: AudioStreams;
  directory: SessionStore;
  authenticator: Pick<Authenticator, "revalidate">;
  source: Pick<LiveSource, "follow">;
  limits: RpcLimits;
  clock: Pick<Clock, "now">;
  log: Log;
}

const MAX_AUDIO_BYTES = 256 * 1024;
const ACK_MS = 100;
const STORE_MS = 30_000;

/**
 * One IngestAudio stream of an authenticated caller.
 *
 * waiting ─Configure→ opening ─Begin→ streaming ─half-close→ closing → closed
 *    any ─failure | client gone | superseded→ closed
 *
 * Audio that came before the end is stored, whatever ends the stream.
 */
export class IngestCall implements OpenStream {
  readonly #options: IngestCallOptions;
  #rightUntil: number;
  #phase: "waiting" | "opening" | "streaming" | "closing" | "closed" = "waiting";
  #sessionId = "";
  #stream: AudioStream | undefined;
  #stopFollowing: (() => void) | undefined;
  #stored = 0;
  #acked = 0;
  #ackTimer: NodeJS.Timeout | undefined;
  #idle: NodeJS.Timeout | undefined;

  constructor(options: IngestCallOptions) {
    this.#options = options;
    this.#rightUntil = options.principal.expiresAt;
  }

  get principal(): Principal {
    return this.#options.principal;
  }

  start(): void {
    const { call, limits } = this.#options;
    const tooLong = new AppError("timeout", `No message for ${limits.ingestIdleMs / 1_000} s.`);
    this.#idle = setTimeout(() => this.end(tooLong), limits.ingestIdleMs);
    call.on("data", (bytes: Buffer) => this.#take(bytes));
    call.on("end", () => this.#finish());
  }

  get rightUntil(): number {
    return this.#rightUntil;
  }

  follows(sessionId: string): boolean {
    return this.#sessionId === sessionId;
  }

  async recheck(): Promise<boolean> {
    // Before Configure there is no session to check, and after the end nothing continues.
    if (this.#phase === "waiting" || this.#phase === "closed") return true;
    return askAgain(
      () => this.#check(),
      () => this.#rightUntil > this.#options.clock.now(),
      (error) => this.end(error),
    );
  }

  async #check(): Promise<void> {
    const { authenticator, directory, principal, limits } = this.#options;
    const check = async () => {
      const current = await authenticator.revalidate(principal);
      await recheckSession(directory, current, this.#sessionId, "session.upload");
      this.#rightUntil = current.expiresAt;
    };
    await withTimeout(check(), limits.readTimeoutMs, "Checking your rights");
  }

  #take(bytes: Buffer): void {
    if (this.#phase === "closed") return;
    this.#idle?.refresh();
    try {
      const { message } = decodeRequest(IngestAudioRequest.decode, bytes);
      if (message?.$case === "configure") this.#configure(message.value);
      else if (message?.$case === "audio") this.#hear(message.value);
      else if (message?.$case === "finalize") this.#stream?.finalize();
      else throw new AppError("invalid_body", "A message is empty.");
    } catch (error) {
      this.end(toAppError(error));
    }
  }

  #configure(configure: IngestConfigure): void {
    if (this.#phase !== "waiting") {
      throw new AppError("invalid_body", "IngestConfigure comes once, as the first message.");
    }
    this.#phase = "opening";
    this.#options.call.pause();
    this.#open(configure).catch((error: unknown) => this.end(toAppError(error)));
  }

  async #open(configure: IngestConfigure): Promise<void> {
    const { call, streams, source, limits } = this.#options;
    this.#sessionId = configure.sessionId;
    await this.#check();
    const opening = streams.open({
      sessionId: configure.sessionId,
      settings: settingsOf(configure),
      oldest: configure.oldestOffsetBytes,
      events: {
        onStored: (offset) => this.#onStored(offset),
        onEnd: (error) => error !== undefined && this.end(error),
      },
    });
    // A stream that opened after the call ended must be given up.
    const dropLate = ({ stream }: { stream: AudioStream }): void => {
      if (this.#phase === "closed") void stream.close();
    };
    opening.then(dropLate, () => undefined);
    const { stream, offset, seq } = await withTimeout(opening, limits.readTimeoutMs, "Opening");
    if (this.#phase !== "opening") return;
    this.#phase = "streaming";
    this.#stream = stream;
    this.#acked = offset;
    this.#stopFollowing = source.follow(stream.sessionId, (frames) => this.#watchEnd(frames));
    this.#send({ $case: "begin", value: { audioOffsetBytes: offset, seq } });
    call.resume();
  }

  #hear(audio: Buffer): void {
    if (this.#stream === undefined) {
      throw new AppError("invalid_body", "Send IngestConfigure first.");
    }
    if (audio.byteLength > MAX_AUDIO_BYTES) {
      throw new AppError("payload_too_large", `A message has ${MAX_AUDIO_BYTES} bytes at most.`);
    }
    this.#stream.push(audio);
    if (this.#stream.buffered >= SLOW_BYTES) this.#options.call.pause();
  }

  #onStored(offset: number): void {
    this.#stored = offset;
    const buffered = this.#stream?.buffered ?? 0;
    if (this.#phase === "streaming" && buffered < SLOW_BYTES / 4) this.#options.call.resume();
    this.#ackTimer ??= setTimeout(() => this.#acknowledge(), ACK_MS);
  }

  #acknowledge(): void {
    clearTimeout(this.#ackTimer);
    this.#ackTimer = undefined;
    if (this.#stream === undefined || this.#stored <= this.#acked) return;
    this.#acked = this.#stored;
    this.#send({ $case: "ack", value: { audioOffsetBytes: this.#stored } });
  }

  #watchEnd(frames: readonly PublishedFrame[]): void {
    for (const frame of frames) {
      if (frame.type !== "SessionStatus" || frame.status === "recording") continue;
      const code = frame.status === "deleted" ? "session_deleted" : "session_ended";
      this.end(new AppError(code, "The session has ended; it takes no more audio."));
    }
  }

  /** The client has sent everything: stores and acknowledges it before the call ends. */
  #finish(): void {
    if (this.#phase === "closed") return;
    if (this.#stream === undefined) {
      return this.end(new AppError("invalid_body", "Nothing was configured."));
    }
    this.#phase = "closing";
    withTimeout(this.#stream.close(), STORE_MS, "Storing the last audio").then(
      () => {
        if (this.#phase !== "closing") return;
        this.#acknowledge();
        this.closed();
        this.#options.call.end();
      },
      (error: unknown) => this.end(toAppError(error)),
    );
  }

  #send(message: NonNullable<IngestAudioResponse["message"]>): void {
    if (this.#phase !== "closed") this.#options.call.write({ message });
  }

  end(error: AppError): void {
    if (this.#phase === "closed") return;
    this.#acknowledge();
    this.closed();
    const { call, log } = this.#options;
    logFailure(log, call.getPath(), error);
    failStream(call, error);
    // Further messages are read and dropped, so that the client sees the end.
    call.resume();
  }

  /** The connection was lost; audio that came is stored all the same. */
  closed(): void {
    if (this.#phase === "closed") return;
    this.#phase = "closed";
    clearTimeout(this.#ackTimer);
    clearTimeout(this.#idle);
    this.#stopFollowing?.();
    void this.#stream?.close();
  }
}

const ENCODINGS = ["pcm_s16le", "mulaw", "opus"] as const;
const FRAMINGS = ["packet", "length_prefixed"] as const;

function settingsOf(configure: IngestConfigure): StreamSettings {
  const { sampleRate, channels, finalsOnly } = configure;
  const encoding = ENCODINGS.find((known) => known === configure.encoding);
  const framing = FRAMINGS.find((known) => known === (configure.framing || "packet"));
  if (encoding === undefined) {
    throw new AppError("invalid_body", `encoding must be one of ${ENCODINGS.join(", ")}.`);
  }
  if (framing === undefined) {
    throw new AppError("invalid_body", `framing must be one of ${FRAMINGS.join(", ")}.`);
  }
  if (channels !== 1 && channels !== 2) {
    throw new AppError("invalid_body", "channels must be 1 or 2.");
  }
  return { encoding, framing, sampleRate, channels, interim: !finalsOnly };
}
