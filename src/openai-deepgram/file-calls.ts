import type { ServicePrincipal } from "../access/principal.ts";
import { AppError } from "../base/errors.ts";
import type { ReadableUpload } from "../conversations/recording/readable-upload.ts";
import { MAX_SECONDS } from "../conversations/recording/upload.ts";
import type { WholeFiles } from "../conversations/recording/whole-files.ts";
import type { SessionStore } from "../conversations/sessions/store.ts";
import type { SegmentStore } from "../conversations/transcript/segments-store.ts";
import type { SessionFrames } from "../live/session-frames.ts";
import type { Tenants } from "../postgres/tenants.ts";
import type { Upload } from "../rest/route.ts";
import type { FinalResultsFrame, ServerFrame, SessionEnd } from "../wire/live-frames.ts";
import type { AnswerRequest } from "./answer-thread.ts";
import type { AnswerWriter } from "./answer-writer.ts";
import type { AnswerForm } from "./answers.ts";
import { wrong } from "./parameters.ts";
import type { CompatOrder, CompatSession, CompatSessions } from "./sessions.ts";

/** A caller that waits gets a sign of life about this often, and its right is checked, ms. */
const WAIT_MS = 4_000;
/** Most time that a recording is waited for; the largest ones take about an hour, ms. */
const LONGEST_MS = 2 * 3_600_000;

/** Longest time for the handler of such a call, milliseconds. */
export const CALL_TIMEOUT_MS = LONGEST_MS + 60_000;

interface FileCallsOptions {
  sessions: CompatSessions;
  files: WholeFiles;
  frames: SessionFrames;
  segments: Pick<SegmentStore, "asJson" | "vocabulary">;
  directory: Pick<SessionStore, "get">;
  answers: Pick<AnswerWriter, "write">;
  tenants: Tenants;
}

/** Transcribes whole recordings: each is a session that is made, read to its end, and left. */
export class FileCalls {
  readonly #options: FileCallsOptions;

  constructor(options: FileCallsOptions) {
    this.#options = options;
  }

  /** Why a file is refused by its first bytes, if it is. */
  refusalByHead(head: Uint8Array, mediaType: string): AppError | undefined {
    return this.#options.files.refusalByHead(head, mediaType);
  }

  /**
   * Makes the session and stores the recording. Throws what is wrong with either; then nothing is
   * left of it. The call that is returned must be read to its end; a caller that goes before anything
   * of it was read leaves it, too.
   */
  async begin(
    caller: ServicePrincipal,
    upload: Upload,
    order: CompatOrder,
    signal: AbortSignal,
  ): Promise<FileCall> {
    const { sessions, files, tenants } = this.#options;
    const accountId = await tenants.ofWorkspace(caller.workspaceId);
    const file = await files.inspect(upload, accountId, signal);
    try {
      const { frames, channels, durationSeconds } = file.audio;
      if (frames === 0) throw new AppError("not_audio", "The file holds no sound.");
      if (order.multichannel && files.channelsStored(file.audio) < channels)
        throw tooLong(channels);
      const session = await sessions.begin(caller, order, channels);
      const place = { sessionId: session.id, accountId, filename: upload.filename };
      await this.#store(session, place, file, signal);
      const leave = (): void => void sessions.leave(session, true);
      if (signal.aborted) leave();
      else signal.addEventListener("abort", leave, { once: true });
      return new FileCall(this.#options, session, durationSeconds);
    } finally {
      await file.release();
    }
  }

  async #store(
    session: CompatSession,
    place: Parameters<WholeFiles["store"]>[0],
    file: ReadableUpload,
    signal: AbortSignal,
  ): Promise<void> {
    const { sessions, files } = this.#options;
    try {
      await sessions.stop(session, await files.store(place, file, signal));
    } catch (error) {
      // Nobody asked for a session without its recording.
      await sessions.leave({ ...session, store: false }, false);
      throw error;
    }
  }
}

function tooLong(channels: number): AppError {
  const message = `compressed recordings of ${channels} channels may have ${MAX_SECONDS / 60} min. Send it in parts.`;
  return wrong("multichannel", message, "payload_too_large");
}

/** One recording that is stored, and is being read. */
export class FileCall {
  readonly durationSeconds: number;
  readonly session: CompatSession;
  readonly #options: FileCallsOptions;
  readonly #channelOf = new Map<string, number>();

  constructor(options: FileCallsOptions, session: CompatSession, durationSeconds: number) {
    this.#options = options;
    this.session = session;
    this.durationSeconds = durationSeconds;
  }

  /** Reads to the end, and leaves the session as the caller wanted it. Returns the answer's body. */
  async transcribe(signal: AbortSignal, form: AnswerForm): Promise<string> {
    for await (const _final of this.#finals(signal));
    return this.#finish(form, signal);
  }

  /**
   * Finals as they come; undefined now and then while there are none. The session is left at their
   * end, and when the caller takes no more.
   */
  async *read(signal: AbortSignal): AsyncGenerator<FinalResultsFrame | undefined, void> {
    yield* this.#finals(signal);
    await this.#options.sessions.leave(this.session, true);
  }

  async *#finals(signal: AbortSignal): AsyncGenerator<FinalResultsFrame | undefined, void> {
    const { frames, sessions } = this.#options;
    const reader = frames.follow(this.session.id);
    let isRead = false;
    try {
      const until = performance.now() + LONGEST_MS;
      const end = new EndWatch();
      let checkAt = performance.now() + WAIT_MS;
      while (!end.isReached) {
        if (signal.aborted) throw new AppError("conflict", "The caller has gone.");
        if (performance.now() > until) throw new AppError("timeout", "It took too long.");
        const came = await reader.next(WAIT_MS);
        const finals = came.filter((frame) => end.take(frame)) as FinalResultsFrame[];
        for (const { speaker, channel } of finals) {
          if (channel !== undefined) this.#channelOf.set(speaker, channel);
        }
        yield* finals;
        if (performance.now() < checkAt) continue;
        checkAt = performance.now() + WAIT_MS;
        await sessions.recheck(this.session);
        yield undefined;
      }
      end.assertHeard();
      isRead = true;
    } finally {
      reader.close();
      if (!isRead) await sessions.leave(this.session, true);
    }
  }

  async #finish(form: AnswerForm, signal: AbortSignal): Promise<string> {
    const { segments, sessions, tenants, directory, answers } = this.#options;
    const { session, durationSeconds } = this;
    const { id: sessionId, language, channels } = session;
    const channelOf = this.#channelOf;
    try {
      const read = async (): Promise<AnswerRequest> => {
        const [json, names, record] = await Promise.all([
          segments.asJson(sessionId),
          segments.vocabulary(sessionId),
          directory.get(sessionId),
        ]);
        const engine = record?.engine ?? "unknown";
        const about = { sessionId, language, engine, durationSeconds, channels, channelOf };
        return { json, names, about, form };
      };
      return await answers.write(await tenants.ofSession(sessionId), read, signal);
    } finally {
      await sessions.leave(session, true);
    }
  }
}

/** Notices how a session ends. */
class EndWatch {
  #end: SessionEnd | undefined;
  #why: string | undefined;

  get isReached(): boolean {
    return this.#end !== undefined;
  }

  /** True for a final. */
  take(frame: ServerFrame): boolean {
    if (frame.type === "SessionEnded") this.#end = frame.status;
    if (frame.type === "ChunkStatus" && frame.transcription_status === "failed") {
      this.#why ??= frame.message;
    }
    return frame.type === "Results" && frame.is_final;
  }

  /** Throws `not_audio` when the recording could not be read. */
  assertHeard(): void {
    if (this.#end === "completed") return;
    const why = this.#why ?? "it is damaged, or of a form that no decoder reads.";
    throw new AppError("not_audio", `The recording could not be transcribed: ${why}`);
  }
}
