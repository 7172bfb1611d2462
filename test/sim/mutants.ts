import { AppError, isAppError } from "../../src/base/errors.ts";
import type { ActorOptions } from "../../src/roles/actors.ts";
import { sessionBehaviour } from "../../src/session/behaviour.ts";
import type { SessionCommand } from "../../src/session/command.ts";
import type { SessionEvent } from "../../src/session/event.ts";
import type { SessionState } from "../../src/session/state.ts";
import type { StreamRecord } from "./streams.ts";
import type { Bent, Mutant } from "./world.ts";

type SessionBehaviour = NonNullable<ActorOptions["behaviour"]>;
type SessionJournal = ActorOptions["journal"];
type Loaded = NonNullable<Awaited<ReturnType<SessionJournal["activate"]>>>;
type Batch = Parameters<SessionJournal["append"]>[0];
type Appended = Awaited<ReturnType<SessionJournal["append"]>>;

/** Decides as ever, but `bend` may change state and command first. */
function deciding(bend: (state: SessionState, command: SessionCommand) => SessionCommand) {
  return ({ behaviour = sessionBehaviour }: ActorOptions): Partial<ActorOptions> => {
    const decide: SessionBehaviour["decide"] = (state, command, now) =>
      behaviour.decide(state, bend(state, command), now);
    return { behaviour: { ...behaviour, decide } };
  };
}

/**
 * Deciding applies its own events, so the bug lies in what stands afterwards:
 * `spoil` gets the state after each event, by deciding and by loading.
 */
function applying(spoil: (state: SessionState, event: SessionEvent, before: SessionState) => void) {
  return ({ behaviour = sessionBehaviour }: ActorOptions): Partial<ActorOptions> => {
    const apply: SessionBehaviour["apply"] = (state, event, at) => {
      const before = structuredClone(state);
      behaviour.apply(state, event, at);
      spoil(state, event, before);
    };
    const decide: SessionBehaviour["decide"] = (state, command, now) => {
      const before = structuredClone(state);
      const decision = behaviour.decide(state, command, now);
      for (const event of decision.events) spoil(state, event, before);
      return decision;
    };
    return { behaviour: { ...behaviour, apply, decide } };
  };
}

function loading(bend: (loaded: Loaded) => Loaded) {
  return ({ journal }: ActorOptions): Partial<ActorOptions> => ({
    journal: instead(journal, {
      async activate(id) {
        const loaded = await journal.activate(id);
        return loaded === undefined ? undefined : bend(loaded);
      },
    }),
  });
}

function appending(
  append: (journal: SessionJournal, batch: Batch, now: number) => Promise<Appended>,
) {
  return ({ journal, runtime }: ActorOptions): Partial<ActorOptions> => ({
    journal: instead(journal, {
      append: (batch) => append(journal, batch, runtime.now()),
    }),
  });
}

/** The journal, but for what is broken. */
function instead(journal: SessionJournal, broken: Partial<SessionJournal>): SessionJournal {
  return {
    activate: (id) => journal.activate(id),
    load: (id, from) => journal.load(id, from),
    append: (batch) => journal.append(batch),
    ...broken,
  };
}

/**
 * As it was once: a second reading takes its number when it is built, where the one before it may
 * not have shown in the state yet; and the rows that it replaces go by their ids. Readings of one
 * number that say the same then take each other's words away.
 */
function numberedWhenBuilt({
  behaviour = sessionBehaviour,
  journal,
}: ActorOptions): Partial<ActorOptions> {
  const before = new WeakMap<SessionState, number>();
  const decide: SessionBehaviour["decide"] = (state, command, now) => {
    if (command.type !== "Reread" || command.whole) return behaviour.decide(state, command, now);
    const { attempts } = state;
    state.attempts = before.get(state) ?? attempts;
    before.set(state, attempts);
    return behaviour.decide(state, command, now);
  };
  const append: SessionJournal["append"] = (batch) =>
    journal.append({ ...batch, events: batch.events.map(removingById) });
  return { behaviour: { ...behaviour, decide }, journal: instead(journal, { append }) };
}

function removingById(record: Batch["events"][number]): Batch["events"][number] {
  const { event } = record;
  if (event.type !== "TranscriptReplaced") return record;
  const gone = new Set(event.removed.map(({ segmentId }) => segmentId));
  const added = event.added.filter(({ segmentId }) => !gone.has(segmentId));
  return { ...record, event: { ...event, added } };
}

/** What streams stand on, but for what is broken. */
function insteadOfStreams(
  streams: StreamRecord["streams"],
  broken: Partial<StreamRecord["streams"]>,
): Pick<StreamRecord, "streams"> {
  return {
    streams: {
      take: (...args) => streams.take(...args),
      begin: (...args) => streams.begin(...args),
      append: (...args) => streams.append(...args),
      ...broken,
    },
  };
}

/** Bugs that a simulation worth its name finds; each was one once, somewhere. */
export const MUTANTS: readonly Mutant[] = [
  {
    name: "a gap before the first chunk has no length",
    shownBy: 13,
    bend: applying((state, event, before) => {
      if (event.type !== "GapDeclared" || before.timeline.nominal > 0) return;
      for (const gap of state.timeline.gaps) if (gap.sequence === event.sequence) gap.length = 0;
      state.timeline.position = event.start;
    }),
  },
  {
    name: "a fenced activation revives",
    shownBy: 147,
    bend: ({ journal }, { actors }: Bent) => ({
      journal: instead(journal, {
        async append(batch) {
          const { owner } = actors();
          // It does not count its lease, and asks nobody whose the session is.
          owner.hasRight = () => true;
          owner.dispute = async () => true;
          return journal.append(batch);
        },
      }),
    }),
  },
  {
    name: "two deliveries are decided twice",
    shownBy: 11,
    bend: ({ behaviour = sessionBehaviour }) => ({
      behaviour: {
        ...behaviour,
        isRepeatable: () => true,
        decide: (state, command, now) => {
          delete state.concerns;
          return behaviour.decide(state, command, now);
        },
      },
    }),
  },
  {
    name: "one failed load stops the rest",
    shownBy: 33,
    bend: ({ journal, runtime }) => {
      let failedAt = Number.NEGATIVE_INFINITY;
      return {
        journal: instead(journal, {
          async activate(id) {
            if (runtime.monotonic() - failedAt < 900_000) {
              throw new AppError("unavailable", "Another session could not be loaded.");
            }
            try {
              return await journal.activate(id);
            } catch (error) {
              if (isAppError(error, "internal")) failedAt = runtime.monotonic();
              throw error;
            }
          },
        }),
      };
    },
  },
  {
    name: "a redo is forgotten by a new owner",
    shownBy: 472,
    bend: ({ backlog }, { world }) => ({
      backlog: {
        openWork: async (places) => {
          const found = await backlog.openWork(places);
          const sessions = await world.record.rows("sessions");
          const over = new Set(
            sessions.filter(({ status }) => status === "completed").map(({ id }) => id),
          );
          return found.filter(({ sessionId }) => !over.has(sessionId));
        },
        ended: (active) => backlog.ended(active),
        waiting: () => backlog.waiting(),
        queues: (places) => backlog.queues(places),
        commandsTo: (id) => backlog.commandsTo(id),
        failed: (failure) => backlog.failed(failure),
      },
    }),
  },
  {
    name: "a second reading takes its number when it is built",
    shownBy: 10,
    bend: numberedWhenBuilt,
  },
  {
    name: "a late chunk that is only run up to counts as read",
    shownBy: 57,
    bend: deciding((state, command) => {
      if (command.type !== "Reread" || command.whole) return command;
      const late = state.timeline.gaps.flatMap(({ sequence, chunkId }) =>
        chunkId === undefined ? [] : [sequence],
      );
      return { ...command, sequences: late };
    }),
  },
  {
    name: "an edit is dropped by a re-reading",
    shownBy: 324,
    bend: deciding((state, command) => {
      if (command.type !== "Reread" || command.whole) return command;
      for (const mark of state.segments) delete mark.revision;
      // Nor does it keep what it only says again.
      const { agreed = [] } = command;
      const from = Math.min(command.from, ...agreed.map(({ start }) => start));
      return { ...command, from, segments: [...agreed, ...command.segments], agreed: [] };
    }),
  },
  {
    name: "answers before the append",
    shownBy: 1,
    bend: appending(async (journal, batch, now) => {
      journal.append(structuredClone(batch)).catch(() => {});
      return { now };
    }),
  },
  {
    name: "a failed append counts as done",
    shownBy: 35,
    bend: appending((journal, batch, now) => journal.append(batch).catch(() => ({ now }))),
  },
  {
    name: "the snapshot is one event behind what it says",
    shownBy: 91,
    bend: loading((loaded) =>
      loaded.snapshot === undefined ? loaded : { ...loaded, events: loaded.events.slice(1) },
    ),
  },
  {
    name: "words are not written with their events",
    shownBy: 2,
    bend: appending((journal, batch) =>
      journal.append({ ...batch, writes: batch.writes.slice(1) }),
    ),
  },
  {
    name: "wishes are forgotten when a host takes over",
    shownBy: 66,
    bend: loading((loaded) => ({ ...loaded, outcomes: [] })),
  },
  {
    name: "finished commands stay in the outbox",
    shownBy: 1,
    bend: appending((journal, batch) => journal.append({ ...batch, commandIds: [] })),
  },
  {
    name: "a redaction is forgotten once its segments are empty",
    shownBy: 36,
    bend: applying((state, event) => {
      if (event.type === "SpanRedacted") state.redactions = [];
    }),
  },
  {
    name: "the end forgets chunks that wait for an earlier one",
    shownBy: 10,
    bend: deciding((state, command) => {
      if (command.type === "Stop") state.timeline.waiting = [];
      return command;
    }),
  },
  {
    name: "streamed audio is acknowledged before it is stored",
    shownBy: 15,
    bendStreams: ({ streams }) =>
      insteadOfStreams(streams, {
        append: async (hold, fragment) => {
          streams.append(hold, fragment).catch(() => {});
        },
      }),
  },
  {
    name: "a streamed chunk is assembled without its last fragment",
    shownBy: 2,
    bendStreams: ({ openChunks }) => ({
      openChunks: {
        read: async (chunk) => {
          const audio = await openChunks.read(chunk);
          return audio && { ...audio, fragments: Math.max(1, audio.fragments - 1) };
        },
        complete: async (chunk, fragments) =>
          (await openChunks.complete(chunk, fragments + 1)) ??
          openChunks.complete(chunk, fragments),
        of: (id) => openChunks.of(id),
        abandoned: (...args) => openChunks.abandoned(...args),
      },
    }),
  },
];
