/** A letter to one person. */
export interface Letter {
  to: string;
  subject: string;
  text: string;
  html: string;
}

/** Port: sends letters. */
export interface Mail {
  /** Resolves when the mail was taken over by whoever delivers it. */
  send(letter: Letter): Promise<void>;
}
