import { signal } from "@preact/signals";
import { account } from "../../../api/account.ts";
import { call, isPassing, messageOf } from "../../../api/client.ts";
import type { Mark } from "../../../api/records.ts";
import { attempt, showToast } from "../../../parts/toasts.tsx";

const PAGE = 100;
const RETRY_MS = 3_000;

/** A marked moment as it is shown. */
export interface ShownMark {
  /** Stays the same while it becomes a record of the service. */
  readonly key: string;
  /** Undefined until the service has it. */
  readonly id: string | undefined;
  readonly atMs: number;
  readonly text: string;
  readonly author: string;
  readonly isMine: boolean;
}

/**
 * The marks of one session. One that is made shows at once, and is sent until the service has it or
 * refuses it: the moment is that of the press, however long the network is away.
 */
export class SessionMarks {
  /** In the order of their moments. */
  readonly list = signal<readonly ShownMark[]>([]);
  /** The key of the one whose words are being written. */
  readonly open = signal<string | undefined>(undefined);
  readonly #sessionId: string;
  readonly #over = new AbortController();
  /** Those that are being sent. */
  readonly #busy = new Set<string>();
  #made = 0;

  constructor(sessionId: string) {
    this.#sessionId = sessionId;
  }

  /** Brings what everybody has marked; what is not stored yet stays. */
  async load(): Promise<void> {
    const found: ShownMark[] = [];
    let cursor: string | undefined;
    try {
      do {
        const query = { limit: PAGE, cursor };
        const params = { path: { session_id: this.#sessionId }, query };
        const page: { items: Mark[]; next_cursor: string | null } = await call((api) =>
          api.GET("/sessions/{session_id}/marks", { params }),
        );
        found.push(...page.items.map(shownOf));
        cursor = page.next_cursor ?? undefined;
      } while (cursor !== undefined);
    } catch {
      // Why the words are not shown says more; without the marks the session can be read.
      return;
    }
    const known = new Map(this.list.value.map((mark) => [mark.id, mark]));
    const unstored = this.list.value.filter(
      ({ key, id }) => id === undefined || this.#busy.has(key),
    );
    const kept = new Set(unstored.map(({ id }) => id));
    const stored = found
      .filter(({ id }) => !kept.has(id))
      .map((mark) => ({ ...mark, key: known.get(mark.id)?.key ?? mark.key }));
    this.#show([...stored, ...unstored]);
  }

  /** Marks the moment, and opens it for a few words. */
  add(atMs: number): void {
    this.#made += 1;
    const key = `new-${this.#made}`;
    const mark = { key, id: undefined, atMs: Math.max(0, Math.round(atMs)), text: "", author: "" };
    this.#show([...this.list.value, { ...mark, isMine: true }]);
    this.open.value = key;
    void this.#send(key);
  }

  write(key: string, text: string): void {
    if (this.open.value === key) this.open.value = undefined;
    const mark = this.#find(key);
    if (mark === undefined || mark.text === text.trim()) return;
    this.#replace({ ...mark, text: text.trim() });
    void this.#send(key);
  }

  async remove(key: string): Promise<void> {
    const id = this.#find(key)?.id;
    if (id === undefined) return;
    const params = { path: { session_id: this.#sessionId, mark_id: id } };
    await attempt(async () => {
      await call((api) => api.DELETE("/sessions/{session_id}/marks/{mark_id}", { params }));
      this.#show(this.list.value.filter((mark) => mark.key !== key));
    });
  }

  close(): void {
    this.#over.abort();
  }

  /** Until the service has it as it is shown. */
  async #send(key: string): Promise<void> {
    if (this.#busy.has(key)) return;
    this.#busy.add(key);
    const wish = crypto.getRandomValues(new Uint32Array(4)).join("-");
    let stored: string | undefined;
    for (let mark = this.#find(key); mark !== undefined; mark = this.#find(key)) {
      if (mark.id !== undefined && mark.text === stored) break;
      try {
        const { id, text } = await this.#store(mark, wish);
        stored = text;
        // What was written meanwhile is sent in the next round.
        const now = this.#find(key);
        if (now !== undefined) this.#replace({ ...now, id });
      } catch (error) {
        if (isPassing(error) && (await this.#pause())) continue;
        if (!this.#over.signal.aborted) this.#giveUp(mark, error);
        break;
      }
    }
    this.#busy.delete(key);
  }

  #giveUp({ key, id }: ShownMark, error: unknown): void {
    showToast(`The mark was not stored. ${messageOf(error)}`);
    if (id === undefined) this.#show(this.list.value.filter((each) => each.key !== key));
  }

  #store({ id, atMs, text }: ShownMark, wish: string): Promise<Mark> {
    const path = { session_id: this.#sessionId };
    if (id !== undefined) {
      const params = { path: { ...path, mark_id: id } };
      const body = { text };
      return call((api) => api.PATCH("/sessions/{session_id}/marks/{mark_id}", { params, body }));
    }
    // The same wish has the same body: words that came meanwhile follow as a change.
    const headers = { "idempotency-key": wish };
    const body = { at_ms: atMs };
    return call((api) =>
      api.POST("/sessions/{session_id}/marks", { params: { path }, headers, body }),
    );
  }

  /** False when it ended meanwhile. */
  #pause(): Promise<boolean> {
    const { signal: over } = this.#over;
    return new Promise((resolve) => {
      const timer = setTimeout(() => resolve(!over.aborted), RETRY_MS);
      over.addEventListener("abort", () => {
        clearTimeout(timer);
        resolve(false);
      });
    });
  }

  #find(key: string): ShownMark | undefined {
    return this.list.value.find((mark) => mark.key === key);
  }

  #replace(mark: ShownMark): void {
    this.#show(this.list.value.map((each) => (each.key === mark.key ? mark : each)));
  }

  #show(marks: readonly ShownMark[]): void {
    this.list.value = [...marks].sort((one, other) => one.atMs - other.atMs);
  }
}

function shownOf({ id, at_ms, text, author }: Mark): ShownMark {
  const isMine = author.id === account.value?.id;
  return { key: id, id, atMs: at_ms, text, author: author.display_name ?? "", isMine };
}
