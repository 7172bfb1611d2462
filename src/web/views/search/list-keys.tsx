import type { VNode } from "preact";
import { useLayoutEffect, useState } from "preact/hooks";
import { isTyping, type KeyList, KeysDialog } from "../../parts/keys.tsx";

const KEYS: KeyList = [
  [["/"], "Search"],
  [["j", "k"], "Next or previous one of the list"],
  [["Enter"], "Open it"],
  [["?"], "These keys"],
];
/** What one goes through: rows of sessions and hits of words, in their order on the page. */
const ROWS = "main .session-row, main .hit";

/** The keys of a list with a search, which do nothing while somebody types; `?` lists them. */
export function ListKeys(): VNode | null {
  const [isListed, setListed] = useState(false);
  // Before the view is painted: a key that is pressed as soon as it is seen must act.
  useLayoutEffect(() => {
    const stop = new AbortController();
    const press = (event: KeyboardEvent) => {
      const { key, altKey, ctrlKey, metaKey } = event;
      if (isTyping(event) || altKey || ctrlKey || metaKey) return;
      if (key === "?") setListed(true);
      else if (key === "/") focusSearch();
      else if (key === "j") step(1);
      else if (key === "k") step(-1);
      else return;
      event.preventDefault();
    };
    addEventListener("keydown", press, { signal: stop.signal });
    return () => stop.abort();
  }, []);
  return isListed ? <KeysDialog keys={KEYS} onClose={() => setListed(false)} /> : null;
}

function focusSearch(): void {
  const field = document.querySelector<HTMLInputElement>("main input[type=search]");
  field?.focus();
  field?.select();
}

function step(by: 1 | -1): void {
  const rows = [...document.querySelectorAll<HTMLElement>(ROWS)];
  const here = rows.findIndex((row) => row.matches(":focus"));
  const next = here < 0 ? rows[0] : rows[here + by];
  next?.focus();
}
