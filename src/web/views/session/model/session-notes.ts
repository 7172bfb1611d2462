import { computed, signal } from "@preact/signals";
import { ApiError } from "../../../../client/errors.ts";
import { call, isPassing, messageOf } from "../../../api/client.ts";
import type { ActionItem, NoteSection, Summary, SummaryPage } from "../../../api/records.ts";
import { attempt, showToast } from "../../../parts/toasts.tsx";
import { type Change, ChangedSince } from "./edit-history.ts";
import { kindOf } from "./note-words.ts";

type NoteKind = Summary["summary_type"];

/** What people note at an action item. */
export interface ItemChange {
  readonly done?: boolean;
  readonly owner?: string;
  readonly due?: string;
}

type NotedItem = Summary["items"][number];

/** Pauses between polls of what is being made; then it is looked at no more but for news. */
const POLLS_MS = [1_000, 2_000, 3_000, 5_000, 10_000, 20_000, 30_000, 60_000];
const THEIRS = "The action item has been changed since by somebody else, and stays.";

interface NotedSession {
  readonly id: string;
  /** Keeps what was carried out, and tells it with a way back. */
  keep(change: Change, said: string): void;
}

/**
 * The notes of one session: asked for when somebody looks at them, and again whenever there are
 * others. A change of an action item shows at once, and is taken back when the service refuses it.
 */
export class SessionNotes {
  /** Undefined until they are there. */
  readonly page = signal<SummaryPage | undefined>(undefined);
  /** Why they could not be brought, while there are none to show. */
  readonly failure = signal<unknown>(undefined);
  readonly list = computed(() => (this.page.value?.items ?? []).map((each) => this.#withNew(each)));
  /** The headings under which they are shown, in order. */
  readonly sections = computed<readonly NoteSection[]>(
    () => this.page.value?.template.sections ?? [],
  );
  /** What these are made of. */
  readonly kinds = computed(() => [...new Set(this.sections.value.map(kindOf))]);
  readonly #session: NotedSession;
  readonly #changing = signal<ReadonlyMap<string, ItemChange>>(new Map());
  #isWanted = false;
  #loading: Promise<void> | undefined;
  #mustLoad = false;
  #polls = 0;
  #timer: ReturnType<typeof setTimeout> | undefined;
  #isClosed = false;
  /** Changes go one after the other, so that two of one item do not meet. */
  #work: Promise<unknown> = Promise.resolve();

  constructor(session: NotedSession) {
    this.#session = session;
  }

  /** Somebody looks: from now on they are kept current. */
  open(): void {
    if (this.#isWanted) return;
    this.#isWanted = true;
    void this.load();
  }

  close(): void {
    this.#isClosed = true;
    clearTimeout(this.#timer);
  }

  /** The service tells that there are others, or soon will be. */
  news(): void {
    this.#polls = 0;
    if (this.#isWanted) void this.load();
  }

  /** Of its template those that are not there as they should be, and are not being made. */
  get wanted(): readonly NoteKind[] {
    return this.kinds.value.filter(
      (kind) => this.of(kind)?.stale !== false && this.progressOf(kind) === undefined,
    );
  }

  /** Another template was chosen: has made what it wants besides, where there are notes already. */
  async rearrange(): Promise<void> {
    await this.load();
    if (this.list.value.length > 0 && this.wanted.length > 0) await this.make(this.wanted);
  }

  /** The newest of a kind. */
  of(kind: NoteKind): Summary | undefined {
    return this.list.value.find(({ summary_type: type }) => type === kind);
  }

  /** How far a kind is that is being made, 0 to 1; undefined when none is. */
  progressOf(kind: NoteKind): number | undefined {
    return this.page.value?.pending.find(({ summary_type: type }) => type === kind)?.progress;
  }

  /** Resolves when they are as the service has them now, or could not be brought. */
  load(): Promise<void> {
    this.#mustLoad = true;
    this.#loading ??= this.#loadAll();
    return this.#loading;
  }

  async #loadAll(): Promise<void> {
    clearTimeout(this.#timer);
    const params = { path: { session_id: this.#session.id } };
    try {
      while (this.#mustLoad && !this.#isClosed) {
        this.#mustLoad = false;
        this.page.value = await call((api) =>
          api.GET("/sessions/{session_id}/summaries", { params }),
        );
        this.failure.value = undefined;
      }
    } catch (error) {
      if (this.page.value === undefined) this.failure.value = error;
    } finally {
      this.#loading = undefined;
    }
    this.#pollAgain();
  }

  /** Has these kinds made, or made again; says what went wrong. */
  async make(kinds: readonly NoteKind[]): Promise<void> {
    const params = { path: { session_id: this.#session.id } };
    await attempt(async () => {
      for (const kind of kinds) {
        const body = { summary_type: kind };
        await call((api) => api.POST("/sessions/{session_id}/summaries", { params, body }));
      }
    });
    this.news();
  }

  /** Changes an action item as it is shown, with a way back. Never rejects. */
  change(item: NotedItem, change: ItemChange, said: string): Promise<void> {
    const { id } = item;
    if (id === undefined) return Promise.resolve();
    const before = partOf(item, change);
    const shown = { ...this.#changing.value.get(id), ...change };
    this.#put(id, shown);
    return this.#inTurn(async () => {
      let failure: unknown;
      try {
        await this.#store(id, before, change);
      } catch (error) {
        failure = error;
      }
      await this.load();
      // Unless there is another change of it by now.
      if (this.#changing.value.get(id) === shown) this.#put(id, undefined);
      if (failure !== undefined) {
        this.#showFailure(failure, () => void this.#insist(item, change, said));
      } else {
        this.#session.keep({ revert: (way) => this.#revert(id, before, change, way) }, said);
      }
    });
  }

  /** Makes the same change of the item as it stands by now. */
  #insist(item: NotedItem, change: ItemChange, said: string): Promise<void> {
    const { items = [] } = this.of("action_items") ?? {};
    const now = items.find(({ id }) => id === item.id);
    return this.change(now ?? item, change, said);
  }

  #showFailure(error: unknown, insist: () => void): void {
    if (error instanceof ChangedSince) {
      showToast(
        "Somebody else has changed this action item meanwhile. It is shown as it stands now.",
        {
          label: "Change it all the same",
          run: insist,
        },
      );
    } else if (error instanceof ApiError && error.status === 404) {
      showToast("The notes were made again meanwhile, and have this action item no more.");
    } else showToast(`The action item was not changed. ${messageOf(error)}`);
  }

  async #revert(id: string, before: ItemChange, after: ItemChange, way: "undo" | "redo") {
    const [now, then] = way === "undo" ? [after, before] : [before, after];
    try {
      await this.#inTurn(() => this.#store(id, now, then));
    } catch (error) {
      const isGone = error instanceof ApiError && error.status === 404;
      if (!isGone && !(error instanceof ChangedSince)) throw error;
      await this.load();
      return { said: THEIRS, isDone: false };
    }
    await this.load();
    return { said: way === "undo" ? "Undone." : "Done again.", isDone: true };
  }

  /** Rejects with `ChangedSince` where the item is not as the person saw it any more. */
  async #store(id: string, seen: ItemChange, change: ItemChange): Promise<void> {
    const path = { session_id: this.#session.id, item_id: id };
    const { item, tag } = await readItem(path);
    if (isSame(partOf(item, change), change)) return;
    if (!isSame(partOf(item, seen), seen)) throw new ChangedSince();
    const params = { path, ...(tag === undefined ? {} : { header: { "If-Match": tag } }) };
    try {
      await call((api) =>
        api.PATCH("/sessions/{session_id}/action-items/{item_id}", { params, body: change }),
      );
    } catch (error) {
      if (error instanceof ApiError && error.status === 412) throw new ChangedSince();
      throw error;
    }
  }

  #inTurn<T>(work: () => Promise<T>): Promise<T> {
    const done = this.#work.then(work);
    this.#work = done.catch(() => undefined);
    return done;
  }

  #withNew(summary: Summary): Summary {
    const changing = this.#changing.value;
    if (summary.summary_type !== "action_items" || changing.size === 0) return summary;
    const items = summary.items.map((item) => ({ ...item, ...changing.get(item.id ?? "") }));
    return { ...summary, items };
  }

  #put(id: string, change: ItemChange | undefined): void {
    const others = [...this.#changing.value].filter(([each]) => each !== id);
    this.#changing.value = new Map(change === undefined ? others : [...others, [id, change]]);
  }

  /** News of what is ready may be late, or lost with the connection; a failed call is tried again. */
  #pollAgain(): void {
    const { pending = [] } = this.page.value ?? {};
    const isUnfinished = pending.length > 0 || isPassing(this.failure.value);
    const pause = POLLS_MS[this.#polls];
    if (!isUnfinished || pause === undefined || this.#isClosed) return;
    this.#polls += 1;
    this.#timer = setTimeout(() => void this.load(), pause);
  }
}

async function readItem(path: { session_id: string; item_id: string }) {
  let tag: string | undefined;
  const item: ActionItem = await call(async (api) => {
    const answer = await api.GET("/sessions/{session_id}/action-items/{item_id}", {
      params: { path },
    });
    tag = answer.response.headers.get("etag") ?? undefined;
    return answer;
  });
  return { item, tag };
}

/** Of the item what the change names. */
function partOf({ done, owner, due }: ItemChange, change: ItemChange): ItemChange {
  return {
    ...(change.done !== undefined && { done: done === true }),
    ...(change.owner !== undefined && { owner: owner ?? "" }),
    ...(change.due !== undefined && { due: due ?? "" }),
  };
}

function isSame(one: ItemChange, other: ItemChange): boolean {
  return one.done === other.done && one.owner === other.owner && one.due === other.due;
}
