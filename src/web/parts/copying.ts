import { showToast } from "./toasts.tsx";

/** Puts a text into the clipboard, and tells `said` or why not. */
export async function copyText(text: string, said: string): Promise<void> {
  try {
    await navigator.clipboard.writeText(text);
    showToast(said);
  } catch {
    // Pages without TLS have no clipboard at all.
    showToast("The browser does not let this page copy; select the text and copy it yourself.");
  }
}
