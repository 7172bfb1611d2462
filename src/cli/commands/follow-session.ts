import type { operations } from "../../client/gen/api-schema.ts";
import type { ServerFrame } from "../../wire/live-frames.ts";
import { LiveViewer } from "../client/live-viewer.ts";
import type { UserSession } from "../client/user-session.ts";
import type { TranscriptView } from "../view/plain-view.ts";
import { REASONS } from "../view/session-rows.ts";
import { type Line, lineOfSegment, Transcript } from "../view/transcript.ts";

const EVERY_MS = 2_000;

type Session = operations["getSession"]["responses"]["200"]["content"]["application/json"];

interface WaitingWatchOptions {
  readonly sessionId: string;
  /** Whether the session was stopped; only then it waits for chunks. */
  readonly isStopped: () => boolean;
  /** Called whenever the set of awaited chunks changes. */
  readonly onWaiting?: ((message: string) => void) | undefined;
}

/** Shows which chunks a stopped session waits for, so that it does not seem stuck. */
export class WaitingWatch {
  readonly #user: Pick<UserSession, "call">;
  readonly #options: WaitingWatchOptions;
  readonly #timer: NodeJS.Timeout;
  #waiting: Session["waiting"];
  #asking = false;

  constructor(user: Pick<UserSession, "call">, options: WaitingWatchOptions) {
    this.#user = user;
    this.#options = options;
    this.#timer = setInterval(() => void this.#poll(), EVERY_MS);
  }

  get message(): string | undefined {
    return this.#options.isStopped() ? this.#waiting?.message : undefined;
  }

  stop(): void {
    clearInterval(this.#timer);
  }

  async #poll(): Promise<void> {
    if (this.#asking || !this.#options.isStopped()) return;
    this.#asking = true;
    const params = { path: { session_id: this.#options.sessionId } };
    try {
      const before = String(this.#waiting?.chunk_sequences);
      const { waiting } = await this.#user.call((client) =>
        client.GET("/sessions/{session_id}", { params }),
      );
      this.#waiting = waiting;
      if (waiting === undefined || String(waiting.chunk_sequences) === before) return;
      this.#options.onWaiting?.(waiting.message);
    } catch {
      // The transcript's own connection reports an unavailable service.
    } finally {
      this.#asking = false;
    }
  }
}

interface FollowOptions {
  readonly sessionId: string;
  readonly signal: AbortSignal;
  readonly view: TranscriptView;
  readonly footer?: () => string | undefined;
  /** Receives each frame, for callers that pass frames on. */
  readonly onFrame?: (frame: ServerFrame) => void;
  readonly onReconnect?: (reason: string, waitMs: number) => void;
  /** Called with the chunks that the stopped session waits for, for views without a footer. */
  readonly onWaiting?: ((message: string) => void) | undefined;
}

const MOST_PAGES = 1_000;
const NO_CHANGE = { finals: [], relabelled: [], stale: false };

/**
 * Shows a session live until it has ended; returns its final transcript as the service stores it.
 */
export async function followSession(
  user: UserSession,
  { sessionId, signal, view, footer: ownFooter, onFrame, onReconnect, onWaiting }: FollowOptions,
): Promise<Transcript> {
  const transcript = new Transcript();
  const isStopped = () => transcript.status === "processing";
  const waiting = new WaitingWatch(user, { sessionId, isStopped, onWaiting });
  const footer = () => waiting.message ?? ownFooter?.();
  let fetching: Promise<void> = Promise.resolve();
  const refetch = async () => {
    const change = transcript.replaceFinals(await fetchLines(user, sessionId));
    view.update(transcript, change, footer());
  };
  const show = (frame: ServerFrame): boolean => {
    onFrame?.(frame);
    const change = transcript.apply(frame);
    const remark = remarkOn(frame);
    if (remark !== undefined) view.say(remark);
    view.update(transcript, change, footer());
    // REST has the final text of an ended session; a failure is thrown below.
    if (change.stale && !transcript.ended) fetching = fetching.then(refetch, refetch);
    return transcript.ended;
  };
  const redraw = setInterval(() => view.update(transcript, NO_CHANGE, footer()), 250);
  try {
    await new LiveViewer(user, { sessionId, signal, onFrame: show, onReconnect }).run();
    await fetching.catch(() => undefined);
    if (!signal.aborted && transcript.status !== "deleted") await refetch();
  } finally {
    clearInterval(redraw);
    waiting.stop();
    view.close(transcript);
  }
  return transcript;
}

/** Additional text for frames that users should notice, apart from the changed transcript. */
export function remarkOn(frame: ServerFrame): string | undefined {
  if (frame.type === "GuestJoined") return `${frame.display_name} joined as a guest.`;
  if (frame.type === "ChunkStatus" && frame.message !== undefined) {
    return `Chunk ${frame.chunk_sequence} was not read: ${frame.message}`;
  }
  if (frame.type === "SessionStatus" && frame.status === "failed") {
    const why = frame.reason === undefined ? "" : `: ${REASONS[frame.reason]}`;
    return `The session failed${why}.`;
  }
  if (frame.type !== "TranscriptReplaced" || frame.edits_replaced === 0) return undefined;
  const { edits_replaced: edits } = frame;
  const what = edits === 1 ? "1 edited segment was" : `${edits} edited segments were`;
  return `The session was recognised once more: ${what} replaced.`;
}

async function fetchLines(user: UserSession, sessionId: string): Promise<Line[]> {
  const lines: Line[] = [];
  let cursor: string | undefined;
  for (let pages = 0; pages < MOST_PAGES; pages++) {
    const params = { path: { session_id: sessionId }, query: { limit: 100, cursor, words: true } };
    const page = await user.call((client) =>
      client.GET("/sessions/{session_id}/segments", { params }),
    );
    lines.push(...page.items.map(lineOfSegment));
    if (page.next_cursor === null) break;
    cursor = page.next_cursor;
  }
  return lines;
}
