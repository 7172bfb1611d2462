/** Everything a process of the service is told by its environment, read once. */
export interface Config {
  roles: ReadonlySet<Role>;
  nodeName: string;
  host: string;
  port: number;
  opsPort: number;
  grpcPort: number;
  /** PEM files for the gRPC port; without them it speaks plain HTTP/2. */
  rpcTls: { certFile: string; keyFile: string; clientCaFile: string | undefined } | undefined;
  /** Where clients reach the service; else the request's Host. */
  publicUrl: string | undefined;
  databaseUrl: string;
  databasePoolSize: number;
  natsUrl: string;
  natsToken: string | undefined;
  /** Copies that a NATS cluster keeps of the commands and the leases. */
  natsReplicas: number;
  workerKey: string | undefined;
  blobFolder: string;
  keyFolder: string;
  /** Key material as JSON instead of a folder. */
  keys: string | undefined;
  allowedOrigins: string[];
  /** Proxies in a row before us whose X-Forwarded headers count. */
  trustProxy: number;
  /** Webhooks may also go to private addresses, and over plain http. */
  webhookAllowPrivate: boolean;
  jsonBytes: number;
  uploadBytes: number;
  /** Multiplies every rate limit; 0 switches them off. */
  rateLimitFactor: number;
  leaseMs: number;
  passivateMs: number;
  /** Seconds after which a session whose device is silent is stopped; 0 for never. */
  autoStopSilence: number;
  /** Over how long a stopping front tells its sockets to go elsewhere. */
  drainMs: number;
  logLevel: string;
  /** Where mail goes; without it letters are written to `mailFolder`, and without that none are sent. */
  smtpUrl: string | undefined;
  mailFrom: string;
  mailFolder: string | undefined;
  /** The page that takes the token of a sign-in link; else the service's own. */
  signInUrl: string | undefined;
  /** Identity providers, as JSON. */
  oauthProviders: string | undefined;
}

export type Role = "front" | "sessions";

type Environment = Readonly<Record<string, string | undefined>>;

/** Collects every problem, so that all are reported at once. */
class Reader {
  readonly problems: string[] = [];
  readonly #env: Environment;

  constructor(env: Environment) {
    this.#env = env;
  }

  optional(name: string): string | undefined {
    return this.#env[name] || undefined;
  }

  text(name: string, fallback?: string): string {
    const value = this.#env[name] || fallback;
    if (value === undefined) this.problems.push(`${name} is not set.`);
    return value ?? "";
  }

  /** The address as it was written. */
  url(name: string, protocols: readonly string[]): string | undefined {
    const text = this.optional(name);
    if (text === undefined || protocols.includes(URL.parse(text)?.protocol ?? "")) return text;
    // Not the text itself: it may hold a password.
    const kinds = protocols.map((protocol) => `${protocol}//…`).join(" or ");
    this.problems.push(`${name} must be an address like ${kinds}.`);
    return undefined;
  }

  number(name: string, fallback: number, low: number, high: number): number {
    const text = this.#env[name];
    if (text === undefined || text === "") return fallback;
    const value = Number(text);
    if (Number.isFinite(value) && value >= low && value <= high) return value;
    this.problems.push(`${name} must be a number from ${low} to ${high}, not "${text}".`);
    return fallback;
  }

  flag(name: string): boolean {
    return ["1", "true", "yes", "on"].includes((this.#env[name] ?? "").toLowerCase());
  }

  list(name: string): string[] {
    return (this.#env[name] ?? "")
      .split(",")
      .map((part) => part.trim())
      .filter((part) => part !== "");
  }
}

function readRoles(reader: Reader): Set<Role> {
  const names = reader.list("ROLES");
  const roles = new Set<Role>();
  for (const name of names.length === 0 ? ["front", "sessions"] : names) {
    if (name === "front" || name === "sessions") roles.add(name);
    else reader.problems.push(`ROLES holds "${name}"; it knows front and sessions.`);
  }
  return roles;
}

function readRpcTls(reader: Reader): Config["rpcTls"] {
  const certFile = reader.optional("RPC_TLS_CERT");
  const keyFile = reader.optional("RPC_TLS_KEY");
  const clientCaFile = reader.optional("RPC_TLS_CLIENT_CA");
  if (certFile !== undefined && keyFile !== undefined) return { certFile, keyFile, clientCaFile };
  if (certFile !== undefined || keyFile !== undefined || clientCaFile !== undefined) {
    reader.problems.push("TLS for gRPC needs both RPC_TLS_CERT and RPC_TLS_KEY.");
  }
  return undefined;
}

/** Throws one error that lists every problem. */
export function readConfig(env: Environment, hostname: string): Config {
  const reader = new Reader(env);
  const config: Config = {
    roles: readRoles(reader),
    nodeName: reader.text("NODE_NAME", hostname),
    host: reader.text("HOST", "127.0.0.1"),
    port: reader.number("PORT", 8080, 0, 65_535),
    opsPort: reader.number("OPS_PORT", 0, 0, 65_535),
    grpcPort: reader.number("GRPC_SESSIONS_PORT", 0, 0, 65_535),
    rpcTls: readRpcTls(reader),
    publicUrl: reader.url("PUBLIC_URL", ["https:", "http:"])?.replace(/\/+$/, ""),
    databaseUrl: reader.text("DATABASE_URL"),
    databasePoolSize: reader.number("DATABASE_POOL_SIZE", 16, 2, 200),
    natsUrl: reader.text("NATS_URL"),
    natsToken: reader.optional("NATS_TOKEN"),
    natsReplicas: reader.number("NATS_REPLICAS", 1, 1, 5),
    workerKey: reader.optional("WORKER_KEY"),
    blobFolder: reader.text("VOICE_BLOB_DIR"),
    keyFolder: reader.text("VOICE_KEY_DIR", env.VOICE_KEYS ? "unused" : undefined),
    keys: reader.optional("VOICE_KEYS"),
    allowedOrigins: reader.list("ALLOWED_ORIGINS"),
    trustProxy: reader.number("TRUST_PROXY", 0, 0, 10),
    webhookAllowPrivate: reader.flag("WEBHOOK_ALLOW_PRIVATE"),
    jsonBytes: reader.number("MAX_JSON_BYTES", 1_048_576, 1_024, 67_108_864),
    uploadBytes: reader.number("MAX_UPLOAD_BYTES", 67_108_864, 1_024, 1_073_741_824),
    rateLimitFactor: reader.number("RATE_LIMIT_FACTOR", 1, 0, 1_000_000),
    leaseMs: reader.number("LEASE_MS", 1_500, 300, 60_000),
    passivateMs: reader.number("PASSIVATE_MS", 120_000, 1_000, 86_400_000),
    autoStopSilence: reader.number("AUTO_STOP_SILENCE", 900, 0, 604_800),
    drainMs: reader.number("DRAIN_MS", 4_000, 0, 12_000),
    logLevel: reader.text("LOG_LEVEL", "info"),
    smtpUrl: reader.url("SMTP_URL", ["smtp:", "smtps:"]),
    mailFrom: reader.text("MAIL_FROM", "Voice <no-reply@localhost>"),
    mailFolder: reader.optional("VOICE_MAIL_DIR"),
    oauthProviders: reader.optional("OAUTH_PROVIDERS"),
    signInUrl: reader.url("SIGN_IN_URL", ["https:", "http:"]),
  };
  if (reader.problems.length > 0) {
    throw new Error(`The configuration is not usable:\n  ${reader.problems.join("\n  ")}`);
  }
  return config;
}
