import { BlockList, isIP } from "node:net";
import { Access, bearer } from "../../client/access.ts";
import { ApiClient, type CallOptions, type Send } from "../../client/api-client.ts";
import { type BackOff, BRISK } from "../../client/back-off.ts";
import { ApiError, Unreachable } from "../../client/errors.ts";
import { CommandFailure } from "./command-context.ts";
import { Credentials, type StoredLogin } from "./credentials.ts";
import { EXIT } from "./exit-codes.ts";

const LOOPBACK = new BlockList();
LOOPBACK.addSubnet("127.0.0.0", 8, "ipv4");
LOOPBACK.addAddress("::1", "ipv6");

const ON: ReadonlySet<string> = new Set(["1", "true", "yes", "on"]);

/**
 * Throws when passwords and keys would go to another machine in clear, unless the person or
 * ALLOW_INSECURE allows it.
 */
function refuseClearText(url: URL, insecure: boolean, env: NodeJS.ProcessEnv): void {
  if (url.protocol === "https:" || isThisMachine(url.hostname)) return;
  if (insecure || ON.has(env.ALLOW_INSECURE ?? "")) return;
  throw new CommandFailure(
    `${url.origin} is another machine without TLS: passwords, keys and words would go there in clear. Use its https:// address, or add --insecure (ALLOW_INSECURE=1 in scripts) where nobody else is on that network`,
  );
}

/** Judges as the service does at its start; names are not looked up. */
function isThisMachine(hostname: string): boolean {
  const host = hostname.replace(/^\[(.*)\]$/, "$1");
  const version = isIP(host);
  if (version === 0) return host === "localhost" || host.endsWith(".localhost");
  return LOOPBACK.check(host, version === 6 ? "ipv6" : "ipv4");
}

export const DEFAULT_BASE_URL = "http://127.0.0.1:8080/api";

/** The service's address and the user, from flags. */
export interface ConnectionOptions {
  readonly baseUrl?: string;
  readonly email?: string;
  readonly password?: string;
  readonly token?: string;
  /** Allows an address of another machine without TLS. */
  readonly insecure?: boolean;
}

/**
 * The base URL from flags, else from the environment, else from the stored login. Throws for an
 * address to which passwords and keys would go in clear.
 */
export function baseUrlOf(options: ConnectionOptions, env: NodeJS.ProcessEnv): string {
  const stored = () => new Credentials(env).currentBaseUrl;
  const given = options.baseUrl || env.VOICE_BASE_URL || stored() || DEFAULT_BASE_URL;
  const url = URL.parse(/^[a-z]+:\/\//i.test(given) ? given : `http://${given}`);
  if (url === null || !/^https?:$/.test(url.protocol)) {
    throw new CommandFailure(`"${given}" is not an address like ${DEFAULT_BASE_URL}`);
  }
  refuseClearText(url, options.insecure === true, env);
  const path = url.pathname.replace(/\/+$/, "");
  return `${url.origin}${path.endsWith("/api") ? path : `${path}/api`}`;
}

/** Time limit for the first contact, milliseconds; a reachable service answers much faster. */
export const CONTACT_MS = 2_000;

/**
 * Checks that the service answers. Rejects within seconds, with one sentence, when nothing answers
 * at the address.
 */
export async function reach(api: ApiClient): Promise<void> {
  try {
    await api.once((client) => client.GET("/health/live"), { timeoutMs: CONTACT_MS });
  } catch (error) {
    // The service is reachable; the following call will show what is wrong.
    if (!(error instanceof Unreachable)) return;
    throw new CommandFailure(
      `no answer from ${api.baseUrl}${error.how}; is the service running there? (--base-url gives another address)`,
      error,
      EXIT.unavailable,
    );
  }
}

/** Exchanges an e-mail address and a password for tokens. */
export async function logIn(api: ApiClient, email: string, password: string): Promise<StoredLogin> {
  const body = { email, password, remember_me: true };
  const { token, refresh_token } = await api.call((client) => client.POST("/auth/login", { body }));
  return { email, token, ...(refresh_token !== undefined && { refresh_token }) };
}

/** A signed-in user, whose access token is renewed when it has expired. */
export class UserSession {
  /** The service in nobody's name, as for devices. */
  readonly api: ApiClient;
  /** The service in the user's name. */
  readonly own: ApiClient;
  /** For connections that stay open. */
  readonly access: Access;
  #login: StoredLogin;
  readonly #renewed: (login: StoredLogin) => void;

  constructor(api: ApiClient, login: StoredLogin, renewed: (login: StoredLogin) => void) {
    this.api = api;
    this.access = new Access({
      token: async (isRefused) => {
        if (isRefused) await this.#renew();
        return this.token;
      },
    });
    this.own = new ApiClient(api.baseUrl, api.backOff, this.access);
    this.#login = login;
    this.#renewed = renewed;
  }

  get token(): string {
    return this.#login.token;
  }

  /** In the user's name; see `ApiClient.call`. */
  call<T>(
    send: Send<T>,
    options: Pick<CallOptions, "timeoutMs" | "signal"> = {},
  ): Promise<NonNullable<T>> {
    return this.own.call(send, options);
  }

  /** Gets a fresh access token; throws when the service no longer accepts the login. */
  async #renew(): Promise<void> {
    const { refresh_token } = this.#login;
    if (refresh_token === undefined) throw expired(this.api.baseUrl);
    const headers = bearer(refresh_token);
    try {
      const { token } = await this.api.call((client) => client.GET("/auth/refresh-token"), {
        headers,
      });
      this.#login = { ...this.#login, token };
    } catch (error) {
      if (error instanceof ApiError && error.status === 401) throw expired(this.api.baseUrl);
      throw error;
    }
    this.#renewed(this.#login);
  }
}

function expired(baseUrl: string): CommandFailure {
  return new CommandFailure(
    `the login for ${baseUrl} is no longer accepted: run \`voice login --base-url ${baseUrl}\``,
    undefined,
    EXIT.refused,
  );
}

/**
 * Signs in with credentials from flags, the environment or an earlier `voice login`, in this order.
 * `backOff` applies after the service was reached; an unreachable address fails at once.
 */
export async function openUserSession(
  options: ConnectionOptions,
  env: NodeJS.ProcessEnv,
  backOff: BackOff = BRISK,
): Promise<UserSession> {
  const api = new ApiClient(baseUrlOf(options, env), backOff);
  const email = options.email || env.VOICE_EMAIL;
  const password = options.password || env.VOICE_PASSWORD;
  const forget = () => undefined;
  const withToken = (token: string) => new UserSession(api, { email: "", token }, forget);
  const credentials = new Credentials(env);
  const isGiven = options.token || (email && password) || env.VOICE_TOKEN;
  const stored = isGiven ? undefined : credentials.find(api.baseUrl);
  if (!isGiven && stored === undefined) {
    throw new CommandFailure(
      `not signed in to ${api.baseUrl}: run \`voice login\`, or give --email and --password, or --token`,
      undefined,
      EXIT.refused,
    );
  }
  await reach(api);
  if (stored) return new UserSession(api, stored, (login) => credentials.save(api.baseUrl, login));
  if (options.token) return withToken(options.token);
  if (email && password) return new UserSession(api, await logIn(api, email, password), forget);
  return withToken(env.VOICE_TOKEN ?? "");
}
