import { ApiClient, ApiFailure, type Call, type JsonObject } from "./api-client.ts";
import { CommandFailure } from "./command-failure.ts";
import { Credentials, type StoredLogin } from "./credentials.ts";
import { stringField } from "./json-field.ts";

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
  const json = { email, password, remember_me: true };
  const answer = await api.call({ method: "POST", path: "/auth/login", json });
  const { refresh_token } = answer;
  return {
    email,
    token: stringField(answer, "token"),
    ...(typeof refresh_token === "string" && { refresh_token }),
  };
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

  async call(call: Call): Promise<JsonObject> {
    return this.#authorised(call, (authorised) => this.api.call(authorised));
  }

  async text(call: Call): Promise<string> {
    return this.#authorised(call, (authorised) => this.api.text(authorised));
  }

  /** Gets a fresh access token; throws when the service no longer accepts the login. */
  async renew(): Promise<void> {
    const { refresh_token } = this.#login;
    if (refresh_token === undefined) throw expired(this.api.baseUrl);
    const headers = { Authorization: `Bearer ${refresh_token}` };
    try {
      const answer = await this.api.call({ method: "GET", path: "/auth/refresh-token", headers });
      this.#login = { ...this.#login, token: stringField(answer, "token") };
    } catch (error) {
      if (error instanceof ApiFailure && error.status === 401) throw expired(this.api.baseUrl);
      throw error;
    }
    this.#renewed(this.#login);
  }

  async #authorised<T>(call: Call, send: (call: Call) => Promise<T>): Promise<T> {
    const withToken = () =>
      send({ ...call, headers: { ...call.headers, Authorization: `Bearer ${this.token}` } });
    try {
      return await withToken();
    } catch (error) {
      if (!(error instanceof ApiFailure) || error.status !== 401) throw error;
      await this.renew();
      return withToken();
    }
  }
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
