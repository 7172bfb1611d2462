import type { Principal } from "../access/principal.ts";
import { withTimeout } from "../base/deferred.ts";
import { AppError, errorMessage, isAppError, toAppError } from "../base/errors.ts";
import type { Log } from "../base/log.ts";
import type { Runtime } from "../base/runtime.ts";
import type { DeviceSessionStore } from "../conversations/recording/device-sessions-store.ts";
import type { AudioStream } from "../conversations/recording/stream.ts";
import type { AudioStreams } from "../conversations/recording/stream-routes.ts";
import { requireSession, type SessionAccess } from "../conversations/sessions/access.ts";
import type { CommandNotifier } from "../postgres/outbox.ts";
import type { LiveTickets } from "../tenancy/accounts/live-tickets.ts";
import { CallTimeline } from "./call-timeline.ts";
import {
  CALL_RATE,
  type CallMedia,
  type CallMessage,
  type CallStart,
  parseCallMessage,
} from "./twilio-messages.ts";

/** Most sound that waits while its stream is opened, bytes: 32 s of both tracks, longer than that takes. */
const MOST_PENDING = 512 * 1024;
const CHECK_MS = 10_000;
const OPEN_MS = 20_000;
const STORE_MS = 30_000;

export interface PhoneCallPorts {
  tickets: Pick<LiveTickets, "redeemForCall">;
  directory: SessionAccess;
  streams: Pick<AudioStreams, "open">;
  sessions: Pick<DeviceSessionStore, "stop">;
  notifier: CommandNotifier;
  runtime: Runtime;
  log: Log;
}

/** The connection of one call. */
interface CallLine {
  /**
   * Called once its ticket was found good, before any audio is taken; what it throws ends the call.
   */
  admitted(caller: Principal, sessionId: string): void;
  /** Nothing more is taken: called once, unless the connection was lost. No error after `stop`. */
  ended(error: AppError | undefined): void;
}

/**
 * A telephone call with the messages of Twilio's Media Streams, into one session.
 *
 * waiting ─start with a ticket→ admitting → streaming ─stop→ closing → closed
 *    any ─failure | connection lost→ closed
 *
 * The recording of the session ends with the call, whatever ends it, and what came is kept; unless
 * another stream took its place.
 */
export class PhoneCall {
  readonly #ports: PhoneCallPorts;
  readonly #line: CallLine;
  #phase: "waiting" | "admitting" | "streaming" | "closing" | "closed" = "waiting";
  #streamSid = "";
  #timeline: CallTimeline | undefined;
  #pending: CallMedia[] = [];
  #pendingBytes = 0;
  #stream: AudioStream | undefined;
  /** `stop` came while the stream was being opened. */
  #isStopped = false;

  constructor(ports: PhoneCallPorts, line: CallLine) {
    this.#ports = ports;
    this.#line = line;
  }

  /** True until a ticket came. */
  get isWaiting(): boolean {
    return this.#phase === "waiting";
  }

  /** Takes a text message. Returns whether it was sound. */
  take(bytes: Buffer): boolean {
    if (this.#isOver()) return false;
    try {
      const message = parseCallMessage(bytes);
      this.#hear(message);
      return message.event === "media";
    } catch (error) {
      this.fail(toAppError(error));
      return false;
    }
  }

  #hear(message: CallMessage): void {
    if (message.event === "other" || this.#isStopped) return;
    if (message.event === "start") return this.#start(message);
    if (this.#phase === "waiting") {
      throw new AppError("bad_request", "The start message with its ticket comes first.");
    }
    if (message.streamSid !== this.#streamSid) {
      throw new AppError("bad_request", "`streamSid` is not that of the start message.");
    }
    if (message.event === "stop") return this.#stop();
    if (this.#phase === "streaming") return this.#pass(message);
    this.#pendingBytes += message.sound.byteLength;
    if (this.#pendingBytes > MOST_PENDING) {
      throw new AppError("overloaded", "Audio comes faster than it can be stored.");
    }
    this.#pending.push(message);
  }

  #start({ streamSid, tracks, ticket }: CallStart): void {
    if (this.#phase !== "waiting") throw new AppError("bad_request", "The call has begun already.");
    if (ticket === undefined) {
      const message = "The start message has no parameter `ticket`.";
      throw new AppError("unauthorized", message);
    }
    this.#phase = "admitting";
    this.#streamSid = streamSid;
    this.#timeline = new CallTimeline(tracks, this.#ports.runtime);
    this.#admit(ticket, tracks.length).catch((error: unknown) => this.fail(toAppError(error)));
  }

  async #admit(ticket: string, channels: number): Promise<void> {
    const { tickets, directory, streams, runtime } = this.#ports;
    const checked = tickets.redeemForCall(ticket).then(async ({ principal, sessionId }) => {
      await requireSession(directory, principal, sessionId, "session.upload");
      return { principal, sessionId };
    });
    const { principal, sessionId } = await withTimeout(checked, CHECK_MS, "The ticket", runtime);
    if (this.#isOver()) return;
    this.#line.admitted(principal, sessionId);
    const opening = streams.open({
      sessionId,
      settings: {
        ...{ encoding: "mulaw", sampleRate: CALL_RATE, channels },
        ...{ framing: "packet", interim: true },
      },
      events: { onStored: () => {}, onEnd: (error) => error && this.fail(error) },
    });
    // The call may be over before its stream is open.
    const dropLate = ({ stream }: { stream: AudioStream }) => {
      if (this.#isOver()) void this.#endRecording(stream);
    };
    opening.then(dropLate, () => undefined);
    const { stream } = await withTimeout(opening, OPEN_MS, "Opening the stream", runtime);
    if (this.#isOver()) return;
    this.#stream = stream;
    this.#phase = "streaming";
    for (const message of this.#pending.splice(0)) this.#pass(message);
    if (this.#isStopped) this.#finish();
  }

  #pass(message: CallMedia): void {
    this.#push(this.#timeline?.add(message));
  }

  #push(frames: Uint8Array | undefined): void {
    if (frames !== undefined && frames.byteLength > 0) this.#stream?.push(frames);
  }

  #stop(): void {
    this.#isStopped = true;
    if (this.#phase === "streaming") this.#finish();
  }

  #finish(): void {
    const stream = this.#stream;
    if (stream === undefined) return;
    this.#push(this.#timeline?.flush());
    this.#phase = "closing";
    const { runtime } = this.#ports;
    withTimeout(this.#endRecording(stream), STORE_MS, "Storing the last audio", runtime).then(
      () => this.#leave(undefined),
      (error: unknown) => this.#leave(toAppError(error)),
    );
  }

  /** Ends the call because of what was sent, of a right that ended, or of a failure here. */
  fail(error: AppError): void {
    if (this.#isOver()) return;
    const { log } = this.#ports;
    if (error.status >= 500) {
      const fields = {
        session_id: this.#stream?.sessionId,
        error: errorMessage(error.cause ?? error),
      };
      log.warn(fields, "a telephone call failed");
    }
    this.#abandon(isAppError(error, "superseded"));
    this.#line.ended(error);
  }

  /** The connection was lost. */
  closed(): void {
    if (this.#phase === "closing") this.#phase = "closed";
    else if (!this.#isOver()) this.#abandon(false);
  }

  #abandon(isSuperseded: boolean): void {
    const [stream, timeline] = [this.#stream, this.#timeline];
    this.#phase = "closed";
    this.#pending = [];
    if (stream === undefined || isSuperseded) return;
    try {
      this.#push(timeline?.flush());
    } catch {
      // It takes no more.
    }
    void this.#endRecording(stream);
  }

  /** Never rejects: what fails here is made up for by the service's maintenance. */
  async #endRecording(stream: AudioStream): Promise<void> {
    const { sessions, notifier, log } = this.#ports;
    const { sessionId } = stream;
    try {
      await stream.close();
      const stop = { deviceId: undefined, sessionId, lastSequence: undefined };
      const { outbox } = await sessions.stop(stop);
      notifier.notify(outbox);
    } catch (error) {
      const fields = { session_id: sessionId, error: errorMessage(error) };
      log.warn(fields, "the session of a telephone call was not ended yet");
    }
  }

  #leave(error: AppError | undefined): void {
    if (this.#phase !== "closing") return;
    this.#phase = "closed";
    this.#line.ended(error);
  }

  // A method, because the phase changes during awaits, which type narrowing would ignore.
  #isOver(): boolean {
    return this.#phase === "closing" || this.#phase === "closed";
  }
}
