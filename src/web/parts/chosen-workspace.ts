import { signal } from "@preact/signals";
import { account } from "../api/account.ts";

const PREFIX = "voice-workspace-";
/** Rises with every choice, so that what shows it is drawn anew. */
const choices = signal(0);
/** Of a browser that keeps nothing: the choices since the page was loaded, by account. */
const held = new Map<string, string>();

/** The workspace that the account chose last for something new, else the first; "" without any. */
export function chosenWorkspace(workspaces: readonly { id: string }[]): string {
  void choices.value;
  const known = remembered();
  return workspaces.some(({ id }) => id === known) ? known : (workspaces[0]?.id ?? "");
}

/** Keeps the choice in this browser, for this account. */
export function rememberWorkspace(id: string): void {
  const who = account.peek()?.id;
  if (who === undefined) return;
  held.set(who, id);
  try {
    localStorage.setItem(PREFIX + who, id);
  } catch {
    // Then it is known as long as the page is open.
  }
  choices.value += 1;
}

function remembered(): string {
  const who = account.value?.id ?? "";
  try {
    return localStorage.getItem(PREFIX + who) ?? held.get(who) ?? "";
  } catch {
    return held.get(who) ?? "";
  }
}
