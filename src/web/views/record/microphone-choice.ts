import { signal } from "@preact/signals";

const KEY = "voice-microphone";

/** A microphone that the browser offers. */
interface OfferedMicrophone {
  readonly id: string;
  readonly name: string;
}

/** What was chosen in this browser; its id is "" for what the browser takes by itself. */
let choice = remembered();
/** The id of the chosen microphone. */
export const chosenMicrophone = signal(choice.id);
/**
 * Those that there are; empty until somebody has let the page use one, as browsers tell none before.
 * Undefined until it was looked.
 */
export const microphones = signal<readonly OfferedMicrophone[] | undefined>(undefined);

/** Keeps the choice in this browser. */
export function chooseMicrophone(id: string): void {
  choice = { id, name: microphones.peek()?.find((each) => each.id === id)?.name ?? "" };
  chosenMicrophone.value = id;
  try {
    if (id === "") localStorage.removeItem(KEY);
    else localStorage.setItem(KEY, JSON.stringify(choice));
  } catch {
    // Then it is known as long as the page is open.
  }
}

/** Looks what there is, now and whenever one is connected or taken away, until the signal ends it. */
export function watchMicrophones(ended: AbortSignal): void {
  if (navigator.mediaDevices === undefined) return;
  void findMicrophones();
  navigator.mediaDevices.addEventListener("devicechange", () => void findMicrophones(), {
    signal: ended,
  });
}

export async function findMicrophones(): Promise<void> {
  const found = await navigator.mediaDevices.enumerateDevices().catch(() => []);
  microphones.value = found
    .filter(({ kind, deviceId, label }) => kind === "audioinput" && deviceId !== "" && label !== "")
    // The browser's own choice is offered as that.
    .filter(({ deviceId }) => deviceId !== "default" && deviceId !== "communications")
    .map(({ deviceId, label }) => ({ id: deviceId, name: label }));
  const isThere = microphones.value.some(({ id }) => id === choice.id);
  // Some browsers give the same one another id with each visit.
  const same = microphones.value.find(({ name }) => name === choice.name);
  if (!isThere && same !== undefined) chooseMicrophone(same.id);
}

function remembered(): OfferedMicrophone {
  try {
    const kept: unknown = JSON.parse(localStorage.getItem(KEY) ?? "{}");
    if (typeof kept === "object" && kept !== null && "id" in kept && "name" in kept) {
      return { id: String(kept.id), name: String(kept.name) };
    }
  } catch {
    // A browser that keeps nothing, or something else under this name.
  }
  return { id: "", name: "" };
}
