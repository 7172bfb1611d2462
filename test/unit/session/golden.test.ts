import { readFileSync } from "node:fs";
import { resolve } from "node:path";
import { describe, expect, it } from "vitest";
import { sessionBehaviour } from "../../../src/session/behaviour.ts";
import type { SessionEvent } from "../../../src/session/event.ts";
import {
  SNAPSHOT_VERSION,
  upgradeSnapshot,
  upgradeThrough,
} from "../../../src/session/snapshot.ts";
import { initialState, type SessionState } from "../../../src/session/state.ts";
import { type GoldenEvent, playGoldenSession } from "../../support/golden-session.ts";

const FOLDER = resolve(import.meta.dirname, "golden");
const versions = Array.from({ length: SNAPSHOT_VERSION }, (_, n) => n + 1);

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
  ChunkPlaced: true,
  ChunkTranscribed: true,
  ChunkFailed: true,
  GapDeclared: true,
  GapFilled: true,
  LateAudioDue: true,
  SegmentFinalised: true,
  SpeakersRevised: true,
  SpeakerClaimed: true,
  SpeakerUnclaimed: true,
  SessionStopped: true,
  SessionCompleted: true,
  SessionFailed: true,
  JobStarted: true,
  JobCompleted: true,
  JobFailed: true,
  TranscriptReplaced: true,
  RedoRequested: true,
  RedoCancelled: true,
  SegmentRevised: true,
  SpanRedacted: true,
  SummaryUpdated: true,
  ConcernRaised: true,
  SessionDeleted: true,
};

describe("snapshots", () => {
  // The files are what releases wrote: a new version adds files, and none is written again.
  it.each(versions)("snapshots: version %i upgrades to what its events give today", (version) => {
    const events = read<GoldenEvent[]>(`events-v${version}`);
    const upgraded = upgradeSnapshot(version, read(`snapshot-v${version}`));
    expect(stored(upgraded)).toEqual(stored(replay(initialState("s"), events)));
  });

  it.each(versions)(
    "snapshots: from version %i a session goes on as from its events",
    (version) => {
      const before = read<GoldenEvent[]>(`events-v${version}`);
      const newest = read<GoldenEvent[]>(`events-v${SNAPSHOT_VERSION}`);
      const after = newest.slice(before.length);
      const upgraded = upgradeSnapshot(version, read(`snapshot-v${version}`));
      const whole = replay(initialState("s"), newest);
      expect(stored(replay(upgraded, after))).toEqual(stored(whole));
    },
  );

  it("snapshots: one after any event, with those behind it, is the whole", () => {
    const { events } = playGoldenSession();
    const whole = stored(replay(initialState("s"), events));
    for (const at of events.keys()) {
      const snapshot = stored(replay(initialState("s"), events.slice(0, at)));
      const loaded = upgradeSnapshot(SNAPSHOT_VERSION, snapshot);
      expect(stored(replay(loaded, events.slice(at)))).toEqual(whole);
    }
  });

  it("snapshots: the golden events hold one of every kind", () => {
    const kinds = read<GoldenEvent[]>(`events-v${SNAPSHOT_VERSION}`).map(({ event }) => event.type);
    // A deletion ends the actor: no snapshot follows it.
    expect([...new Set([...kinds, "SessionDeleted"])].sort()).toEqual(
      Object.keys(EVENT_TYPES).sort(),
    );
  });

  it("snapshots: a chain of upgrades is gone through in order, from wherever one begins", () => {
    const chain = [1, 2, 3].map((n) => (state: unknown) => ({
      ...(state as object),
      [`since${n + 1}`]: Object.keys(state as object).length,
    }));
    expect(upgradeThrough(chain, 1, { a: 1 })).toEqual({ a: 1, since2: 1, since3: 2, since4: 3 });
    expect(upgradeThrough(chain, 3, { a: 1 })).toEqual({ a: 1, since4: 1 });
    expect(upgradeThrough(chain, 4, { a: 1 })).toEqual({ a: 1 });
  });

  it("snapshots: of a newer release, or of none, are refused", () => {
    const load = (version: number) => () => upgradeSnapshot(version, initialState("s"));
    expect(load(SNAPSHOT_VERSION + 1)).toThrow(/newer release/);
    for (const version of [0, -1, 1.5, Number.NaN]) expect(load(version)).toThrow(/no snapshot/);
  });
});
