import { mkdir, readdir, rename, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { createTransport } from "nodemailer";
import { newId } from "../../base/ids.ts";
import type { Log } from "../../base/log.ts";

/** A message to one person. */
export interface MailMessage {
  to: string;
  subject: string;
  text: string;
  html: string;
}

/** Port: sends messages. */
export interface Mail {
  /** Resolves when the mail server has accepted the message. */
  send(message: MailMessage): Promise<void>;
}

/** The input for nodemailer, without tracking, attachments and remote content. */
function mailMessage(message: MailMessage, from: string) {
  const { to, subject, text, html } = message;
  return {
    from,
    // An object, so that nodemailer does not parse the address as a list of addresses.
    to: { name: "", address: to },
    subject,
    text,
    html,
    headers: { "Auto-Submitted": "auto-generated" },
    disableFileAccess: true,
    disableUrlAccess: true,
  };
}

const KEPT = 100;

/** Writes messages to files that a mail program opens, for machines without a mail server. */
export class FolderMail implements Mail {
  readonly #folder: string;
  readonly #from: string;
  readonly #log: Log;
  readonly #transport = createTransport({ streamTransport: true, buffer: true, newline: "\r\n" });

  constructor(folder: string, from: string, log: Log) {
    this.#folder = folder;
    this.#from = from;
    this.#log = log;
  }

  async send(message: MailMessage): Promise<void> {
    const { text } = message;
    const mail = { ...mailMessage(message, this.#from), html: undefined };
    const { message: written } = await this.#transport.sendMail(mail);
    await mkdir(this.#folder, { recursive: true, mode: 0o700 });
    // Ids sort by time, so the names do too.
    const path = join(this.#folder, `${newId()}.eml`);
    await writeFile(`${path}.tmp`, unencoded(written, text), { mode: 0o600, flag: "wx" });
    // The rename makes the file appear only when it is complete.
    await rename(`${path}.tmp`, path);
    this.#log.info({ path }, "no SMTP_URL: the mail was written to a file");
    await this.#forgetOld();
  }

  async #forgetOld(): Promise<void> {
    const names = (await readdir(this.#folder)).filter((name) => name.endsWith(".eml")).sort();
    for (const name of names.slice(0, -KEPT)) await rm(join(this.#folder, name), { force: true });
  }
}

/**
 * The message with its text unencoded, because an encoding would break the link that a person
 * copies.
 */
function unencoded(message: { toString(encoding: "latin1"): string }, text: string): string {
  const [head = ""] = message.toString("latin1").split("\r\n\r\n", 1);
  const plain = head.replace(/^Content-Transfer-Encoding:.*$/im, "Content-Transfer-Encoding: 8bit");
  return `${plain}\r\n\r\n${text.replaceAll("\n", "\r\n")}`;
}

const TIMEOUT_MS = 10_000;

/**
 * Mail over SMTP; `url` as in `smtps://user:password@mail.example.org`. With `requireTLS` nothing
 * is sent, nor a password, to a server that does not offer STARTTLS.
 */
export class SmtpMail implements Mail {
  readonly #transport: ReturnType<typeof createTransport>;
  readonly #from: string;

  constructor(url: string, from: string, { requireTLS } = { requireTLS: false }) {
    this.#from = from;
    this.#transport = createTransport({
      url,
      // It wins over what the address says.
      ...(requireTLS && { requireTLS }),
      connectionTimeout: TIMEOUT_MS,
      greetingTimeout: TIMEOUT_MS,
      socketTimeout: TIMEOUT_MS,
    });
  }

  async send(message: MailMessage): Promise<void> {
    await this.#transport.sendMail(mailMessage(message, this.#from));
  }

  close(): void {
    this.#transport.close();
  }
}
