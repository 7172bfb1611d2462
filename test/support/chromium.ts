import { type Browser, chromium } from "playwright-core";
import { findBrowser, installBrowser } from "../../deploy/testing/browser.mjs";

/** As few connections of its own as it can be told to make. */
const QUIET = [
  "--no-sandbox",
  "--disable-gpu",
  "--disable-quic",
  "--disable-background-networking",
  "--disable-component-update",
  "--disable-sync",
  "--no-first-run",
];

/** A real browser without a window; fetched from Debian the first time, where the system has none. */
export async function openChromium(options: readonly string[] = []): Promise<Browser> {
  const found = findBrowser() ?? (await installBrowser({ note() {} }));
  if (found === undefined) throw new Error("There is no Chromium.");
  const env = { ...process.env, ...found.env } as Record<string, string>;
  return chromium.launch({ executablePath: found.program, args: [...QUIET, ...options], env });
}
