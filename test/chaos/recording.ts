import { LiveViewer } from "../../src/cli/client/live-viewer.ts";
import type { UserSession } from "../../src/cli/client/user-session.ts";
import type { AudioChunk } from "../../src/cli/device/audio-chunks.ts";
import { Transcript } from "../../src/cli/view/transcript.ts";
import { reasonOf } from "../../src/client/errors.ts";
import type { ServerFrame } from "../../src/wire/live-frames.ts";
import type { Feat } from "./people.ts";
import type { Story } from "./stories.ts";

/** After these a client would fetch the text again. */
const MAKES_STALE: ReadonlySet<ServerFrame["type"]> = new Set(["SegmentRevised", "Redacted"]);

/** One viewer of one session and all that it was shown. */
export class Follower {
  /** Whether it began with all that had been, or with a snapshot. */
  readonly fromStart: boolean;
  /** `seq` of each durable frame, as they came. */
  readonly seqs: number[] = [];
  /** What the frames say was said. */
  readonly transcript = new Transcript();
  /** Text was re-derived, edited or taken out: a client would fetch it again. */
  isStale = false;
  snapshotSeq = 0;
  reconnects = 0;
  gaveUp: string | undefined;
  readonly #over = new AbortController();
  readonly #running: Promise<void>;

  constructor(user: UserSession, sessionId: string, fromStart: boolean) {
    this.fromStart = fromStart;
    const viewer = new LiveViewer(user, {
      sessionId,
      signal: this.#over.signal,
      backOff: user.api.backOff,
      ...(fromStart ? { fromSeq: 0 } : {}),
      onFrame: (frame) => this.#see(frame),
      onReconnect: () => {
        this.reconnects += 1;
      },
    });
    this.#running = viewer.run().catch((error: unknown) => {
      this.gaveUp = reasonOf(error);
    });
  }

  get seen(): number {
    return this.seqs.at(-1) ?? this.snapshotSeq;
  }

  async stop(): Promise<void> {
    this.#over.abort();
    await this.#running;
  }

  #see(frame: ServerFrame): boolean {
    if (frame.type === "Snapshot") this.snapshotSeq = frame.seq;
    else if ("at" in frame && frame.seq !== undefined) this.seqs.push(frame.seq);
    if (MAKES_STALE.has(frame.type) || this.transcript.apply(frame).stale) this.isStale = true;
    return false;
  }
}

/** A session as one device recorded it, and those who watched. */
export interface Recording {
  readonly sessionId: string;
  /** Which of the devices, and so how its audio was cut. */
  readonly lane: number;
  /** The service cut the chunks, and where depends on when the line went dead. */
  readonly streams: boolean;
  readonly chunks: readonly AudioChunk[];
  readonly followers: readonly Follower[];
  /** When it began, monotonic milliseconds. */
  readonly startedAt: number;
  /** Its title, and what a person writes in it; found nowhere else. */
  readonly canary: string;
  /** Undefined when nothing but the faults disturbed it. */
  readonly story: Story | undefined;
  /** What the person of the story was told is done. */
  feat?: Feat;
}
