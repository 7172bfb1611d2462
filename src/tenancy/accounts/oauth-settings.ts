/** Configuration of one provider. */
export interface OAuthProviderSettings {
  id: string;
  name: string;
  kind: "oidc" | "github";
  issuer: string;
  clientId: string;
  clientSecret: string;
  createUsers: boolean;
}

const PRESETS = {
  google: { kind: "oidc", name: "Google", issuer: "https://accounts.google.com" },
  microsoft: {
    kind: "oidc",
    name: "Microsoft",
    issuer: "https://login.microsoftonline.com/common/v2.0",
  },
  github: { kind: "github", name: "GitHub", issuer: "https://github.com" },
  oidc: { kind: "oidc", name: undefined, issuer: undefined },
} as const;

const ID = /^[a-z0-9][a-z0-9-]{0,31}$/;
const LOOPBACK = new Set(["localhost", "127.0.0.1", "[::1]"]);

/**
 * Reads `OAUTH_PROVIDERS`: a JSON list of `{id, preset?, issuer?, client_id,
 * client_secret, name?, create_users?}` with preset `google`, `microsoft`,
 * `github` or `oidc` (the default, which needs an issuer). Throws one error
 * that names every problem and shows no secret.
 */
export function parseOAuthProviders(json: string | undefined): OAuthProviderSettings[] {
  if (json === undefined) return [];
  const problems: string[] = [];
  const providers = parseList(json).map((entry, index) => parseEntry(entry, index, problems));
  const ids = providers.map(({ id }) => id);
  const twice = ids.find((id, index) => ids.indexOf(id) !== index);
  if (twice !== undefined) problems.push(`"${twice}" is there twice`);
  if (problems.length > 0) throw new Error(`OAUTH_PROVIDERS: ${problems.join("; ")}.`);
  return providers;
}

function parseList(json: string): unknown[] {
  try {
    const list: unknown = JSON.parse(json);
    if (Array.isArray(list)) return list;
  } catch {
    // The error is thrown below, because the parser's message would show secrets.
  }
  throw new Error("OAUTH_PROVIDERS must be a JSON list.");
}

function parseEntry(entry: unknown, index: number, problems: string[]): OAuthProviderSettings {
  const given = (typeof entry === "object" && entry !== null ? entry : {}) as Record<
    string,
    unknown
  >;
  const text = (name: string) => (typeof given[name] === "string" ? given[name] : "");
  const id = text("id");
  const where = `number ${index + 1}`;
  if (!ID.test(id)) problems.push(`${where} needs an id of lower-case letters, digits and dashes`);
  const presetName = text("preset") || "oidc";
  const preset = isPreset(presetName) ? PRESETS[presetName] : undefined;
  if (preset === undefined) {
    problems.push(
      `${where} has preset "${presetName}"; known are ${Object.keys(PRESETS).join(", ")}`,
    );
  }
  for (const name of ["client_id", "client_secret"]) {
    if (text(name) === "") problems.push(`${where} needs ${name}`);
  }
  const issuer = (text("issuer") || preset?.issuer) ?? "";
  if (!isSafeIssuer(issuer)) problems.push(`${where} needs an issuer that begins with https://`);
  return {
    id,
    name: (text("name") || preset?.name) ?? id,
    kind: preset?.kind ?? "oidc",
    issuer,
    clientId: text("client_id"),
    clientSecret: text("client_secret"),
    createUsers: given.create_users === true,
  };
}

function isPreset(name: string): name is keyof typeof PRESETS {
  return Object.hasOwn(PRESETS, name);
}

function isSafeIssuer(text: string): boolean {
  const url = URL.parse(text);
  return url !== null && (url.protocol === "https:" || isLoopback(url));
}

/** True for plain HTTP to this machine, where nobody else can listen. */
export function isLoopback(url: URL): boolean {
  return url.protocol === "http:" && LOOPBACK.has(url.hostname);
}
