import {
  AuthorizationResponseError,
  allowInsecureRequests,
  type authorizationCodeGrant,
  type Configuration,
  calculatePKCECodeChallenge,
  ResponseBodyError,
} from "openid-client";
import { AppError } from "../../base/errors.ts";
import type { OAuthSecrets } from "./oauth-provider.ts";
import { isLoopback } from "./oauth-settings.ts";

/** Seconds for one request to a provider. */
export const PROVIDER_TIMEOUT = 8;

/** What is asked for, on top of what the provider's kind needs. */
export async function authorizationParameters(
  redirectUri: string,
  scope: string,
  { state, codeVerifier }: OAuthSecrets,
): Promise<Record<string, string>> {
  return {
    redirect_uri: redirectUri,
    scope,
    state,
    code_challenge: await calculatePKCECodeChallenge(codeVerifier),
    code_challenge_method: "S256",
  };
}

/** Lets plain HTTP through to a provider on this machine, and only there. */
export function allowLoopback(issuer: string): ((config: Configuration) => void)[] {
  return isLoopback(new URL(issuer)) ? [allowInsecureRequests] : [];
}

export type Tokens = Awaited<ReturnType<typeof authorizationCodeGrant>>;

/** A failure at the provider in our words; what it said stays in the cause. */
export function toProviderError(error: unknown, name: string): AppError {
  if (error instanceof AppError) return error;
  if (isOutage(error)) {
    return new AppError("unavailable", `${name} cannot be reached just now. Please try again.`, {
      cause: error,
      retryAfter: 5,
    });
  }
  return new AppError("invalid_credentials", `${name} did not sign you in.`, { cause: error });
}

function isOutage(error: unknown): boolean {
  if (error instanceof ResponseBodyError) return error.status >= 500;
  if (error instanceof AuthorizationResponseError) {
    return ["server_error", "temporarily_unavailable"].includes(error.error);
  }
  // The platform's own words for a connection that failed or took too long.
  for (let at = error, depth = 0; at instanceof Error && depth < 5; at = at.cause, depth += 1) {
    if (at.name === "TimeoutError" || at.message === "fetch failed") return true;
    if (
      "code" in at &&
      (at.code === "OAUTH_TIMEOUT" || /^(ECONN|ENOTFOUND|EAI_)/.test(String(at.code)))
    ) {
      return true;
    }
  }
  return false;
}
