import {
  authorizationCodeGrant,
  buildAuthorizationUrl,
  Configuration,
  fetchProtectedResource,
} from "openid-client";
import {
  allowLoopback,
  authorizationParameters,
  PROVIDER_TIMEOUT,
  toProviderError,
} from "./oauth-client.ts";
import type { OAuthProfile, OAuthProvider, OAuthSecrets } from "./oauth-provider.ts";
import type { OAuthProviderSettings } from "./oauth-settings.ts";

const MAX_ANSWER = 256 * 1024;

/**
 * GitHub, or a GitHub Enterprise server given as the issuer: OAuth 2 without
 * OpenID Connect, so its API is asked who signed in.
 */
export class GithubProvider implements OAuthProvider {
  readonly #settings: OAuthProviderSettings;
  readonly #configuration: Configuration;
  readonly #api: string;

  constructor(settings: OAuthProviderSettings) {
    this.#settings = settings;
    const issuer = settings.issuer.replace(/\/+$/, "");
    this.#api = issuer === "https://github.com" ? "https://api.github.com" : `${issuer}/api/v3`;
    const server = {
      issuer,
      authorization_endpoint: `${issuer}/login/oauth/authorize`,
      token_endpoint: `${issuer}/login/oauth/access_token`,
    };
    this.#configuration = new Configuration(server, settings.clientId, settings.clientSecret);
    this.#configuration.timeout = PROVIDER_TIMEOUT;
    for (const allow of allowLoopback(issuer)) allow(this.#configuration);
  }

  get id(): string {
    return this.#settings.id;
  }

  get name(): string {
    return this.#settings.name;
  }

  get createUsers(): boolean {
    return this.#settings.createUsers;
  }

  async authorizationUrl(redirectUri: string, secrets: OAuthSecrets): Promise<URL> {
    const scope = "read:user user:email";
    const parameters = await authorizationParameters(redirectUri, scope, secrets);
    return buildAuthorizationUrl(this.#configuration, parameters);
  }

  async exchange(answer: URL, { state, codeVerifier }: OAuthSecrets): Promise<OAuthProfile> {
    try {
      const { access_token: token } = await authorizationCodeGrant(this.#configuration, answer, {
        expectedState: state,
        pkceCodeVerifier: codeVerifier,
      });
      const user = (await this.#get(token, "/user")) as Record<string, unknown>;
      const emails = await this.#get(token, "/user/emails");
      if (!Number.isSafeInteger(user.id)) throw new Error("the user has no id");
      const email = primaryEmail(emails);
      return {
        subject: String(user.id),
        email: email?.email,
        emailVerified: email?.verified === true,
        name: typeof user.name === "string" ? user.name : "",
      };
    } catch (error) {
      throw toProviderError(error, this.name);
    }
  }

  async #get(token: string, path: string): Promise<unknown> {
    const url = new URL(this.#api + path);
    const headers = new Headers({ accept: "application/vnd.github+json" });
    const response = await fetchProtectedResource(
      this.#configuration,
      token,
      url,
      "GET",
      undefined,
      headers,
    );
    const text = await response.text();
    if (!response.ok || text.length > MAX_ANSWER) {
      throw new Error(`${path} answered ${response.status}`);
    }
    return JSON.parse(text);
  }
}

/** Only the primary address is the person's name here; GitHub says whether it was verified. */
function primaryEmail(list: unknown): { email: string; verified: boolean } | undefined {
  if (!Array.isArray(list)) return undefined;
  const found: unknown = list.find((each: { primary?: unknown }) => each?.primary === true);
  const { email, verified } = (found ?? {}) as { email?: unknown; verified?: unknown };
  return typeof email === "string" ? { email, verified: verified === true } : undefined;
}
