import type { Behaviour, Companion } from "../../src/actor/behaviour.ts";
import type { Batch, Journal } from "../../src/actor/journal.ts";
import type { SessionCommand } from "../../src/session/command.ts";
import type { SessionEvent } from "../../src/session/event.ts";
import type { SessionState } from "../../src/session/state.ts";
import type { SessionWrite } from "../../src/session/write.ts";

export type SessionBehaviour = Behaviour<SessionState, SessionEvent, SessionWrite, SessionCommand>;
export type SessionBatch = Batch<SessionState, SessionEvent, SessionWrite>;
export type SessionJournalPort = Journal<SessionState, SessionEvent, SessionWrite>;
export type SessionEffects = Companion<SessionState, SessionEvent, SessionWrite>;

/** A bug that is planted where parts meet; each member replaces a part by a broken one. */
export interface Mutation {
  name: string;
  behaviour?(behaviour: SessionBehaviour): SessionBehaviour;
  /** What activations take for the journal. */
  journal?(journal: SessionJournalPort): SessionJournalPort;
  /** The record itself; `length` is its number of events, `epoch` the newest one it gave out. */
  record?(
    record: SessionJournalPort,
    truth: { length(): number; epoch(): number },
  ): SessionJournalPort;
  effects?(effects: SessionEffects): SessionEffects;
}
