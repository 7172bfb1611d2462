import { createTransport } from "nodemailer";
import type { Letter, Mail } from "./mail.ts";
import { mailMessage } from "./mail-message.ts";

const TIMEOUT_MS = 10_000;

/** Mail over SMTP; `url` as in `smtps://user:password@mail.example.org`. */
export class SmtpMail implements Mail {
  readonly #transport: ReturnType<typeof createTransport>;
  readonly #from: string;

  constructor(url: string, from: string) {
    this.#from = from;
    this.#transport = createTransport({
      url,
      connectionTimeout: TIMEOUT_MS,
      greetingTimeout: TIMEOUT_MS,
      socketTimeout: TIMEOUT_MS,
    });
  }

  async send(letter: Letter): Promise<void> {
    await this.#transport.sendMail(mailMessage(letter, this.#from));
  }

  close(): void {
    this.#transport.close();
  }
}
