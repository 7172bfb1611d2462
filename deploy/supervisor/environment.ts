import { hostname } from "node:os";
import { SETTINGS, type SettingReader } from "../../src/base/settings-table.ts";
import type { TlsOf } from "./certificates.ts";
import type { DataFolder } from "./data-folder.ts";
import type { MainSpec } from "./layout.ts";
import { ownerMarks } from "./leftovers.ts";
import type { Secrets } from "./secrets.ts";

/** Where the servers are, and with which secrets they are reached. */
export interface Addresses {
  readonly databaseUrl: string;
  readonly databaseOwnerUrl: string;
  readonly natsUrl: string;
  readonly natsToken: string | undefined;
  /** Users of NATS by the part that is one. */
  readonly natsLogins?: ReadonlyMap<string, { user: string; password: string }>;
  /** Files of each part for TLS. */
  readonly tlsOf?: TlsOf;
  /** Settings that name the files of the gRPC port for others, where they are copies. */
  readonly rpcTls?: Readonly<Record<string, string>>;
  /** What workers want to see. */
  readonly workerKey: string;
  /** Copies that NATS keeps of streams and leases; the default of the service when absent. */
}

/** Where one process listens. A worker has no more than its own port. */
export interface Listening {
  /** REST and WebSockets, or a worker's gRPC. */
  readonly port: number;
  readonly opsPort: number;
  readonly grpcSessionsPort: number;
}

export interface AdminLogin {
  readonly email: string;
  /** Absent when it is not the account's. */
  readonly password?: string;
}

/** With what this machine tries to make the first administrator. */
export interface FirstLogin {
  readonly email: string;
  readonly password: string;
  /** By a person, in the settings; else made at the first start. */
  readonly given: boolean;
}

/** What a program of any kind needs of its surroundings. Never anything that may hold a secret. */
const EVERYBODY = [
  ...["PATH", "HOME", "TMPDIR", "TZ", "TZDIR", "LANG", "LANGUAGE"],
  // The operator's choice of libraries and of an allocator.
  ...["LD_LIBRARY_PATH", "LD_PRELOAD", "GLIBC_TUNABLES", "MALLOC_ARENA_MAX"],
];

/** What Node itself reads: its options, and whose certificates it believes. */
const NODE = [
  ...["NODE_OPTIONS", "NODE_EXTRA_CA_CERTS", "SSL_CERT_FILE", "SSL_CERT_DIR"],
  "UV_THREADPOOL_SIZE",
];

/** What the AWS SDK reads, of processes that keep audio in a bucket. */
const AWS = [
  ...["AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY", "AWS_SESSION_TOKEN"],
  ...["AWS_REGION", "AWS_DEFAULT_REGION", "AWS_PROFILE", "AWS_CONFIG_FILE"],
  ...["AWS_SHARED_CREDENTIALS_FILE", "AWS_ROLE_ARN", "AWS_ROLE_SESSION_NAME"],
  ...["AWS_WEB_IDENTITY_TOKEN_FILE", "AWS_CONTAINER_CREDENTIALS_RELATIVE_URI"],
  ...["AWS_CONTAINER_CREDENTIALS_FULL_URI", "AWS_CONTAINER_AUTHORIZATION_TOKEN_FILE"],
  ...["AWS_EC2_METADATA_DISABLED", "AWS_CA_BUNDLE"],
];

/** What a command in a terminal reads besides. */
const TERMINAL = ["TERM", "COLORTERM", "CI", "NO_COLOR", "FORCE_COLOR", "XDG_CONFIG_HOME"];

/**
 * The environment of each part: what a program needs of its surroundings, the settings that the
 * table says it reads, and what the supervisor tells it. Nothing else of the supervisor's own
 * environment gets through, so that a secret reaches only who reads it.
 */
export class Environments {
  readonly #env: NodeJS.ProcessEnv;
  readonly #data: DataFolder;
  /** Variables that the programs read besides the settings. */
  readonly #alsoRead: readonly string[];

  constructor(env: NodeJS.ProcessEnv, data: DataFolder, alsoRead: readonly string[] = []) {
    this.#env = env;
    this.#data = data;
    this.#alsoRead = alsoRead;
  }

  /** Of PostgreSQL and nats-server, which are told everything by arguments and files. */
  server(): NodeJS.ProcessEnv {
    return { ...surroundings(this.#env), ...ownerMarks(this.#data.owner) };
  }

  setup(at: Addresses, admin: FirstLogin): NodeJS.ProcessEnv {
    return {
      ...this.#node(["setup"]),
      DATABASE_URL: at.databaseUrl,
      DATABASE_OWNER_URL: at.databaseOwnerUrl,
      ADMIN_EMAIL: admin.email,
      ADMIN_PASSWORD: admin.given ? admin.password : undefined,
      ADMIN_FIRST_PASSWORD: admin.given ? undefined : admin.password,
    };
  }

  /** Of a process of src/main.ts; `suffix` tells those of one machine apart. */
  main(
    at: Addresses,
    listening: Listening,
    roles: MainSpec["roles"],
    suffix = "",
  ): NodeJS.ProcessEnv {
    const readers: readonly SettingReader[] = roles === "front,sessions" ? BOTH : ["main", roles];
    return {
      ...this.#node(readers),
      ...(this.#env.AUDIO_STORE || this.#env.AUDIO_MOVE_FROM ? pick(this.#env, AWS) : {}),
      ...insideOf(at, suffix === "" ? "main" : suffix.slice(1)),
      ...at.rpcTls,
      WORKER_KEY: at.workerKey,
      DATABASE_URL: at.databaseUrl,
      ROLES: roles,
      // Flushes of audio take up to eight of Node's threads, and leave it four for all else.
      UV_THREADPOOL_SIZE: this.#env.UV_THREADPOOL_SIZE || "12",
      NODE_NAME: `${this.#nodeName}${suffix}`,
      ...(readers.includes("front") ? { PORT: String(listening.port) } : {}),
      OPS_PORT: String(listening.opsPort),
      GRPC_SESSIONS_PORT: String(listening.grpcSessionsPort),
      VOICE_BLOB_DIR: this.#env.VOICE_BLOB_DIR || this.#data.file("blobs"),
      VOICE_KEY_DIR: this.#env.VOICE_KEY_DIR || this.#data.file("keys"),
      ...(readers.includes("front") ? this.#front() : {}),
    };
  }

  #front(): NodeJS.ProcessEnv {
    return {
      // A stop of everything has ten seconds, and there is nobody to wait for.
      DRAIN_MS: this.#env.DRAIN_MS || "500",
      VOICE_MAIL_DIR: this.#env.VOICE_MAIL_DIR || this.#data.file("mail"),
    };
  }

  worker(at: Addresses, port: number, opsPort: number, name: string): NodeJS.ProcessEnv {
    const { WORKER_ID: id, WORKER_OPS_PORT: ops, MALLOC_ARENA_MAX: arenas } = this.#env;
    const isOnly = name === "worker";
    return {
      ...this.#node(["worker"]),
      ...insideOf(at, name),
      WORKER_KEY: at.workerKey,
      WORKER_PORT: String(port),
      // Of two with one name only the one that was heard last would get work.
      WORKER_ID: (isOnly && id) || `${this.#nodeName}-${name}-${port}`,
      WORKER_OPS_PORT: (isOnly && ops) || String(opsPort),
      // With more, what a recycled thread's decoders held stays with the process.
      MALLOC_ARENA_MAX: arenas || "1",
    };
  }

  demo(admin: Required<AdminLogin>): NodeJS.ProcessEnv {
    return {
      ...this.#node([]),
      ...pick(this.#env, TERMINAL),
      VOICE_EMAIL: admin.email,
      VOICE_PASSWORD: admin.password,
      // Root's own folder is not for the user that the demo runs as.
      ...(process.getuid?.() === 0 ? { XDG_CONFIG_HOME: this.#data.file("demo") } : {}),
    };
  }

  /** Of a program on Node: with the settings of these readers. */
  #node(readers: readonly SettingReader[]): NodeJS.ProcessEnv {
    return {
      ...this.server(),
      ...pick(this.#env, [...NODE, ...this.#alsoRead, ...settingsOf(readers)]),
    };
  }

  get #nodeName(): string {
    return this.#env.NODE_NAME || hostname();
  }
}

const BOTH: readonly SettingReader[] = ["main", "front", "sessions"];

/** What any program is given of this environment, whatever it is. */
export function surroundings(env: NodeJS.ProcessEnv): NodeJS.ProcessEnv {
  const locale = Object.keys(env).filter((name) => name.startsWith("LC_"));
  return pick(env, [...EVERYBODY, ...locale]);
}

function settingsOf(readers: readonly SettingReader[]): string[] {
  return Object.entries(SETTINGS)
    .filter(([, setting]) => setting.readers.some((reader) => readers.includes(reader)))
    .map(([name]) => name);
}

function pick(env: NodeJS.ProcessEnv, names: readonly string[]): NodeJS.ProcessEnv {
  return Object.fromEntries(
    names.flatMap((name) => (env[name] === undefined ? [] : [[name, env[name]]])),
  );
}

function insideOf(at: Addresses, part: string): NodeJS.ProcessEnv {
  const { natsUrl, natsToken, natsLogins, tlsOf } = at;
  const tls = tlsOf?.(part);
  const login = natsLogins?.get(part);
  return {
    NATS_URL: natsUrl,
    NATS_TOKEN: natsToken,
    ...(login && { NATS_USER: login.user, NATS_PASSWORD: login.password }),
    ...(tls && { TLS_CA: tls.ca, TLS_CERT: tls.cert, TLS_KEY: tls.key }),
  };
}

/** The first admin: from the environment, or with the password made at the first start. */
export function adminLogin(env: NodeJS.ProcessEnv, secrets: Secrets): FirstLogin {
  const given = Boolean(env.ADMIN_PASSWORD);
  return {
    email: env.ADMIN_EMAIL || "admin@voice.local",
    password: env.ADMIN_PASSWORD || secrets.adminPassword,
    given,
  };
}

/** The login as it may be shown, and a sentence in place of a password that does not work. */
export interface ToldLogin {
  readonly login: AdminLogin;
  readonly sentence: string | undefined;
  /** False when nothing says that the database has an account of this address. */
  readonly isKnown: boolean;
}

const SENTENCES: Readonly<Record<string, string>> = {
  own: "with your own password",
  replaced: "ADMIN_PASSWORD was replaced since it was applied: with the newer password",
  disabled: "this account is disabled",
  elsewhere:
    "with an account of this database: it has an administrator, so no password was made here. For a new one: ADMIN_EMAIL=… ADMIN_PASSWORD=… npm run up",
};

export function toldLogin({ email, password }: FirstLogin, setupOutput: string): ToldLogin {
  const [, state = "works"] = /"admin_password":\s*"(\w+)"/.exec(setupOutput) ?? [];
  if (state === "works") return { login: { email, password }, sentence: undefined, isKnown: true };
  return { login: { email }, sentence: SENTENCES[state], isKnown: state !== "elsewhere" };
}
