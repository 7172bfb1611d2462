import { escapeHtml } from "../../../base/html.ts";
import { inOneLine } from "../../../wire/one-line.ts";
import type { MailMessage } from "../../accounts/mail.ts";

/** Most characters that a name from elsewhere may take in a letter. */
const MOST = 100;

/** Somebody's text as it may stand in a letter: in one line, and not the whole letter. */
export function quoted(text: string, most = MOST): string {
  const line = inOneLine(text);
  return line.length <= most ? line : `${line.slice(0, most - 1)}…`;
}

/** A letter of plain paragraphs, with links among them. */
export function letter(
  to: string,
  subject: string,
  paragraphs: readonly string[],
  links: readonly (string | undefined)[],
): MailMessage {
  const html = paragraphs.map((paragraph) => {
    const text = escapeHtml(paragraph);
    return `<p>${links.includes(paragraph) ? `<a href="${text}">${text}</a>` : text}</p>`;
  });
  return { to, subject, text: `${paragraphs.join("\n\n")}\n`, html: html.join("\n") };
}
