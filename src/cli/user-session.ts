import { ApiClient, ApiFailure, type Send } from "./api-client.ts";
import { CommandFailure } from "./command-failure.ts";
import { Credentials, type StoredLogin } from "./credentials.ts";

export const DEFAULT_BASE_URL = "http://127.0.0.1:8080/api";

/** How to reach the service and as whom, from flags. */
export interface ConnectionOptions {
  readonly baseUrl?: string;
  readonly email?: string;
  readonly password?: string;
  readonly token?: string;
}

/** Flags over environment over what `voice login` stored. */
export function baseUrlOf(options: ConnectionOptions, env: NodeJS.ProcessEnv): string {
  const stored = () => new Credentials(env).currentBaseUrl;
  const given = options.baseUrl || env.VOICE_BASE_URL || stored() || DEFAULT_BASE_URL;
  const url = URL.parse(/^[a-z]+:\/\//i.test(given) ? given : `http://${given}`);
  if (url === null || !/^https?:$/.test(url.protocol)) {
    throw new CommandFailure(`"${given}" is not an address like ${DEFAULT_BASE_URL}`);
  }
  const path = url.pathname.replace(/\/+$/, "");
  return `${url.origin}${path.endsWith("/api") ? path : `${path}/api`}`;
}

/** Exchanges e-mail and password for tokens. */
export async function logIn(api: ApiClient, email: string, password: string): Promise<StoredLogin> {
  const body = { email, password, remember_me: true };
  const { token, refresh_token } = await api.call((client) => client.POST("/auth/login", { body }));
  return { email, token, ...(refresh_token !== undefined && { refresh_token }) };
}

/** A signed-in user: carries the access token and renews it when it has run out. */
export class UserSession {
  readonly api: ApiClient;
  #login: StoredLogin;
  readonly #renewed: (login: StoredLogin) => void;

  constructor(api: ApiClient, login: StoredLogin, renewed: (login: StoredLogin) => void) {
    this.api = api;
    this.#login = login;
    this.#renewed = renewed;
  }

  get token(): string {
    return this.#login.token;
  }

  /** As `ApiClient.call`, with the token; once more with a fresh one when it has run out. */
  async call<T>(send: Send<T>): Promise<NonNullable<T>> {
    const withToken = () => this.api.call(send, { headers: bearer(this.token) });
    try {
      return await withToken();
    } catch (error) {
      if (!(error instanceof ApiFailure) || error.status !== 401) throw error;
      await this.renew();
      return withToken();
    }
  }

  /** Gets a fresh access token; throws when the service no longer accepts the login. */
  async renew(): Promise<void> {
    const { refresh_token } = this.#login;
    if (refresh_token === undefined) throw expired(this.api.baseUrl);
    const headers = bearer(refresh_token);
    try {
      const { token } = await this.api.call((client) => client.GET("/auth/refresh-token"), {
        headers,
      });
      this.#login = { ...this.#login, token };
    } catch (error) {
      if (error instanceof ApiFailure && error.status === 401) throw expired(this.api.baseUrl);
      throw error;
    }
    this.#renewed(this.#login);
  }
}

function bearer(token: string): { Authorization: string } {
  return { Authorization: `Bearer ${token}` };
}

function expired(baseUrl: string): CommandFailure {
  return new CommandFailure(
    `the login for ${baseUrl} is no longer accepted: run \`voice login --base-url ${baseUrl}\``,
  );
}

/** Signs in with what flags, environment or an earlier `voice login` give, in this order. */
export async function openUserSession(
  options: ConnectionOptions,
  env: NodeJS.ProcessEnv,
): Promise<UserSession> {
  const api = new ApiClient(baseUrlOf(options, env));
  const email = options.email || env.VOICE_EMAIL;
  const password = options.password || env.VOICE_PASSWORD;
  const forget = () => undefined;
  if (options.token) return new UserSession(api, { email: "", token: options.token }, forget);
  if (email && password) return new UserSession(api, await logIn(api, email, password), forget);
  if (env.VOICE_TOKEN) return new UserSession(api, { email: "", token: env.VOICE_TOKEN }, forget);
  const credentials = new Credentials(env);
  const stored = credentials.find(api.baseUrl);
  if (stored === undefined) {
    throw new CommandFailure(
      `not signed in to ${api.baseUrl}: run \`voice login\`, or give --email and --password, or --token`,
    );
  }
  return new UserSession(api, stored, (login) => credentials.save(api.baseUrl, login));
}
