/**
 * A person's access token, or a function that has the one of the moment: called with true when the
 * last one was refused, it gets a fresh one, or throws.
 */
export type TokenSource = string | ((isRefused: boolean) => string | Promise<string>);

/** Who calls: the key of a program or a device, or a person. */
export type Credentials = { readonly apiKey: string } | { readonly token: TokenSource };

/** The headers of a request that say who calls. */
export type CallerHeaders = Readonly<Record<string, string>>;

/** In whose name calls are made, where that may change from one to the next. */
export interface Caller {
  headers(): CallerHeaders | Promise<CallerHeaders>;
  /**
   * After a refusal: true when there is something fresh to try.
   *
   * @param refused the headers of the request, unless a socket was refused
   */
  renew(refused?: CallerHeaders): Promise<boolean>;
}

/** The caller of a program: the header that says who it is, and how to get a fresh token. */
export class Access implements Caller {
  readonly #credentials: Credentials;
  #token: string | undefined;
  /** One for all calls that are refused together. */
  #renewing: Promise<void> | undefined;

  constructor(credentials: Credentials) {
    this.#credentials = credentials;
  }

  async headers(): Promise<CallerHeaders> {
    if ("apiKey" in this.#credentials) return { "X-API-Key": this.#credentials.apiKey };
    const { token } = this.#credentials;
    if (typeof token === "string") return bearer(token);
    this.#token ??= await token(false);
    return bearer(this.#token);
  }

  async renew(refused?: CallerHeaders): Promise<boolean> {
    if ("apiKey" in this.#credentials) return false;
    const { token } = this.#credentials;
    if (typeof token === "string") return false;
    // Another call has got a fresh one since this one was sent.
    const now = bearer(this.#token ?? "");
    if (refused !== undefined && refused.Authorization !== now.Authorization) return true;
    this.#renewing ??= this.#renew(token).finally(() => {
      this.#renewing = undefined;
    });
    await this.#renewing;
    return true;
  }

  async #renew(token: (isRefused: boolean) => string | Promise<string>): Promise<void> {
    this.#token = await token(true);
  }
}

export function bearer(token: string): { Authorization: string } {
  return { Authorization: `Bearer ${token}` };
}
