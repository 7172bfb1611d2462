const BEARER = /^Bearer +([A-Za-z0-9._~+/-]+=*)$/i;

/** The token of an `Authorization: Bearer` header (RFC 6750 §2.1); undefined when there is none. */
export function bearerOf(headers: Readonly<Record<string, string>>): string | undefined {
  return BEARER.exec(headers.authorization ?? "")?.[1];
}
