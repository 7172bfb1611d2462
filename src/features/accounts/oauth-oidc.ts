import {
  authorizationCodeGrant,
  buildAuthorizationUrl,
  type Configuration,
  discovery,
  fetchUserInfo,
} from "openid-client";
import {
  allowLoopback,
  authorizationParameters,
  PROVIDER_TIMEOUT,
  type Tokens,
  toProviderError,
} from "./oauth-client.ts";
import type { OAuthProfile, OAuthProvider, OAuthSecrets } from "./oauth-provider.ts";
import type { OAuthProviderSettings } from "./oauth-settings.ts";

/** How long what a provider says of itself is believed. */
const DISCOVERY_MS = 3_600_000;

type Claims = Readonly<Record<string, unknown>>;

/** A provider that speaks OpenID Connect. */
export class OidcProvider implements OAuthProvider {
  readonly #settings: OAuthProviderSettings;
  #found: { configuration: Promise<Configuration>; at: number } | undefined;

  constructor(settings: OAuthProviderSettings) {
    this.#settings = settings;
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
    try {
      const parameters = await authorizationParameters(
        redirectUri,
        "openid email profile",
        secrets,
      );
      const configuration = await this.#configuration();
      return buildAuthorizationUrl(configuration, { ...parameters, nonce: secrets.nonce });
    } catch (error) {
      throw toProviderError(error, this.name);
    }
  }

  async exchange(answer: URL, { state, nonce, codeVerifier }: OAuthSecrets): Promise<OAuthProfile> {
    try {
      const configuration = await this.#configuration();
      const tokens = await authorizationCodeGrant(configuration, answer, {
        expectedState: state,
        expectedNonce: nonce,
        pkceCodeVerifier: codeVerifier,
        idTokenExpected: true,
      });
      return toProfile(await completeClaims(configuration, tokens));
    } catch (error) {
      throw toProviderError(error, this.name);
    }
  }

  #configuration(): Promise<Configuration> {
    const now = performance.now();
    if (this.#found !== undefined && now - this.#found.at < DISCOVERY_MS) {
      return this.#found.configuration;
    }
    const { issuer, clientId, clientSecret } = this.#settings;
    const configuration = discovery(new URL(issuer), clientId, clientSecret, undefined, {
      execute: allowLoopback(issuer),
      timeout: PROVIDER_TIMEOUT,
    });
    const found = { configuration, at: now };
    this.#found = found;
    // What failed is asked again.
    configuration.catch(() => {
      if (this.#found === found) this.#found = undefined;
    });
    return configuration;
  }
}

/** What the ID token says, and where it is silent about the address, the user-info endpoint. */
async function completeClaims(configuration: Configuration, tokens: Tokens): Promise<Claims> {
  const claims = tokens.claims();
  if (claims === undefined) throw new Error("there is no ID token");
  const asks = configuration.serverMetadata().userinfo_endpoint !== undefined;
  if (claims.email !== undefined || !asks) return claims;
  return { ...claims, ...(await fetchUserInfo(configuration, tokens.access_token, claims.sub)) };
}

function toProfile(claims: Claims): OAuthProfile {
  const { sub, email, name } = claims;
  return {
    subject: String(sub),
    email: typeof email === "string" ? email : undefined,
    emailVerified: isVerified(claims),
    name: typeof name === "string" ? name : "",
  };
}

/**
 * Microsoft says with `xms_edov` that the owner of an address's domain was
 * verified; without it anybody may have put that address into their directory.
 */
function isVerified({ email_verified: verified, xms_edov: domainVerified }: Claims): boolean {
  return (
    [true, "true"].includes(verified as never) || [true, 1, "1"].includes(domainVerified as never)
  );
}
