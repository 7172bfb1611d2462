import type { SessionEvent } from "../../src/session/event.ts";
import type { SegmentText } from "../../src/session/write.ts";
import type { SessionBatch } from "./mutation.ts";

interface Audio {
  start: number;
  length: number;
  state: "open" | "done" | "failed";
}

interface Text {
  start: number;
  end: number;
  label: string;
  words: string[];
  revision: number;
}

/** Throws what is wrong when it is. */
function hold(right: boolean, what: string): asserts right {
  if (!right) throw new Error(what);
}

/**
 * What a session is to those who look at it from outside: durable batches go
 * in, one after the other, and whatever contradicts what was said before throws.
 * Knows nothing of SessionState.
 */
export class SessionModel {
  #seq = 0;
  #epoch = 0;
  #received = new Map<number, string>();
  #audio = new Map<number, Audio>();
  #gaps = new Map<number, { start: number; length: number; filled: boolean; tail: boolean }>();
  /** What has its place from here on was given up before. */
  #lateFrom = Number.POSITIVE_INFINITY;
  #next = 0;
  #position = 0;
  #texts = new Map<string, Text>();
  #labels = 0;
  #merged = new Map<string, string>();
  #claims = new Map<string, string>();
  #spans: { from: number; to: number }[] = [];
  #redo: number | undefined;
  #lastSequence: number | undefined;
  #concerns = new Set<string>();
  #outcomes = new Set<string>();
  #jobs = 0;
  #redos = 0;
  completed = false;
  /** Nothing could be read when it completed. */
  #failed = false;

  /** A batch as it was written: its texts first, as the record does. */
  take(batch: SessionBatch): void {
    for (const { commandId } of batch.outcomes) {
      // Without events a batch whose answer got lost is written once more, which changes nothing.
      const isSame = batch.events.length === 0;
      hold(isSame || !this.#outcomes.has(commandId), `${commandId} was carried out twice`);
      this.#outcomes.add(commandId);
    }
    hold(batch.epoch >= this.#epoch, `epoch ${batch.epoch} wrote after ${this.#epoch}`);
    this.#epoch = batch.epoch;
    for (const write of batch.writes) if (write.type === "SegmentText") this.#write(write);
    for (const { seq, event } of batch.events) {
      hold(seq === this.#seq + 1, `seq ${seq} after ${this.#seq}`);
      this.#seq = seq;
      this.#apply(event);
    }
  }

  #write({ segmentId, start, end, label, words, redacted }: SegmentText): void {
    const said = redacted ? [] : words.map((word) => word.text);
    this.#texts.set(segmentId, { start, end, label, words: said, revision: 1 });
  }

  #apply(event: SessionEvent): void {
    switch (event.type) {
      case "ChunkReceived":
      case "ChunkPlaced":
      case "GapDeclared":
      case "GapFilled":
      case "ChunkTranscribed":
      case "ChunkFailed":
        return this.#applyAudio(event);
      case "SegmentFinalised":
        hold(!this.completed, `segment ${event.segmentId} after the end`);
        hold(this.#texts.has(event.segmentId), `segment ${event.segmentId} has no text`);
        return this.#label(event.label);
      case "SpeakersRevised":
      case "SpeakerClaimed":
      case "SpeakerUnclaimed":
        return this.#applySpeakers(event);
      case "TranscriptReplaced":
        return this.#replace(event);
      case "SegmentRevised":
        return this.#revise(event);
      case "SpanRedacted":
        return this.#redact(event);
      default:
        return this.#applyPhase(event);
    }
  }

  #applyAudio(event: Extract<SessionEvent, { sequence: number }>): void {
    const { sequence } = event;
    switch (event.type) {
      case "ChunkReceived":
        hold(!this.#received.has(sequence), `chunk ${sequence} received twice`);
        this.#received.set(sequence, event.chunkId);
        if (this.#gaps.get(sequence)?.tail) this.#reopen();
        return;
      case "ChunkPlaced": {
        const { start, length } = event;
        this.#advance(sequence, start, length);
        this.#audio.set(sequence, { start, length, state: "open" });
        if (sequence < this.#lateFrom) return;
        this.#gaps.set(sequence, { start, length, filled: true, tail: false });
        return;
      }
      case "GapDeclared": {
        const { start, length, tail = false } = event;
        hold(!tail || length === 0, `gap ${sequence} at the end has a length`);
        this.#advance(sequence, start, length);
        this.#gaps.set(sequence, { start, length, filled: false, tail });
        return;
      }
      case "GapFilled": {
        const gap = this.#gaps.get(sequence);
        hold(gap !== undefined && !gap.filled, `gap ${sequence} filled twice, or not there`);
        hold(event.start === gap.start && event.length <= gap.length, `gap ${sequence} moved`);
        gap.filled = true;
        this.#audio.set(sequence, { start: event.start, length: event.length, state: "open" });
        return;
      }
      default: {
        const audio = this.#audio.get(sequence);
        hold(audio?.state === "open", `chunk ${sequence} ended twice, or never began`);
        audio.state = event.type === "ChunkFailed" ? "failed" : "done";
      }
    }
  }

  /** Nothing was placed behind what was given up at the end: it is open again. */
  #reopen(): void {
    for (const [sequence, { tail }] of [...this.#gaps].reverse()) {
      if (!tail) continue;
      this.#gaps.delete(sequence);
      this.#next = Math.min(this.#next, sequence);
    }
    this.#lateFrom = Math.min(this.#lateFrom, this.#next);
  }

  #advance(sequence: number, start: number, length: number): void {
    hold(sequence === this.#next, `${sequence} has its place before ${this.#next}`);
    hold(start === this.#position, `${sequence} begins at ${start}, not at ${this.#position}`);
    this.#next += 1;
    this.#position += length;
  }

  /** Labels come in order, and never again once they were merged. */
  #label(label: string): void {
    if (label === "UU") return;
    const number = Number(label.slice(1));
    hold(number <= this.#labels + 1, `${label} before S${this.#labels + 1}`);
    hold(!this.#merged.has(label), `${label} was merged and is back`);
    this.#labels = Math.max(this.#labels, number);
  }

  #applySpeakers(
    event: Extract<
      SessionEvent,
      { type: "SpeakersRevised" | "SpeakerClaimed" | "SpeakerUnclaimed" }
    >,
  ): void {
    if (event.type === "SpeakerClaimed") {
      const by = this.#claims.get(event.label);
      const foreign = by !== undefined && by !== event.claimedUserId;
      hold(!(foreign && event.source === "self_claim"), `${event.label} was claimed over ${by}`);
      hold(!this.#merged.has(event.label), `${event.label} was merged and is claimed`);
      this.#claims.set(event.label, event.claimedUserId);
      return;
    }
    if (event.type === "SpeakerUnclaimed") {
      hold(this.#claims.delete(event.label), `${event.label} was not claimed`);
      return;
    }
    for (const { from, into } of event.merges) this.#merge(from, into);
    for (const { segmentId, label } of event.revisions) {
      this.#label(label);
      const text = this.#texts.get(segmentId);
      hold(text !== undefined, `speaker of the unknown segment ${segmentId}`);
      text.label = label;
    }
  }

  #merge(from: string, into: string): void {
    hold(!this.#merged.has(from) && !this.#merged.has(into), `${from} merged again into ${into}`);
    hold(Number(into.slice(1)) < Number(from.slice(1)), `the older ${from} did not survive`);
    this.#merged.set(from, into);
    const claim = this.#claims.get(from);
    this.#claims.delete(from);
    if (claim !== undefined && !this.#claims.has(into)) this.#claims.set(into, claim);
    for (const text of this.#texts.values()) if (text.label === from) text.label = into;
  }

  #replace(event: Extract<SessionEvent, { type: "TranscriptReplaced" }>): void {
    const whole = event.attempt === this.#redo && event.from === 0;
    const late = event.sequences.every((sequence) => this.#gaps.get(sequence)?.filled === true);
    hold(late, "a reading replaced what no gap asked for");
    hold(whole || event.sequences.length > 0, `attempt ${event.attempt} replaced unasked`);
    for (const { segmentId } of event.removed) {
      hold(this.#texts.delete(segmentId), `removed the unknown segment ${segmentId}`);
    }
    for (const { segmentId, label } of event.added) {
      hold(this.#texts.has(segmentId), `segment ${segmentId} has no text`);
      this.#label(label);
    }
  }

  #revise({ segmentId, label, revision }: Extract<SessionEvent, { type: "SegmentRevised" }>): void {
    const text = this.#texts.get(segmentId);
    hold(text !== undefined, `edited the unknown segment ${segmentId}`);
    hold(revision === text.revision + 1, `revision ${revision} after ${text.revision}`);
    this.#label(label);
    text.revision = revision;
    text.label = label;
  }

  #redact(event: Extract<SessionEvent, { type: "SpanRedacted" }>): void {
    if (event.label === undefined) this.#spans.push({ from: event.from, to: event.to });
    for (const id of event.segmentIds) {
      const text = this.#texts.get(id);
      hold(text !== undefined, `redacted the unknown segment ${id}`);
      text.words = [];
    }
  }

  #applyPhase(event: SessionEvent): void {
    switch (event.type) {
      case "SessionStopped":
        hold(this.#lastSequence === undefined, "stopped twice");
        this.#lastSequence = event.lastSequence;
        return;
      case "SessionCompleted":
        hold(!this.completed || this.#failed, "completed twice");
        this.completed = true;
        this.#failed = false;
        return;
      case "SessionFailed":
        hold(!this.completed, "failed after its end");
        hold(!this.#isRead(), "failed although a chunk was read");
        this.completed = true;
        this.#failed = true;
        return;
      case "RedoRequested":
        hold(this.completed && this.#redo === undefined, "a redo inside another");
        this.#redo = event.attempt;
        return;
      case "RedoCancelled":
        hold(this.#redo === event.attempt, `cancelled redo ${event.attempt}, which does not run`);
        this.#redo = undefined;
        return;
      case "JobCompleted":
      case "JobFailed":
        this.#jobs += 1;
        // A redo, or the first audio that can be read comes late.
        if (this.#redo !== undefined || this.#failed) this.#redos += 1;
        this.#redo = undefined;
        hold(this.#jobs === this.#redos + 1, "the job completed twice");
        return;
      case "ConcernRaised":
        hold(!this.#concerns.has(event.concernId), `concern ${event.concernId} told twice`);
        this.#concerns.add(event.concernId);
    }
  }

  #isRead(): boolean {
    return [...this.#audio.values()].some(({ state }) => state === "done");
  }

  /** Nothing is under way any more. */
  get settled(): boolean {
    const open = [...this.#audio.values()].some(({ state }) => state === "open");
    return this.completed && !open && this.#redo === undefined;
  }

  /** At the end, when all of `stored` was delivered: nothing is lost, doubled or back. */
  finish(stored: readonly number[]): void {
    hold(this.completed, "never completed");
    const isUnread = this.#audio.size > 0 && !this.#isRead() && this.#texts.size === 0;
    hold(this.#failed === isUnread, `failed: ${this.#failed}, unread: ${isUnread}`);
    hold(this.settled, "work is left open");
    const last = Math.max(-1, ...stored);
    hold(this.#lastSequence !== undefined && this.#lastSequence >= last, "stopped too early");
    hold(this.#next === this.#lastSequence + 1, `ends with ${this.#next}`);
    for (const sequence of stored) {
      hold(this.#audio.has(sequence), `chunk ${sequence} is lost`);
    }
    this.#finishTexts();
  }

  #finishTexts(): void {
    const said = new Map<number, Text[]>();
    for (const text of this.#texts.values()) {
      said.set(text.start, [...(said.get(text.start) ?? []), text]);
    }
    for (const [sequence, { start, length, state }] of this.#audio) {
      if (length === 0) continue;
      const texts = said.get(start) ?? [];
      said.delete(start);
      if (state === "failed") continue;
      hold(texts.length === 1, `chunk ${sequence} was said ${texts.length} times`);
      const [text] = texts;
      const hidden = this.#spans.some(({ from, to }) => start < to && start + length > from);
      if (hidden) hold(text?.words.length === 0, `redacted words of chunk ${sequence} are back`);
      const right = text?.words.length === 0 || text?.words[0] === `chunk${sequence}`;
      hold(right, `chunk ${sequence} says ${text?.words[0]}`);
    }
    hold(said.size === 0, "words of no chunk");
  }
}
