import { derivedId } from "../../src/base/ids.ts";
import { SessionJournal } from "../../src/journal/session-journal.ts";
import type { SessionEvent } from "../../src/session/event.ts";
import type { SegmentText, SessionWrite } from "../../src/session/write.ts";
import { heardText } from "./heard-text.ts";
import type { SessionFixture } from "./session-fixture.ts";

/** Writes a session's life through the real journal, as its actor would. */
export class SessionStory {
  readonly #journal: SessionJournal;
  readonly sessionId: string;
  readonly #epoch: number;
  #seq: number;

  private constructor(journal: SessionJournal, sessionId: string, epoch: number, seq: number) {
    this.#journal = journal;
    this.sessionId = sessionId;
    this.#epoch = epoch;
    this.#seq = seq;
  }

  static async open(fixture: SessionFixture, sessionId: string): Promise<SessionStory> {
    const journal = new SessionJournal(fixture.pool);
    const loaded = await journal.activate(sessionId);
    if (loaded === undefined) throw new Error("no such session");
    return new SessionStory(journal, sessionId, loaded.epoch, loaded.seq);
  }

  async tell(events: readonly SessionEvent[], writes: SessionWrite[] = []): Promise<void> {
    await this.#journal.append({
      id: this.sessionId,
      epoch: this.#epoch,
      expectedSeq: this.#seq,
      events: events.map((event, index) => ({
        seq: this.#seq + index + 1,
        at: Date.UTC(2026, 0, 31, 9, 30) + (this.#seq + index) * 1_000,
        event,
      })),
      writes,
      commandIds: [],
      outcomes: [],
    });
    this.#seq += events.length;
  }

  segmentId(start: number, attempt = 1): string {
    return derivedId("segment", this.sessionId, attempt, start);
  }

  /** A final segment: words of 4000 samples (a quarter second) from `start` on, `[words?]` unclear. */
  async say(
    label: string,
    start: number,
    text: string,
    speakerConfidence?: number,
  ): Promise<string> {
    const written = { ...this.spoken(label, start, text), speakerConfidence };
    const { segmentId, end } = written;
    const place = { segmentId, start, end, label, cluster: 0, checkpoint: 0 };
    await this.tell([{ type: "SegmentFinalised", ...place, speakerConfidence }], [written]);
    return segmentId;
  }

  spoken(label: string, start: number, marked: string, attempt = 1): SegmentText {
    const { text, unclear } = heardText(marked);
    const words = text.split(" ").map((word, index) => ({
      text: word,
      start: start + index * 4_000,
      end: start + (index + 1) * 4_000,
      confidence: 0.5 + 0.25 * (index % 2),
      ...(unclear.includes(index) ? { unclear: true } : {}),
    }));
    return {
      type: "SegmentText",
      segmentId: this.segmentId(start, attempt),
      attempt,
      start,
      end: start + words.length * 4_000,
      label,
      words,
      confidence: words.reduce((sum, word) => sum + word.confidence, 0) / words.length,
    };
  }
}
