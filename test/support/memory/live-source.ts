import type { LiveSource } from "../../../src/live/live-source.ts";
import type {
  DurableFrame,
  PublishedFrame,
  SessionEnd,
  SessionHeartbeat,
  SessionStatus,
  SnapshotFrame,
} from "../../../src/wire/live-frames.ts";

interface Listener {
  onFrames(frames: PublishedFrame[]): void;
  onDoubt?: (() => void) | undefined;
}

interface Session {
  journal: DurableFrame[];
  listeners: Set<Listener>;
}

/** A journal and its fan-out in memory, which can lose what it fans out. */
export class MemoryLiveSource implements LiveSource {
  readonly #sessions = new Map<string, Session>();
  /** Reads so far. */
  replays = 0;
  snapshots = 0;
  beats = 0;
  /** Whether the record says that sessions have ended. */
  isOver = false;
  /** Awaited before each read, so that tests can hold one up. */
  beforeRead: () => Promise<void> = async () => {};

  follow(
    sessionId: string,
    onFrames: (frames: PublishedFrame[]) => void,
    onDoubt?: () => void,
  ): () => void {
    const { listeners } = this.#session(sessionId);
    const listener = { onFrames, onDoubt };
    listeners.add(listener);
    return () => listeners.delete(listener);
  }

  /** As after a break: what was fanned out before may have been missed. */
  doubt(sessionId: string): void {
    for (const { onDoubt } of this.#session(sessionId).listeners) onDoubt?.();
  }

  async beat(sessionId: string): Promise<SessionHeartbeat> {
    this.beats += 1;
    await this.beforeRead();
    const figures = { audio_received: 0, audio_finalised: 0, lag_ms: 0, gaps: 0 };
    const seq = this.newest(sessionId);
    const frame = { type: "Heartbeat" as const, session_id: sessionId, seq, ...figures };
    return { frame, isOver: this.isOver };
  }

  async replay(sessionId: string, fromSeq: number, limit: number): Promise<DurableFrame[]> {
    this.replays += 1;
    await this.beforeRead();
    const { journal } = this.#session(sessionId);
    return journal.filter(({ seq }) => seq > fromSeq).slice(0, limit);
  }

  async snapshot(sessionId: string): Promise<SnapshotFrame> {
    this.snapshots += 1;
    await this.beforeRead();
    return {
      type: "Snapshot",
      session_id: sessionId,
      seq: this.newest(sessionId),
      session: {
        id: sessionId,
        workspace_id: "w",
        title: "t",
        status: this.#statusOf(sessionId),
        language: "en",
        started_at: "2026-01-01T00:00:00.000Z",
      },
      speakers: [],
      segments: [],
    };
  }

  /** How the session has ended, when it has. */
  endOf(sessionId: string): SessionEnd | undefined {
    const status = this.#statusOf(sessionId);
    return status === "completed" || status === "failed" ? status : undefined;
  }

  #statusOf(sessionId: string): SessionStatus {
    const told = this.#session(sessionId).journal.flatMap((frame) =>
      frame.type === "SessionStatus" ? [frame.status] : [],
    );
    return told.at(-1) ?? "recording";
  }

  newest(sessionId: string): number {
    return this.#session(sessionId).journal.length;
  }

  followers(sessionId: string): number {
    return this.#session(sessionId).listeners.size;
  }

  /** Appends the next event without telling anybody. */
  append(sessionId: string, text = "word"): DurableFrame {
    const { journal } = this.#session(sessionId);
    const seq = journal.length + 1;
    const frame: DurableFrame = {
      type: "Results",
      session_id: sessionId,
      seq,
      at: "2026-01-01T00:00:00.000Z",
      segment_id: `segment-${seq}`,
      revision: 1,
      is_final: true,
      start: seq,
      duration: 1,
      transcript: text,
      confidence: 1,
      speaker: "S1",
      words: [],
    };
    journal.push(frame);
    return frame;
  }

  /** Appends a change of the session's status without telling anybody. */
  appendStatus(sessionId: string, status: SessionStatus): DurableFrame {
    const { journal } = this.#session(sessionId);
    const at = "2026-01-01T00:00:00.000Z";
    const frame: DurableFrame = {
      type: "SessionStatus",
      session_id: sessionId,
      seq: journal.length + 1,
      at,
      status,
    };
    journal.push(frame);
    return frame;
  }

  /** Appends the next event and fans it out. */
  publish(sessionId: string, text?: string): DurableFrame {
    const frame = this.append(sessionId, text);
    this.fanOut(sessionId, [frame]);
    return frame;
  }

  fanOut(sessionId: string, frames: PublishedFrame[]): void {
    for (const { onFrames } of this.#session(sessionId).listeners) onFrames(frames);
  }

  #session(sessionId: string): Session {
    const session = this.#sessions.get(sessionId) ?? { journal: [], listeners: new Set() };
    this.#sessions.set(sessionId, session);
    return session;
  }
}
