import type { Letter } from "./mail.ts";

/** What nodemailer makes a message of. No tracking, no attachments, nothing fetched. */
export function mailMessage(letter: Letter, from: string) {
  const { to, subject, text, html } = letter;
  return {
    from,
    // As an object, so that nothing in the address is taken for a list of addresses.
    to: { name: "", address: to },
    subject,
    text,
    html,
    headers: { "Auto-Submitted": "auto-generated" },
    disableFileAccess: true,
    disableUrlAccess: true,
  };
}
