import { readFileSync } from "node:fs";
import { resolve } from "node:path";
import { describe, expect, it } from "vitest";
import { newId } from "../../../src/base/ids.ts";
import { sessionBehaviour } from "../../../src/session/behaviour.ts";
import type { SessionEvent } from "../../../src/session/event.ts";
import type { SegmentMark } from "../../../src/session/segments.ts";
import {
  packSegments,
  packState,
  unpackSegments,
  unpackState,
} from "../../../src/session/snapshot.ts";
import { initialState, type SessionState } from "../../../src/session/state.ts";
import { type GoldenEvent, playGoldenSession } from "../../support/golden-session.ts";

const FOLDER = resolve(import.meta.dirname, "golden");
/** The newest form of events on file. */
const NEWEST = 11;
const versions = Array.from({ length: NEWEST }, (_, n) => n + 1);

function read<T>(name: string): T {
  return JSON.parse(readFileSync(resolve(FOLDER, `${name}.json`), "utf8")) as T;
}

function replay(state: SessionState, events: readonly GoldenEvent[]): SessionState {
  for (const { event, at } of events) sessionBehaviour.apply(state, event, at);
  return state;
}

/** As it comes out of the database. */
function stored<T>(value: T): T {
  return JSON.parse(JSON.stringify(value)) as T;
}

/** Does not compile when an event is missing. */
const EVENT_TYPES: Record<SessionEvent["type"], true> = {
  SessionStarted: true,
  ChunkReceived: true,
  ChunkMeasured: true,
  ChunkPlaced: true,
  ChunkTranscribed: true,
  ChunkFailed: true,
  GapDeclared: true,
  GapFilled: true,
  LateAudioDue: true,
  SegmentFinalised: true,
  SpeakersRevised: true,
  SpeakersUnmerged: true,
  SegmentsReassigned: true,
  SpeakerClaimed: true,
  SpeakerUnclaimed: true,
  SpeakerNamed: true,
  SessionStopped: true,
  SessionCompleted: true,
  SessionFailed: true,
  JobStarted: true,
  JobCompleted: true,
  JobFailed: true,
  TranscriptReplaced: true,
  RedoRequested: true,
  RedoCancelled: true,
  RedoProposed: true,
  RedoReviewed: true,
  SegmentRevised: true,
  SpanRedacted: true,
  SummaryUpdated: true,
  ConcernRaised: true,
  AnnotationChanged: true,
  GuestJoined: true,
  SessionDeleted: true,
};

describe("snapshots", () => {
  // The files are what releases wrote: a change of what is written adds a pair, and none is written again.
  it.each(versions)(
    "snapshots: the events of version %i give the state that they always gave",
    (version) => {
      const events = read<GoldenEvent[]>(`events-v${version}`);
      const state = stored(replay(initialState("s"), events));
      expect(state).toEqual(read(`state-v${version}`));
    },
  );

  it("snapshots: one after any event, with those behind it, is the whole", () => {
    const { events } = playGoldenSession();
    const whole = stored(replay(initialState("s"), events));
    for (const at of events.keys()) {
      const snapshot = stored(packState(replay(initialState("s"), events.slice(0, at))));
      const loaded = unpackState(snapshot);
      expect(stored(replay(loaded, events.slice(at)))).toEqual(whole);
    }
  });

  it("snapshots: the golden events hold one of every kind", () => {
    const kinds = read<GoldenEvent[]>(`events-v${NEWEST}`).map(({ event }) => event.type);
    // A deletion ends the actor: no snapshot follows it.
    expect([...new Set([...kinds, "SessionDeleted"])].sort()).toEqual(
      Object.keys(EVENT_TYPES).sort(),
    );
  });

  it("snapshots: segments take a third of their room, and come back as they were", () => {
    const marks: SegmentMark[] = Array.from({ length: 1_000 }, (_, n) => ({
      id: newId(),
      start: n * 80_000,
      end: n * 80_000 + 64_000,
      label: n % 7 === 0 ? "UU" : `S${1 + (n % 4)}`,
      cluster: n % 7 === 0 ? -1 : n % 4,
      ...(n % 5 === 0 && { revision: 2 }),
      ...(n % 11 === 0 && { redacted: true as const }),
      ...(n % 13 === 0 && { chosen: true as const }),
      ...(n % 17 === 0 && { own: "S5" }),
    }));
    const odd = { id: "none of ours", start: 7.5, end: 9.25, label: "S1", cluster: 0 };
    for (const all of [[], [odd], [odd, ...marks]]) {
      expect(unpackSegments(packSegments(all))).toEqual(all);
    }
    expect(packSegments(marks).length).toBeLessThan(JSON.stringify(marks).length / 2.5);
  });

  it("snapshots: of another form are refused", () => {
    expect(() => unpackState(stored(initialState("s")))).toThrow();
  });
});
