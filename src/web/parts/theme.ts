import { effect, signal } from "@preact/signals";

export type Theme = "system" | "light" | "dark";

const KEY = "voice.theme";

export const theme = signal<Theme>(stored());

/** Shows the page as chosen, now and whenever the choice changes. */
export function applyTheme(): void {
  effect(() => {
    document.documentElement.dataset.theme = theme.value;
  });
}

export function chooseTheme(next: Theme): void {
  theme.value = next;
  try {
    localStorage.setItem(KEY, next);
  } catch {
    // A browser that stores nothing shows it for as long as the page is open.
  }
}

function stored(): Theme {
  try {
    const found = localStorage.getItem(KEY);
    return found === "light" || found === "dark" ? found : "system";
  } catch {
    return "system";
  }
}
