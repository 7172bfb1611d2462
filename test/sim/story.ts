import { isAppError } from "../../src/base/errors.ts";
import type { Log } from "../../src/base/log.ts";
import type { ActorOptions } from "../../src/roles/actors.ts";
import type { SessionEvent } from "../../src/session/event.ts";
import type { Kernel } from "./kernel/kernel.ts";

type SessionJournal = ActorOptions["journal"];

const LONGEST = 160;

interface Line {
  at: number;
  /** Empty: it concerns all. */
  sessionId: string;
  text: string;
}

/** What happened, one line each, for whoever reads of a run that failed; and its fingerprint. */
export class Story {
  readonly #kernel: Kernel;
  readonly #lines: Line[] = [];
  #hash = 0x811c9dc5;

  constructor(kernel: Kernel) {
    this.#kernel = kernel;
  }

  /** Of everything that was told, with its time. */
  get fingerprint(): string {
    return `${(this.#hash >>> 0).toString(16)}-${this.#kernel.steps}`;
  }

  tell(sessionId: string, text: string): void {
    const at = this.#kernel.now;
    this.#lines.push({ at, sessionId, text: text.slice(0, LONGEST) });
    const whole = `${at}${sessionId}${text}`;
    for (let n = 0; n < whole.length; n += 1) {
      this.#hash = Math.imul(this.#hash ^ whole.charCodeAt(n), 0x01000193);
    }
  }

  /** The last lines that concern the session. */
  of(sessionId: string | undefined, most = 60): string[] {
    return this.#lines
      .filter((line) => line.sessionId === "" || line.sessionId === sessionId)
      .slice(-most)
      .map(({ at, text }) => `${(at / 1_000).toFixed(3).padStart(9)} s  ${text}`);
  }

  /** A journal whose appends are told. */
  told(journal: SessionJournal, host: string): SessionJournal {
    return {
      activate: async (id) => {
        const loaded = await journal.activate(id);
        if (loaded !== undefined) this.tell(id, `${host} activated it, epoch ${loaded.epoch}`);
        return loaded;
      },
      load: (id, from) => journal.load(id, from),
      append: async (batch) => {
        let appended: Awaited<ReturnType<SessionJournal["append"]>>;
        try {
          appended = await journal.append(batch);
        } catch (error) {
          const code = isAppError(error) ? error.code : String(error);
          this.tell(batch.id, `${host}'s append was refused: ${code}`);
          throw error;
        }
        const events = batch.events.map(({ seq, event }) => `${seq} ${brief(event)}`);
        if (events.length > 0) this.tell(batch.id, `${host} wrote ${events.join(", ")}`);
        return appended;
      },
    };
  }

  log(host: string): Log {
    const say = (fields: object, message: string): void => {
      const { session_id: id, error, reason } = fields as Record<string, unknown>;
      this.tell(typeof id === "string" ? id : "-", `${host}: ${message} ${error ?? reason ?? ""}`);
    };
    const log = (bound: object): Log => ({
      debug: () => {},
      info: () => {},
      warn: (fields, message) => say({ ...bound, ...fields }, message),
      error: (fields, message) => say({ ...bound, ...fields }, message),
      child: (fields) => log({ ...bound, ...fields }),
    });
    return log({});
  }
}

function brief(event: SessionEvent): string {
  switch (event.type) {
    case "ChunkReceived":
    case "ChunkTranscribed":
    case "ChunkFailed":
      return `${event.type}(${event.sequence})`;
    case "ChunkPlaced":
    case "GapDeclared":
    case "GapFilled":
      return `${event.type}(${event.sequence} at ${event.start}+${event.length})`;
    case "SegmentFinalised":
      return `Segment(${event.start}-${event.end})`;
    case "TranscriptReplaced":
      return `TranscriptReplaced(attempt ${event.attempt}, ${event.from}-${event.to}, -${event.removed.length} +${event.added.length})`;
    default:
      return event.type;
  }
}
