import { signal } from "@preact/signals";

const KEY = "voice-microphone";

/** A microphone that the browser offers. */
interface OfferedMicrophone {
  readonly id: string;
  readonly name: string;
}

/** The id of the microphone that was chosen in this browser; "" for what the browser takes by itself. */
export const chosenMicrophone = signal(remembered());
/** Those that there are; empty until somebody has let the page use one, as browsers tell none before. */
export const microphones = signal<readonly OfferedMicrophone[]>([]);

/** Keeps the choice in this browser. */
export function chooseMicrophone(id: string): void {
  chosenMicrophone.value = id;
  try {
    if (id === "") localStorage.removeItem(KEY);
    else localStorage.setItem(KEY, id);
  } catch {
    // Then it is known as long as the page is open.
  }
}

/** Looks what there is, now and whenever one is connected or taken away, until the signal ends it. */
export function watchMicrophones(ended: AbortSignal): void {
  if (navigator.mediaDevices === undefined) return;
  void lookForMicrophones();
  navigator.mediaDevices.addEventListener("devicechange", () => void lookForMicrophones(), {
    signal: ended,
  });
}

export async function lookForMicrophones(): Promise<void> {
  const found = await navigator.mediaDevices.enumerateDevices().catch(() => []);
  microphones.value = found
    .filter(({ kind, deviceId, label }) => kind === "audioinput" && deviceId !== "" && label !== "")
    // The browser's own choice is offered as that.
    .filter(({ deviceId }) => deviceId !== "default" && deviceId !== "communications")
    .map(({ deviceId, label }) => ({ id: deviceId, name: label }));
}

function remembered(): string {
  try {
    return localStorage.getItem(KEY) ?? "";
  } catch {
    return "";
  }
}
