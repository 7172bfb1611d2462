import { describe, expect, it } from "vitest";
import {
  ChangedSince,
  differenceOf,
  EditHistory,
  isSame,
  type LineState,
} from "../../../src/web/views/session/model/edit-history.ts";

const FIRST = { text: "hello", speaker: "S1" };

/** Lines as the service has them. */
function session() {
  const lines = new Map<string, LineState>([
    ["a", FIRST],
    ["b", { text: "good night", speaker: "S2" }],
  ]);
  const stored: [string, Partial<LineState>][] = [];
  let failure: Error | undefined;
  const history = new EditHistory({
    store: async (id, now, then) => {
      if (failure !== undefined) throw failure;
      const line = lines.get(id);
      if (line !== undefined && isSame(line, then)) return;
      if (line === undefined || !isSame(line, now)) throw new ChangedSince();
      stored.push([id, differenceOf(now, then)]);
      lines.set(id, then);
    },
  });
  /** A person's edit. */
  const edit = (id: string, change: Partial<LineState>) => {
    const before = lines.get(id) as LineState;
    const after = { ...before, ...change };
    lines.set(id, after);
    history.add({ lineId: id, before, after });
  };
  const fail = (error: Error | undefined) => {
    failure = error;
  };
  return { lines, stored, history, edit, fail };
}

describe("the history of edits", () => {
  it("undoes and redoes words and speakers, the newest first", async () => {
    const { lines, stored, history, edit } = session();
    edit("a", { text: "Hello." });
    edit("b", { speaker: "S1" });
    expect(await history.undo()).toBe("Undone.");
    expect(await history.undo()).toBe("Undone.");
    expect(await history.undo()).toBe("");
    expect(lines.get("a")).toEqual(FIRST);
    expect(stored).toEqual([
      ["b", { speaker: "S2" }],
      ["a", { text: "hello" }],
    ]);
    expect(await history.redo()).toBe("Done again.");
    expect(lines.get("a")?.text).toBe("Hello.");
    expect([history.canUndo.value, history.canRedo.value]).toEqual([true, true]);
  });

  it("undoes as often as it is asked to, however fast", async () => {
    const { lines, history, edit } = session();
    edit("a", { text: "Hello." });
    edit("a", { text: "Hello!" });
    await Promise.all([history.undo(), history.undo()]);
    expect(lines.get("a")).toEqual(FIRST);
  });

  it("forgets what was undone once something else is changed", async () => {
    const { history, edit } = session();
    edit("a", { text: "Hello." });
    await history.undo();
    edit("a", { text: "Hi." });
    expect(history.canRedo.value).toBe(false);
    expect(await history.redo()).toBe("");
  });

  it("leaves what somebody else has changed since, or taken away", async () => {
    const { lines, stored, history, edit } = session();
    edit("a", { text: "Hello." });
    edit("b", { text: "Good night." });
    lines.delete("b");
    lines.set("a", { ...FIRST, text: "theirs" });
    expect(await history.undo()).toMatch(/stays/);
    expect(await history.undo()).toMatch(/stays/);
    expect(lines.get("a")?.text).toBe("theirs");
    expect([stored, history.canUndo.value, history.canRedo.value]).toEqual([[], false, false]);
  });

  it("keeps a change whose undoing failed", async () => {
    const { history, edit, fail } = session();
    edit("a", { text: "Hello." });
    fail(new Error("away"));
    await expect(history.undo()).rejects.toThrow("away");
    fail(undefined);
    expect(await history.undo()).toBe("Undone.");
  });

  it("keeps no change that changed nothing", async () => {
    const { history, edit } = session();
    edit("a", { text: "hello" });
    expect(history.canUndo.value).toBe(false);
  });
});
