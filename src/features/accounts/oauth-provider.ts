/** Who a provider says has signed in. */
export interface OAuthProfile {
  /** The provider's own, unchanging id of the person. */
  subject: string;
  email: string | undefined;
  /** The provider vouches that the address is the person's. */
  emailVerified: boolean;
  name: string;
}

/** What binds an answer of the provider to the request that we made. */
export interface OAuthSecrets {
  state: string;
  nonce: string;
  codeVerifier: string;
}

/** Port: one identity provider that people can sign in with. */
export interface OAuthProvider {
  /** As it stands in paths. */
  readonly id: string;
  readonly name: string;
  /** People whom nobody knows yet get an account. */
  readonly createUsers: boolean;
  /** Where to send the browser. Rejects with `unavailable` when the provider cannot be reached. */
  authorizationUrl(redirectUri: string, secrets: OAuthSecrets): Promise<URL>;
  /**
   * Exchanges the code of an answer. Rejects with `invalid_credentials` when the
   * provider refused or its answer does not hold, with `unavailable` when it
   * cannot be reached.
   *
   * @param answer the address that the provider sent the browser to, with its query
   */
  exchange(answer: URL, secrets: OAuthSecrets): Promise<OAuthProfile>;
}
