import { ApiError } from "../../../../client/errors.ts";
import { call } from "../../../api/client.ts";
import type { Change } from "./edit-history.ts";

/** What of the open session a change of its voices needs. */
interface VoicesOfSession {
  readonly id: string;
  workspaceId(): string;
  nameOf(label: string): string;
  /** Id of whoever is signed in. */
  me(): string;
}

/** Keeps what was carried out, and tells it with a way back. */
type Keep = (change: Change, said: string) => void;

type Outcome = Awaited<ReturnType<Change["revert"]>>;

const THEIRS = "The speaker has been changed since by somebody else, and stays.";
const UNDONE: Outcome = { said: "Undone.", isDone: true };
const AGAIN: Outcome = { said: "Done again.", isDone: true };
const STAYS: Outcome = { said: THEIRS, isDone: false };

/** What people do with voices; each has a way back, unless somebody else has changed it since. */
export class VoiceEditing {
  readonly #session: VoicesOfSession;
  readonly #keep: Keep;

  constructor(session: VoicesOfSession, keep: Keep) {
    this.#session = session;
    this.#keep = keep;
  }

  /** Gives a voice a free name, or takes it away with "". */
  async name(label: string, name: string): Promise<void> {
    const before = (await this.#read(label))?.free_name ?? "";
    if (before === name) return;
    await this.#storeName(label, name);
    const swap = async (now: string, then: string, done: Outcome): Promise<Outcome> => {
      if (((await this.#read(label))?.free_name ?? "") !== now) return STAYS;
      await this.#storeName(label, then);
      return done;
    };
    const revert: Change["revert"] = (way) =>
      way === "undo" ? swap(name, before, UNDONE) : swap(before, name, AGAIN);
    this.#keep(
      { revert },
      name === "" ? "The name is taken away." : `The voice is called ${name}.`,
    );
  }

  /** Says whose the voice is; without a claim it is nobody's any more. `said` tells it. */
  async claim(label: string, claim: Claim | undefined, said: string): Promise<void> {
    const { claimed_user_id: held, source = "self_claim" } = (await this.#read(label)) ?? {};
    const before = held === undefined ? undefined : { userId: held, source };
    await this.#storeClaim(label, claim);
    const swap = async (now: Claim | undefined, then: Claim | undefined, done: Outcome) => {
      if ((await this.#read(label))?.claimed_user_id !== now?.userId) return STAYS;
      await this.#storeClaim(label, then);
      return done;
    };
    const revert: Change["revert"] = (way) =>
      way === "undo" ? swap(claim, before, UNDONE) : swap(before, claim, AGAIN);
    this.#keep({ revert }, said);
  }

  /** Says that two labels are one voice. */
  async merge(one: string, other: string): Promise<void> {
    const names = [this.#session.nameOf(one), this.#session.nameOf(other)];
    const { from, into } = await this.#merge(one, other);
    const revert: Change["revert"] = (way) => {
      if (way === "redo") return orTheirs(() => this.#merge(from, into), AGAIN);
      return orTheirs(() => this.#setApart(from, into), UNDONE);
    };
    this.#keep({ revert }, `${names.join(" and ")} are one voice now.`);
  }

  /** Takes a merge back. */
  async setApart(from: string, into: string): Promise<void> {
    const { segments } = await this.#setApart(from, into);
    const revert: Change["revert"] = (way) => {
      if (way === "undo") return orTheirs(() => this.#merge(from, into), UNDONE);
      return orTheirs(() => this.#setApart(from, into), AGAIN);
    };
    const lines = segments === 1 ? "1 line" : `${segments} lines`;
    this.#keep(
      { revert },
      `${this.#session.nameOf(from)} is a voice of its own again, with ${lines}.`,
    );
  }

  /** Gives lines of a voice to another one; without `into` to a new one. */
  async give(lineIds: readonly string[], from: string, into?: string): Promise<void> {
    const { label, skipped } = await this.#reassign(lineIds, from, into);
    const moved = lineIds.filter((id) => !skipped.includes(id));
    const back = async (now: string, then: string, done: Outcome): Promise<Outcome> => {
      const { skipped: kept } = await this.#reassign(moved, now, then);
      return kept.length === 0 ? done : { ...done, said: `${done.said} ${linesStay(kept.length)}` };
    };
    const revert: Change["revert"] = (way) => {
      if (way === "undo") return refusedAsTheirs(() => back(label, from, UNDONE));
      return refusedAsTheirs(() => back(from, label, AGAIN));
    };
    const lines = moved.length === 1 ? "The line is" : `${moved.length} lines are`;
    const rest = skipped.length === 0 ? "" : ` ${linesStay(skipped.length)}`;
    this.#keep({ revert }, `${lines} of ${this.#session.nameOf(label)} now.${rest}`);
  }

  /** Has one's own voice remembered in the session's workspace; the person has agreed to it. */
  async remember(label: string): Promise<void> {
    const workspaceId = this.#session.workspaceId();
    const body = {
      workspace_id: workspaceId,
      session_id: this.#session.id,
      label,
      consent: true,
    };
    const put = () => call((api) => api.PUT("/users/me/voice", { body }));
    const query = { workspace_id: workspaceId };
    const forget = () => call((api) => api.DELETE("/users/me/voice", { params: { query } }));
    await put();
    const revert: Change["revert"] = async (way) => {
      await (way === "undo" ? forget() : put());
      return way === "undo" ? { said: "Your voice is forgotten.", isDone: true } : AGAIN;
    };
    this.#keep({ revert }, "Your voice is remembered in this workspace.");
  }

  async #read(label: string) {
    const params = { path: { session_id: this.#session.id } };
    const { items } = await call((api) => api.GET("/sessions/{session_id}/speakers", { params }));
    return items.find(({ speaker_label: each }) => each === label);
  }

  #storeName(label: string, name: string): Promise<unknown> {
    const params = { path: { session_id: this.#session.id, label } };
    const body = { display_name: name === "" ? null : name };
    return call((api) => api.PATCH("/sessions/{session_id}/speakers/{label}", { params, body }));
  }

  #storeClaim(label: string, claim: Claim | undefined): Promise<unknown> {
    const path = { session_id: this.#session.id };
    if (claim === undefined) {
      const params = { path: { ...path, label } };
      return call((api) => api.DELETE("/sessions/{session_id}/speaker-claims/{label}", { params }));
    }
    // Only they themselves could claim it again for somebody else.
    const isOwn = claim.source === "self_claim" && claim.userId === this.#session.me();
    const body = isOwn
      ? ({ speaker_label: label, source: "self_claim" } as const)
      : ({
          speaker_label: label,
          source: "moderator_assignment",
          assigned_user_id: claim.userId,
        } as { speaker_label: string; source: "moderator_assignment" });
    return call((api) =>
      api.POST("/sessions/{session_id}/speaker-claims", { params: { path }, body }),
    );
  }

  #merge(from: string, into: string) {
    const params = { path: { session_id: this.#session.id } };
    const body = { from, into };
    return call((api) => api.POST("/sessions/{session_id}/speakers/merge", { params, body }));
  }

  #setApart(from: string, into: string) {
    const params = { path: { session_id: this.#session.id } };
    const body = { from, into };
    return call((api) => api.POST("/sessions/{session_id}/speakers/unmerge", { params, body }));
  }

  #reassign(lineIds: readonly string[], from: string, into?: string) {
    const params = { path: { session_id: this.#session.id } };
    const body = { from, segment_ids: [...lineIds], ...(into !== undefined && { into }) };
    return call((api) => api.POST("/sessions/{session_id}/speakers/reassign", { params, body }));
  }
}

/** Whose a voice is, and who said so. */
interface Claim {
  readonly userId: string;
  readonly source: "self_claim" | "moderator_assignment";
}

function linesStay(count: number): string {
  const lines = count === 1 ? "1 line was" : `${count} lines were`;
  return `${lines} changed meanwhile by somebody else, and stay${count === 1 ? "s" : ""}.`;
}

function orTheirs(work: () => Promise<unknown>, done: Outcome): Promise<Outcome> {
  return refusedAsTheirs(async () => {
    await work();
    return done;
  });
}

/** The service refuses what somebody else has changed since. */
async function refusedAsTheirs(work: () => Promise<Outcome>): Promise<Outcome> {
  try {
    return await work();
  } catch (error) {
    if (error instanceof ApiError && error.status === 409) return STAYS;
    throw error;
  }
}
