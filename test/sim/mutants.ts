import type { SessionCommand } from "../../src/session/command.ts";
import type { SessionEvent } from "../../src/session/event.ts";
import type { SessionState } from "../../src/session/state.ts";
import type { Mutation, SessionBehaviour } from "./mutation.ts";

type Decide = SessionBehaviour["decide"];
type Apply = SessionBehaviour["apply"];

/** Decides as ever, but `before` may bend state and command first. */
function deciding(bend: (state: SessionState, command: SessionCommand) => SessionCommand) {
  return (behaviour: SessionBehaviour): SessionBehaviour => {
    const decide: Decide = (state, command, now) =>
      behaviour.decide(state, bend(state, command), now);
    return { ...behaviour, decide };
  };
}

/**
 * Deciding applies its own events, so the bug lies in what stands afterwards:
 * `spoil` gets the state after each event, by deciding and by loading.
 */
function applying(spoil: (state: SessionState, event: SessionEvent, before: SessionState) => void) {
  return (behaviour: SessionBehaviour): SessionBehaviour => {
    const apply: Apply = (state, event, at) => {
      const before = structuredClone(state);
      behaviour.apply(state, event, at);
      spoil(state, event, before);
    };
    const decide: Decide = (state, command, now) => {
      const before = structuredClone(state);
      const decision = behaviour.decide(state, command, now);
      for (const event of decision.events) spoil(state, event, before);
      return decision;
    };
    return { ...behaviour, apply, decide };
  };
}

/** Bugs that a simulation worth its name finds; each was one once, somewhere. */
export const MUTANTS: readonly Mutation[] = [
  {
    name: "no epoch check: a replaced activation writes on",
    record: (record, truth) => ({
      load: (id, from) => record.load(id, from),
      activate: (id) => record.activate(id),
      append: (batch) => record.append({ ...batch, epoch: truth.epoch() }),
    }),
  },
  {
    name: "no expected seq: events are numbered twice",
    record: (record, truth) => ({
      load: (id, from) => record.load(id, from),
      activate: (id) => record.activate(id),
      append: (batch) => record.append({ ...batch, expectedSeq: truth.length() }),
    }),
  },
  {
    name: "answers before the append",
    journal: (journal) => ({
      load: (id, from) => journal.load(id, from),
      activate: (id) => journal.activate(id),
      async append(batch) {
        journal.append(batch).catch(() => {});
        return { now: batch.events[0]?.at ?? 0 };
      },
    }),
  },
  {
    name: "a failed append counts as done",
    journal: (journal) => ({
      load: (id, from) => journal.load(id, from),
      activate: (id) => journal.activate(id),
      append: (batch) => journal.append(batch).catch(() => ({ now: batch.events[0]?.at ?? 0 })),
    }),
  },
  {
    name: "the snapshot is one event behind what it says",
    journal: (journal) => ({
      load: (id, from) => journal.load(id, from),
      async activate(id) {
        const loaded = await journal.activate(id);
        if (loaded?.snapshot === undefined) return loaded;
        return { ...loaded, events: loaded.events.slice(1) };
      },
      append: (batch) => journal.append(batch),
    }),
  },
  {
    name: "words are not written with their events",
    journal: (journal) => ({
      load: (id, from) => journal.load(id, from),
      activate: (id) => journal.activate(id),
      append: (batch) => journal.append({ ...batch, writes: batch.writes.slice(1) }),
    }),
  },
  {
    name: "wishes are forgotten when a host takes over",
    journal: (journal) => ({
      load: (id, from) => journal.load(id, from),
      async activate(id) {
        const loaded = await journal.activate(id);
        return loaded === undefined ? undefined : { ...loaded, outcomes: [] };
      },
      append: (batch) => journal.append(batch),
    }),
  },
  {
    name: "finished commands stay in the outbox",
    journal: (journal) => ({
      load: (id, from) => journal.load(id, from),
      activate: (id) => journal.activate(id),
      append: (batch) => journal.append({ ...batch, commandIds: [] }),
    }),
  },
  {
    name: "a gap is filled twice",
    behaviour: deciding((state, command) => {
      if (command.type !== "ChunkStored") return command;
      for (const gap of state.timeline.gaps) {
        if (gap.sequence === command.sequence) delete gap.chunkId;
      }
      return command;
    }),
  },
  {
    name: "chunks that are done are kept",
    behaviour: applying((state, event, before) => {
      if (event.type !== "ChunkTranscribed") return;
      const entry = before.timeline.open.find(({ sequence }) => sequence === event.sequence);
      if (entry !== undefined) state.timeline.open.unshift(entry);
    }),
  },
  {
    name: "a replayed utterance is taken again",
    behaviour: deciding((state, command) => {
      const newest = state.segments.at(-1);
      if (command.type !== "Utterance" || newest === undefined) return command;
      state.timeline.finalTo = 0;
      state.checkpoint = 0;
      const segments = command.segments.map((segment) => ({
        ...segment,
        start: segment.start === newest.start ? segment.start + 1 : segment.start,
      }));
      return { ...command, segments };
    }),
  },
  {
    name: "a cancelled redo still replaces the text",
    behaviour: deciding((state, command) => {
      if (command.type === "Reread" && command.whole && state.redo === undefined) {
        state.redo = { attempt: command.attempt ?? 0, started: true };
      }
      return command;
    }),
  },
  {
    name: "a redaction is forgotten once its segments are empty",
    behaviour: applying((state, event) => {
      if (event.type === "SpanRedacted") state.redactions = [];
    }),
  },
  {
    name: "a self claim overrides another's",
    behaviour: deciding((state, command) => {
      if (command.type === "Claim") for (const label of state.speakers.labels) delete label.claim;
      return command;
    }),
  },
  {
    name: "merged labels come back",
    behaviour: applying((state, event) => {
      if (event.type !== "SpeakersRevised") return;
      for (const label of state.speakers.labels) delete label.mergedInto;
    }),
  },
  {
    name: "the end forgets chunks that wait for an earlier one",
    behaviour: deciding((state, command) => {
      if (command.type === "Stop") state.timeline.waiting = [];
      return command;
    }),
  },
  {
    name: "a new activation does not take the work up again",
    effects: (effects) => ({
      start: () => {},
      after: (turn) => effects.after(turn),
      busy: () => effects.busy(),
      stop: () => effects.stop(),
    }),
  },
];
