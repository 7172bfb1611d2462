import { escapeHtml } from "../../base/html.ts";
import type { Letter } from "./mail.ts";

/**
 * The address that a link leads to: the token stands in the fragment, which
 * browsers keep to themselves, so that it reaches no log.
 */
export function signInAddress(page: string, token: string): string {
  return `${page}${page.includes("#") ? "?" : "#"}token=${token}`;
}

/** The letter that carries a sign-in link. */
export function signInLetter(to: string, url: string): Letter {
  const lines = [
    "Open this link to sign in. It works once, within 10 minutes:",
    url,
    "If you did not ask for it, you need not do anything: without the link nobody gets in.",
  ];
  return {
    to,
    subject: "Your sign-in link",
    text: `${lines.join("\n\n")}\n`,
    html: lines
      .map((line) => `<p>${line === url ? `<a href="${escapeHtml(url)}">Sign in</a>` : line}</p>`)
      .join("\n"),
  };
}
