/**
 * A person's access token, or a function that has the one of the moment: called with true when the
 * last one was refused, it gets a fresh one, or throws.
 */
export type TokenSource = string | ((isRefused: boolean) => string | Promise<string>);

/** Who calls: the key of a program or a device, or a person. */
export type Credentials = { readonly apiKey: string } | { readonly token: TokenSource };

/** The header that says who calls, and how to get a fresh token when one is refused. */
export class Access {
  readonly #credentials: Credentials;
  #token: string | undefined;

  constructor(credentials: Credentials) {
    this.#credentials = credentials;
  }

  async headers(): Promise<Record<string, string>> {
    if ("apiKey" in this.#credentials) return { "X-API-Key": this.#credentials.apiKey };
    const { token } = this.#credentials;
    if (typeof token === "string") return { Authorization: `Bearer ${token}` };
    this.#token ??= await token(false);
    return { Authorization: `Bearer ${this.#token}` };
  }

  /** After a refusal: true when there is a fresh token to try. */
  async renew(): Promise<boolean> {
    if ("apiKey" in this.#credentials || typeof this.#credentials.token === "string") return false;
    this.#token = await this.#credentials.token(true);
    return true;
  }
}
