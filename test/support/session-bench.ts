import type { RecognisedSegment, SessionCommand } from "../../src/session/command.ts";
import { decide } from "../../src/session/decide.ts";
import type { SessionEvent } from "../../src/session/event.ts";
import { initialState, type SessionState } from "../../src/session/state.ts";
import { Turn } from "../../src/session/turn.ts";
import type { SessionWrite } from "../../src/session/write.ts";

/** Samples at 16 kHz. */
export const SECOND = 16_000;

/** A session without a runtime around it: commands in, events out, on a clock of its own. */
export class SessionBench {
  readonly state: SessionState = initialState("s");
  now = 1_000;
  events: SessionEvent[] = [];
  writes: SessionWrite[] = [];

  run(command: SessionCommand): unknown {
    const turn = new Turn(this.state, this.now);
    const reply = decide(turn, command);
    this.events.push(...turn.events);
    this.writes.push(...turn.writes);
    return reply;
  }

  /** An event that no command of this story leads to. */
  record(event: SessionEvent): void {
    const turn = new Turn(this.state, this.now);
    turn.emit(event);
    this.events.push(...turn.events);
  }

  start(): this {
    this.run({ type: "Start", jobId: "j", language: "en" });
    return this;
  }

  chunk(sequence: number, seconds = 2, sampleRate = 16_000): void {
    const frames = seconds * sampleRate;
    this.run({ type: "ChunkStored", chunkId: `c${sequence}`, sequence, frames, sampleRate });
  }

  utterance(segments: RecognisedSegment[], finalisedTo: number): void {
    const none = new Uint8Array();
    this.run({
      type: "Utterance",
      attempt: 1,
      segments,
      end: finalisedTo,
      checkpoint: { position: finalisedTo, recogniser: none, speakers: none },
      revised: { segments: [], merges: [] },
      finalisedTo,
    });
  }

  of<T extends SessionEvent["type"]>(type: T): Extract<SessionEvent, { type: T }>[] {
    return this.events.filter((e): e is Extract<SessionEvent, { type: T }> => e.type === type);
  }
}

export function segment(start: number, end: number, cluster: number): RecognisedSegment {
  return {
    start,
    end,
    words: [{ text: "word", start, end, confidence: 0.9 }],
    confidence: 0.9,
    cluster,
  };
}
