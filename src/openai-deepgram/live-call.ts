import { createHash } from "node:crypto";
import type { ServicePrincipal } from "../access/principal.ts";
import { withTimeout } from "../base/deferred.ts";
import { AppError, errorMessage, toAppError } from "../base/errors.ts";
import { newId } from "../base/ids.ts";
import type { Log } from "../base/log.ts";
import type { AudioStream } from "../conversations/recording/stream.ts";
import type { AudioStreams } from "../conversations/recording/stream-routes.ts";
import type { FrameReader, SessionFrames } from "../live/session-frames.ts";
import type { ResultsBody, ServerFrame } from "../wire/live-frames.ts";
import type { DeepgramOrder } from "./deepgram-query.ts";
import { orderOf } from "./deepgram-routes.ts";
import { FinalizeWait } from "./finalize-wait.ts";
import { type LiveAudio, openLiveAudio, partsOf, RepeatedTranscription } from "./live-audio.ts";
import {
  emptyResults,
  errorMessageOf,
  type LiveAbout,
  metadataMessage,
  resultsMessage,
  speechStarted,
  utteranceEnd,
} from "./live-messages.ts";
import type { CompatSession, CompatSessions } from "./sessions.ts";
import { TurnsOfLoop } from "./turns-of-loop.ts";
import { UtteranceEnds } from "./utterance-ends.ts";

/** Most audio that waits while its session begins, bytes. */
const MOST_PENDING = 4 * 1024 * 1024;
const OPEN_MS = 20_000;
const STORE_MS = 30_000;
/** Longest wait for the words of the last audio, milliseconds. */
const LAST_WORDS_MS = 300_000;
/** How often what depends on time is looked at, milliseconds. */
const POLL_MS = 500;

const UNKNOWN = "unknown";

export const LIVE_CLOSE = { done: 1000, goingAway: 1001, refused: 1008, failed: 1011 } as const;

/** The connection of one client. */
interface LiveLine {
  send(message: object): void;
  close(code: number, reason: string): void;
}

/** What is known of a channel. */
interface LiveChannel {
  readonly ends: UtteranceEnds;
  /** End of its last final, seconds. */
  reportedTo: number;
  readonly wait: FinalizeWait<ResultsBody>;
}

function newChannel({ utteranceEndMs }: DeepgramOrder): LiveChannel {
  return { ends: new UtteranceEnds(utteranceEndMs), reportedTo: 0, wait: new FinalizeWait() };
}

export interface LiveCallPorts {
  sessions: CompatSessions;
  streams: Pick<AudioStreams, "open">;
  frames: SessionFrames;
  names(sessionId: string): Promise<string[]>;
  /** The engine that reads the session, once one does. */
  engine(sessionId: string): Promise<string | undefined>;
  log: Log;
}

/**
 * One live stream with Deepgram's messages.
 *
 * silent ─audio→ opening → streaming ─CloseStream→ closing → closed
 *    any ─failure | other end gone→ closed
 *
 * Its session begins with the first audio. What came before the end is stored, whatever ends it; the
 * session is stopped then, and deleted unless it is kept.
 */
export class LiveCall {
  readonly #ports: LiveCallPorts;
  readonly #caller: ServicePrincipal;
  readonly #order: DeepgramOrder;
  readonly #line: LiveLine;
  /** Those that are read by themselves; one where they are mixed. */
  #channels: LiveChannel[];
  readonly #hash = createHash("sha256");
  readonly #createdAt = Date.now();
  #phase: "silent" | "opening" | "streaming" | "closing" | "closed" = "silent";
  #pending: Buffer[] = [];
  #pendingBytes = 0;
  readonly #turns = new TurnsOfLoop((error) => this.fail(toAppError(error)));
  readonly #reading = new RepeatedTranscription();
  #audio: LiveAudio | undefined;
  #session: CompatSession | undefined;
  #stream: AudioStream | undefined;
  #about: LiveAbout | undefined;
  /** What was asked for while the session began. */
  #wantsFinal = false;
  #wantsClose = false;

  constructor(
    ports: LiveCallPorts,
    { caller, order, line }: { caller: ServicePrincipal; order: DeepgramOrder; line: LiveLine },
  ) {
    this.#ports = ports;
    this.#caller = caller;
    this.#order = order;
    this.#line = line;
    this.#channels = [newChannel(order)];
  }

  /** The session, once there is one. */
  get sessionId(): string | undefined {
    return this.#session?.id;
  }

  /** Takes the next audio; without any bytes it is the end, as clients of old say it. */
  hear(bytes: Buffer): void {
    if (this.#phase === "closed" || this.#phase === "closing" || this.#wantsClose) return;
    if (bytes.byteLength === 0) return this.finish();
    this.#hash.update(bytes);
    try {
      if (this.#phase === "streaming") return this.#pass(bytes);
      this.#pending.push(bytes);
      this.#hold(bytes.byteLength);
      if (this.#phase === "silent" && this.#reading.isDue(this.#pendingBytes)) this.#start();
    } catch (error) {
      this.fail(toAppError(error));
    }
  }

  #hold(bytes: number): void {
    this.#pendingBytes += bytes;
    if (this.#pendingBytes <= MOST_PENDING) return;
    throw new AppError("overloaded", "Audio comes faster than it can be stored.");
  }

  /** Begins the session once the first bytes tell what they are. */
  #start(): void {
    const { raw, interim } = this.#order;
    const head = Buffer.concat(this.#pending);
    const opened = openLiveAudio(head, raw, interim);
    if (opened === undefined) return;
    this.#audio = opened.audio;
    this.#pending = [Buffer.from(opened.rest)];
    this.#phase = "opening";
    this.#open(opened.audio).catch((error: unknown) => this.fail(toAppError(error)));
  }

  async #open({ settings }: LiveAudio): Promise<void> {
    const { sessions, streams, frames, names } = this.#ports;
    const session = await sessions.begin(this.#caller, orderOf(this.#order), settings.channels);
    this.#session = session;
    const { channels } = session;
    this.#channels = Array.from({ length: channels }, () => newChannel(this.#order));
    if (this.#isClosed()) return void sessions.leave(session, false);
    const opening = streams.open({
      sessionId: session.id,
      settings,
      events: { onStored: () => {}, onEnd: (error) => error && this.fail(error) },
    });
    const dropLate = ({ stream }: { stream: AudioStream }) => {
      if (this.#isClosed()) void stream.close();
    };
    opening.then(dropLate, () => undefined);
    const { stream } = await withTimeout(opening, OPEN_MS, "Opening the stream");
    const told = await names(session.id);
    if (this.#isClosed()) return;
    const { language, id: requestId } = session;
    const engine = this.#order.engine ?? UNKNOWN;
    this.#about = { requestId, language, names: told, engine, channels };
    this.#stream = stream;
    this.#phase = "streaming";
    void this.#notify(frames.follow(session.id));
    this.#pendingBytes = 0;
    for (const bytes of this.#pending.splice(0)) this.#pass(bytes);
    if (this.#wantsFinal) this.finalize();
    if (this.#wantsClose) this.finish();
  }

  /** In steps, as a large message may hold more packets than the event loop may stand still for. */
  #pass(bytes: Buffer): void {
    this.#hold(bytes.byteLength);
    const take = (part: Buffer): void => {
      this.#pendingBytes -= part.byteLength;
      for (const message of this.#audio?.take(part) ?? []) this.#stream?.push(message);
    };
    this.#do(...partsOf(bytes, this.#order.raw).map((part) => () => take(part)));
  }

  /** Behind all audio that came before. */
  #do(...steps: (() => void)[]): void {
    const unlessOver = (step: () => void) => () => this.#phase === "streaming" && step();
    this.#turns.add(...steps.map(unlessOver));
  }

  #flush(): void {
    for (const message of this.#audio?.flush() ?? []) this.#stream?.push(message);
  }

  /** Asks for a final of what was said so far. */
  finalize(): void {
    this.#wantsFinal = this.#phase === "opening";
    this.#do(() => {
      this.#flush();
      for (const { wait } of this.#channels) wait.ask(this.#audio?.seconds ?? 0);
      this.#stream?.finalize();
    });
  }

  /** The client has sent everything: it is told the last words, and what the stream was. */
  finish(): void {
    this.#wantsClose = true;
    try {
      if (this.#phase === "silent" && this.#reading.isWaiting) this.#start();
      if (this.#phase === "silent") return this.#end();
    } catch (error) {
      return this.fail(toAppError(error));
    }
    this.#do(() => {
      this.#flush();
      this.#phase = "closing";
      this.#store().catch((error: unknown) => this.fail(toAppError(error)));
    });
  }

  async #store(): Promise<void> {
    const { sessions } = this.#ports;
    if (this.#stream === undefined || this.#session === undefined) return;
    await withTimeout(this.#stream.close(), STORE_MS, "Storing the last audio");
    await sessions.stop(this.#session);
  }

  /** Tells what is heard until the session has ended, or nobody listens. Never rejects. */
  async #notify(reader: FrameReader): Promise<void> {
    let until = Number.POSITIVE_INFINITY;
    try {
      for (let isOver = false; !isOver && !this.#isClosed(); ) {
        const frames = await reader.next(POLL_MS);
        if (this.#isClosed()) return;
        for (const frame of frames) {
          if (frame.type === "JobStatus") await this.#noteEngine();
          isOver = this.#hearFrame(frame) || isOver;
        }
        this.#check();
        if (this.#phase === "closing" && until === Number.POSITIVE_INFINITY) {
          until = performance.now() + LAST_WORDS_MS;
        }
        if (performance.now() > until)
          throw new AppError("timeout", "The last words took too long.");
      }
      this.#end();
    } catch (error) {
      this.fail(toAppError(error));
    } finally {
      reader.close();
    }
  }

  async #noteEngine(): Promise<void> {
    const [about, id] = [this.#about, this.sessionId];
    if (about?.engine !== UNKNOWN || id === undefined) return;
    about.engine = (await this.#ports.engine(id)) ?? UNKNOWN;
  }

  /** What frames tell of where speech is, and of how far the audio was read. */
  #noteSpeech(frame: ServerFrame): void {
    const received = this.#audio?.seconds ?? 0;
    for (const [number, { ends }] of this.#channels.entries()) {
      if (frame.type === "Heartbeat") {
        ends.noteRead({ readTo: frame.audio_received - frame.lag_ms / 1_000, received });
      } else if (frame.type === "UtteranceEnd") {
        ends.noteSpeechEnd();
        ends.noteRead({ readTo: frame.end, received });
        this.#answer(frame.end, number);
      } else if (frame.type === "SpeechStarted" && (frame.channel ?? 0) === number) {
        ends.noteSpeech(frame.start);
        ends.noteRead({ readTo: frame.start, received });
      } else if (frame.type === "Results" && (frame.channel ?? 0) === number) {
        ends.noteRead({ readTo: frame.start + frame.duration, received });
      }
    }
  }

  /** True when the session has ended. */
  #hearFrame(frame: ServerFrame): boolean {
    const about = this.#about;
    if (about === undefined) return false;
    this.#noteSpeech(frame);
    if (frame.type === "SpeechStarted" && this.#order.vadEvents) {
      this.#line.send(speechStarted(frame, about));
    }
    if (frame.type === "Results" && (frame.is_final || this.#order.interim)) {
      this.#hearWords(frame);
    }
    if (
      frame.type === "SessionStatus" &&
      this.#phase === "streaming" &&
      frame.status !== "recording"
    ) {
      throw new AppError("session_ended", "The session was ended.");
    }
    return frame.type === "SessionEnded";
  }

  #hearWords(frame: ResultsBody): void {
    const channel = this.#channels[frame.channel ?? 0];
    if (channel === undefined) return;
    channel.ends[frame.is_final ? "noteFinal" : "noteWords"](frame.words);
    if (!frame.is_final) return this.#sendWords(frame, false);
    channel.reportedTo = frame.start + frame.duration;
    for (const { final } of channel.wait.take(frame, performance.now())) {
      this.#sendWords(final, false);
    }
  }

  #sendWords(frame: ResultsBody, isFinalized: boolean): void {
    if (this.#about === undefined) return;
    this.#line.send(resultsMessage(frame, this.#order, this.#about, isFinalized));
  }

  /** Answers a Finalize of the channel when all of its audio up to then is told. */
  #answer(end: number, number: number): void {
    const [channel, about] = [this.#channels[number], this.#about];
    const answer = channel?.wait.reached(end);
    if (channel === undefined || about === undefined || answer === undefined) return;
    if (answer === "nothing") this.#line.send(emptyResults(channel.reportedTo, number, about));
    else this.#sendWords(answer.final, answer.isFinalized);
  }

  /** What depends on time. */
  #check(): void {
    const about = this.#about;
    if (about === undefined) return;
    for (const [number, channel] of this.#channels.entries()) {
      const end = channel.ends.take(this.#audio?.seconds ?? 0);
      if (end !== undefined) this.#line.send(utteranceEnd(end, number, about));
      for (const { final } of channel.wait.overdue(performance.now())) {
        this.#sendWords(final, false);
      }
    }
  }

  #end(): void {
    if (this.#isClosed()) return;
    for (const { final } of this.#channels.flatMap(({ wait }) => wait.release())) {
      this.#sendWords(final, false);
    }
    const about = this.#about ?? this.#nothing();
    const seconds = this.#audio?.seconds ?? 0;
    const sha256 = this.#hash.digest("hex");
    this.#line.send(metadataMessage(about, { sha256, createdAt: this.#createdAt, seconds }));
    // What is not kept is gone by the time that the client is let go.
    void this.#leave(this.#session !== undefined).then(() => {
      this.#line.close(LIVE_CLOSE.done, "");
    });
  }

  /** Of a stream in which no sound came. */
  #nothing(): LiveAbout {
    return { requestId: newId(), language: "", names: [], engine: UNKNOWN, channels: 1 };
  }

  /** Ends the stream because of what the client sent, or of a failure here. */
  fail(error: AppError): void {
    if (this.#isClosed()) return;
    const { log } = this.#ports;
    if (error.status >= 500) {
      const cause = errorMessage(error.cause ?? error);
      log.error({ session_id: this.sessionId, error: cause }, "a live call failed");
    }
    const isTheirs = error.status < 500 && error.code !== "session_ended";
    const code =
      error.code === "not_audio" || error.code === "unsupported_media_type"
        ? "DATA-0000"
        : error.code;
    this.#line.send(errorMessageOf(code, error.message));
    this.shut(isTheirs ? LIVE_CLOSE.refused : LIVE_CLOSE.failed, `${code}: ${error.message}`);
  }

  shut(code: number, reason: string): void {
    if (this.#isClosed()) return;
    void this.#leave(this.#phase === "closing");
    this.#line.close(code, reason);
  }

  /** The connection was lost. */
  closed(): void {
    if (!this.#isClosed()) void this.#leave(this.#phase === "closing");
  }

  /** Never rejects. */
  async #leave(isStopped: boolean): Promise<void> {
    this.#phase = "closed";
    this.#pending = [];
    this.#turns.clear();
    const [stream, session] = [this.#stream, this.#session];
    if (session === undefined) return;
    await stream?.close();
    await this.#ports.sessions.leave(session, isStopped);
  }

  // A method, because the phase changes during awaits, which type narrowing would ignore.
  #isClosed(): boolean {
    return this.#phase === "closed";
  }
}
