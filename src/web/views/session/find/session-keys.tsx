import type { VNode } from "preact";
import { useLayoutEffect, useState } from "preact/hooks";
import { isTyping, type KeyList, KeysDialog } from "../../../parts/keys.tsx";
import type { SessionModel } from "../model/session-model.ts";
import "./find.css";

const STEP_SECONDS = 5;

const KEYS: KeyList = [
  [["Space"], "Play or pause"],
  [["←", "→"], `Back or forward by ${STEP_SECONDS} seconds`],
  [["j", "k"], "Next or previous line"],
  [["m"], "Mark this moment"],
  [["/", "Ctrl F"], "Find in this session"],
  [["Enter", "Shift Enter"], "Next or previous hit, while finding"],
  [["Ctrl Z", "Ctrl Shift Z"], "Undo or redo a correction"],
  [["Esc"], "Leave what is open"],
  [["?"], "These keys"],
];

/** The keys of an open session, which do nothing while somebody types; `?` lists them. */
export function SessionKeys({ model }: { model: SessionModel }): VNode | null {
  const [isListed, setListed] = useState(false);
  // Before the view is painted: a key that is pressed as soon as it is seen must act.
  useLayoutEffect(() => {
    const stop = new AbortController();
    const press = (event: KeyboardEvent) => {
      if (isTyping(event) || event.altKey) return;
      const isDone = event.key === "?" ? showList() : act(model, event);
      if (isDone) event.preventDefault();
    };
    const showList = (): boolean => {
      setListed(true);
      return true;
    };
    addEventListener("keydown", press, { signal: stop.signal });
    return () => stop.abort();
  }, [model]);
  if (!isListed) return null;
  return <KeysDialog keys={KEYS} onClose={() => setListed(false)} />;
}

/** True when the key did something. */
function act(model: SessionModel, event: KeyboardEvent): boolean {
  const { key } = event;
  const { player, search } = model;
  if (event.ctrlKey || event.metaKey) return command(model, event);
  if (key === "/") search.open();
  else if (key === "Escape" && search.isOpen.value) search.close();
  else if (key === "j") model.stepLine(1);
  else if (key === "k") model.stepLine(-1);
  else if (key === "m" && model.mayMark) model.marks.add(model.momentMs);
  else if (player.state.value !== "ready") return false;
  else if (key === " ") player.toggle();
  else if (key === "ArrowLeft") player.seek(player.time.value - STEP_SECONDS);
  else if (key === "ArrowRight") player.seek(player.time.value + STEP_SECONDS);
  else return false;
  return true;
}

function command({ search, editing }: SessionModel, { key, shiftKey }: KeyboardEvent): boolean {
  const name = key.toLowerCase();
  // The browser finds only the lines that are in sight. Pressed in the field, it is the browser's.
  if (name === "f") search.open();
  else if (name === "z" && shiftKey) void editing.redo();
  else if (name === "z") void editing.undo();
  else return false;
  return true;
}
