import { signal } from "@preact/signals";
import { ApiError } from "../../../../client/errors.ts";
import { call, messageOf } from "../../../api/client.ts";
import { showToast } from "../../../parts/toasts.tsx";
import { type Correction, correct, correctionOf } from "./corrections.ts";
import {
  type Change,
  ChangedSince,
  differenceOf,
  EditHistory,
  isSame,
  type LineChange,
  type LineState,
} from "./edit-history.ts";
import type { Line } from "./transcript-state.ts";

/** What of the open session an edit needs. */
interface EditedSession {
  readonly id: string;
  lines(): readonly Line[];
  /** The line's text as it is shown. */
  textOf(line: Line): string;
  /** Brings a line into sight. */
  show(line: Line): void;
}

/** A correction that would change other lines, too. */
interface Offer {
  readonly correction: Correction;
  readonly lineIds: readonly string[];
}

/** Of toasts: only what became of the newest change is of use. */
const HISTORY = "history";
/** Pauses before a line is tried again that the service was asked about too fast, in all half a minute. */
const TOO_FAST_MS = [1_000, 2_000, 4_000, 8_000, 15_000];

/** The line that is being corrected, and what was changed so far. */
export class LineEditing {
  /** Id of the line whose words are in the editor. */
  readonly lineId = signal<string | undefined>(undefined);
  /** Id of the line whose changes are listed. */
  readonly listedId = signal<string | undefined>(undefined);
  /** What was put right in one line and stands wrong in others. */
  readonly offer = signal<Offer | undefined>(undefined);
  readonly history: EditHistory;
  readonly #session: EditedSession;

  constructor(session: EditedSession) {
    this.#session = session;
    this.history = new EditHistory({
      store: (lineId, now, then) => this.#restore(lineId, now, then),
    });
  }

  open(line: Line): void {
    this.lineId.value = line.id;
    this.#session.show(line);
  }

  close(): void {
    this.lineId.value = undefined;
  }

  /** Opens the editor of the line after this one, or before it; closes it where there is none. */
  move(lineId: string, by: 1 | -1): void {
    const lines = this.#session.lines().filter(({ isFinal }) => isFinal);
    const next = lines[lines.findIndex(({ id }) => id === lineId) + by];
    if (next === undefined) this.close();
    else this.open(next);
  }

  /**
   * Stores a line's words or speaker. Rejects with status 412 when it has changed since `tag` was
   * read.
   *
   * @param tag ETag of the line that the person saw; undefined: whatever it is now
   */
  async change(line: Line, change: Partial<LineState>, tag?: string): Promise<void> {
    const before = { text: line.text, speaker: line.speaker };
    const after = await this.#patch(line.id, change, tag);
    this.history.add({ lineId: line.id, before, after });
  }

  /**
   * Stores a line's words, and offers what was put right for the other lines where it stands. Rejects
   * like `change`.
   *
   * @param shown the words as they were shown before
   */
  async correct(line: Line, shown: string, text: string, tag?: string): Promise<void> {
    await this.change(line, { text }, tag);
    const correction = correctionOf(shown, text);
    this.offer.value = undefined;
    if (correction === undefined) return;
    const lineIds = this.#session
      .lines()
      .filter((other) => other.isFinal && other.id !== line.id)
      .filter(
        (other) => correct(this.#session.textOf(other), correction) !== this.#session.textOf(other),
      )
      .map(({ id }) => id);
    if (lineIds.length > 0) this.offer.value = { correction, lineIds };
  }

  /**
   * Puts the same right in all lines of the offer, each as an edit of its own and all of them with one
   * undo. Lines that somebody else changes meanwhile stay, and are told. Never rejects.
   *
   * @param onStep called with how many lines are through
   */
  async correctEverywhere(offer: Offer, onStep: (done: number) => void): Promise<void> {
    const changes: LineChange[] = [];
    let said = "";
    try {
      for (const [n, lineId] of offer.lineIds.entries()) {
        const change = await this.#correctOne(lineId, offer.correction);
        if (change !== undefined) changes.push(change);
        onStep(n + 1);
      }
    } catch (error) {
      said = ` ${messageOf(error)}`;
    }
    if (this.offer.value === offer) this.offer.value = undefined;
    this.history.addAll(changes);
    const { newest } = this.history;
    const stay = said === "" ? offer.lineIds.length - changes.length : 0;
    if (stay === 1) said = " 1 line was changed by somebody else meanwhile, and stays.";
    else if (stay > 0) said = ` ${stay} were changed by somebody else meanwhile, and stay.`;
    const done = `Corrected in ${linesOf(changes.length)}.${said}`;
    if (newest === undefined || changes.length === 0) return showToast(done);
    showToast(done, { label: "Undo", run: () => void this.undoThis(newest) });
  }

  /** Undefined when the line is another one by now, or the spelling does not stand in it any more. */
  async #correctOne(lineId: string, correction: Correction): Promise<LineChange | undefined> {
    for (const pause of [...TOO_FAST_MS, undefined]) {
      try {
        return await this.#tryCorrect(lineId, correction);
      } catch (error) {
        if (!(error instanceof ApiError)) throw error;
        if (error.status === 404 || error.status === 409 || error.status === 412) return undefined;
        if (error.status !== 429 || pause === undefined) throw error;
        await new Promise((resolve) => setTimeout(resolve, pause));
      }
    }
    return undefined;
  }

  async #tryCorrect(lineId: string, correction: Correction): Promise<LineChange | undefined> {
    const line = this.#session.lines().find(({ id, isFinal }) => id === lineId && isFinal);
    if (line === undefined) return undefined;
    const { segment, tag } = await readLine(this.#session.id, lineId);
    const shown = this.#session.textOf(line);
    const text = correct(shown, correction);
    // Its words are not those that were looked through.
    if (segment.text !== line.text || text === shown) return undefined;
    const before = { text: line.text, speaker: line.speaker };
    return { lineId, before, after: await this.#patch(lineId, { text }, tag) };
  }

  /** Keeps something else that was carried out, and tells it with a button that takes it back. */
  keep(change: Change, said: string): void {
    this.history.push(change);
    showToast(said, { label: "Undo", run: () => void this.undoThis(change) }, HISTORY);
  }

  /** Takes this change back, if no other has come since; says what became of it. */
  async undoThis(change: Change): Promise<void> {
    showToast(await this.history.undoThis(change).catch(messageOf), undefined, HISTORY);
  }

  /** Says what became of it, or why it failed. */
  async undo(): Promise<void> {
    const said = await this.history.undo().catch(messageOf);
    if (said !== "") showToast(said, undefined, HISTORY);
  }

  /** The same for what was undone. */
  async redo(): Promise<void> {
    const said = await this.history.redo().catch(messageOf);
    if (said !== "") showToast(said, undefined, HISTORY);
  }

  async #restore(lineId: string, now: LineState, then: LineState): Promise<void> {
    try {
      const { segment, tag } = await readLine(this.#session.id, lineId);
      const line = { text: segment.text, speaker: segment.speaker_label ?? "UU" };
      if (isSame(line, then)) return;
      if (!isSame(line, now)) throw new ChangedSince();
      await this.#patch(lineId, differenceOf(now, then), tag);
    } catch (error) {
      const isOther = error instanceof ApiError && (error.status === 412 || error.status === 404);
      throw isOther ? new ChangedSince() : error;
    }
  }

  async #patch(lineId: string, change: Partial<LineState>, tag?: string): Promise<LineState> {
    const path = { session_id: this.#session.id, segment_id: lineId };
    const params = { path, ...(tag === undefined ? {} : { header: { "If-Match": tag } }) };
    const { text, speaker_label: speaker = "UU" } = await call((api) =>
      api.PATCH("/sessions/{session_id}/segments/{segment_id}", { params, body: change }),
    );
    return { text, speaker };
  }
}

function linesOf(count: number): string {
  return count === 1 ? "1 line" : `${count} lines`;
}

/** A line as the service has it now, and its ETag for a change of it. */
export async function readLine(sessionId: string, lineId: string) {
  let tag: string | undefined;
  const params = { path: { session_id: sessionId, segment_id: lineId } };
  const segment = await call(async (api) => {
    const answer = await api.GET("/sessions/{session_id}/segments/{segment_id}", { params });
    tag = answer.response.headers.get("etag") ?? undefined;
    return answer;
  });
  return { segment, tag };
}
