import { SESSION_RATE } from "../../src/base/audio/sample-rate.ts";
import { toProposal, toSegment } from "../../src/recognition/recognised.ts";
import type { SessionCommand } from "../../src/session/command.ts";
import { decide } from "../../src/session/decide.ts";
import { interimLabel, UNKNOWN_SPEAKER } from "../../src/session/speakers.ts";
import { initialState, type SessionState } from "../../src/session/state.ts";
import { Turn } from "../../src/session/turn.ts";
import type { SegmentOverlap } from "../../src/session/write.ts";
import type { SpeakerUpdate, Utterance } from "../../src/wire/gen/voice/v1/worker.ts";
import type { SpokenTurn } from "./diarisation-score.ts";

const ATTEMPT = 1;

/** A segment that got a label, seconds of the recording; `at` is when a viewer had it. */
export interface LabelShown extends SpokenTurn {
  at: number;
}

/** The label of the newest words, seconds of the recording, while they are spoken. */
export interface InterimShown {
  at: number;
  speaker: string;
}

/** The transcript's labels at three times, and how they came about. */
export interface ShownLabelsResult {
  /** Each segment as it was first shown, at the end of live, and after the final pass. */
  first: SpokenTurn[];
  live: SpokenTurn[];
  final: SpokenTurn[];
  history: LabelShown[];
  interims: InterimShown[];
  segments: number;
  /** Segments whose name a viewer saw change before the final pass, in it, and at any time. */
  changedLive: number;
  changedFinal: number;
  changed: number;
  /** The time of all segments, and of those whose name a viewer saw change, seconds. */
  shownSeconds: number;
  changedSeconds: number;
  /** Segments that were first shown as unknown and later got a name. */
  namedLater: number;
}

/**
 * The labels of one session as its viewers see them: what the worker sends goes through the
 * session's own decisions, which turn clusters into labels.
 */
export class ShownLabels {
  readonly #state: SessionState = initialState("eval");
  readonly #shown = new Map<number, LabelShown>();
  readonly #overlaps = new Map<string, readonly SegmentOverlap[]>();
  readonly #firstOverlaps: SpokenTurn[] = [];
  readonly #history: LabelShown[] = [];
  readonly #interims: InterimShown[] = [];
  readonly #changed = new Set<number>();
  readonly #named = new Set<number>();
  readonly #samples: number;

  /** @param samples length of the recording */
  constructor(samples: number) {
    this.#samples = samples;
    this.#decide({ type: "Start", jobId: "eval", language: "en" });
    const versions = { engine: "eval", diarisationModelVersion: "eval", detectedLanguage: "en" };
    this.#decide({ type: "RecognitionOpened", ...versions });
    const chunk = { chunkId: "eval", sequence: 0, frames: samples, sampleRate: SESSION_RATE };
    this.#decide({ type: "ChunkStored", ...chunk });
  }

  /** @param at seconds after the start of the recording */
  utterance(at: number, { segments, end, speakers }: Omit<Utterance, "checkpoint">): void {
    const { events, writes } = this.#decide({
      type: "Utterance",
      attempt: ATTEMPT,
      segments: segments.map(toSegment),
      end,
      revised: toProposal(speakers),
      finalisedTo: end,
    });
    for (const event of events) {
      if (event.type !== "SegmentFinalised") continue;
      const { start, end: until, label } = event;
      this.#show({ at, ...spoken({ start, end: until, label }) }, start);
    }
    for (const write of writes) {
      if (write.type !== "SegmentText") continue;
      this.#overlaps.set(write.segmentId, write.overlaps ?? []);
      this.#firstOverlaps.push(...this.#overlapping({ id: write.segmentId, label: write.label }));
    }
    this.#note(at);
  }

  /** @param cluster of the voice that speaks, as the tracker says it in an interim result */
  interim(at: number, cluster: number): void {
    this.#interims.push({ at, speaker: interimLabel(this.#state.speakers, { cluster }) });
  }

  /** Stops the session after its live part and applies the final pass. */
  finish(at: number, speakers: SpeakerUpdate | undefined): ShownLabelsResult {
    const shown = this.#history.filter(isFirstOf()).map(withoutTime);
    const first = [...shown, ...this.#firstOverlaps];
    const live = this.#turns();
    const changedLive = this.#changed.size;
    const before = new Map([...this.#shown].map(([start, { speaker }]) => [start, speaker]));
    this.#decide({ type: "Stop", lastSequence: 0 });
    const done = { attempt: ATTEMPT, speakers: toProposal(speakers) };
    this.#decide({ type: "RecognitionDone", ...done });
    this.#note(at);
    const moved = [...this.#shown].filter(([start, { speaker }]) => {
      const earlier = before.get(start);
      return earlier !== speaker && earlier !== UNKNOWN_SPEAKER;
    });
    return {
      first,
      live,
      final: this.#turns(),
      history: this.#history,
      interims: this.#interims,
      segments: this.#shown.size,
      changedLive,
      changedFinal: moved.length,
      changed: this.#changed.size,
      ...this.#times(),
      namedLater: this.#named.size,
    };
  }

  #decide(command: SessionCommand): Turn {
    const turn = new Turn(this.#state, (this.#samples / SESSION_RATE) * 1000);
    decide(turn, command);
    return turn;
  }

  #show(shown: LabelShown, start: number): void {
    this.#shown.set(start, shown);
    this.#history.push(shown);
  }

  /** Notes which segments have another label than was shown. */
  #note(at: number): void {
    for (const mark of this.#state.segments) {
      const earlier = this.#shown.get(mark.start);
      if (earlier === undefined || earlier.speaker === mark.label) continue;
      if (earlier.speaker === UNKNOWN_SPEAKER) this.#named.add(mark.start);
      else this.#changed.add(mark.start);
      this.#show({ at, ...spoken(mark) }, mark.start);
    }
  }

  #turns(): SpokenTurn[] {
    return this.#state.segments.flatMap((mark) => [spoken(mark), ...this.#overlapping(mark)]);
  }

  /** Turns of those who speak within the segment, by the labels that they have now. */
  #overlapping({ id, label }: { id: string; label: string }): SpokenTurn[] {
    return (this.#overlaps.get(id) ?? []).flatMap(({ segmentId, start, end }) => {
      const other = this.#state.segments.find((mark) => mark.id === segmentId)?.label;
      return other === undefined || other === label ? [] : [spoken({ start, end, label: other })];
    });
  }

  #times(): { shownSeconds: number; changedSeconds: number } {
    const secondsOf = (marks: readonly { start: number; end: number }[]) =>
      marks.reduce((sum, { start, end }) => sum + end - start, 0) / SESSION_RATE;
    const { segments } = this.#state;
    const changed = segments.filter(({ start }) => this.#changed.has(start));
    return { shownSeconds: secondsOf(segments), changedSeconds: secondsOf(changed) };
  }
}

function spoken(mark: { start: number; end: number; label: string }): SpokenTurn {
  const { start, end, label } = mark;
  return { start: start / SESSION_RATE, end: end / SESSION_RATE, speaker: label };
}

function isFirstOf(): (shown: LabelShown) => boolean {
  const known = new Set<number>();
  return ({ start }) => {
    if (known.has(start)) return false;
    known.add(start);
    return true;
  };
}

function withoutTime({ start, end, speaker }: LabelShown): SpokenTurn {
  return { start, end, speaker };
}
