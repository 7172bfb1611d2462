import { signal } from "@preact/signals";
import { call, messageOf } from "../../../api/client.ts";
import { tell } from "../../../parts/toasts.tsx";
import { EditHistory, type LineState } from "./edit-history.ts";
import type { Line } from "./transcript-state.ts";

/** What of the open session an edit needs. */
interface EditedSession {
  readonly id: string;
  lines(): readonly Line[];
  /** Brings a line into sight. */
  show(line: Line): void;
}

/** The line that is being corrected, and what was changed so far. */
export class LineEditing {
  /** Id of the line whose words are in the editor. */
  readonly lineId = signal<string | undefined>(undefined);
  readonly history: EditHistory;
  readonly #session: EditedSession;

  constructor(session: EditedSession) {
    this.#session = session;
    this.history = new EditHistory({
      find: (lineId) => this.#find(lineId),
      store: async (lineId, change) => {
        await this.#patch(lineId, change);
      },
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

  /** Says what became of it, or why it failed. */
  async undo(): Promise<void> {
    const said = await this.history.undo().catch(messageOf);
    if (said !== "") tell(said);
  }

  /** The same for what was undone. */
  async redo(): Promise<void> {
    const said = await this.history.redo().catch(messageOf);
    if (said !== "") tell(said);
  }

  #find(lineId: string): LineState | undefined {
    return this.#session.lines().find(({ id, isFinal }) => id === lineId && isFinal);
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
