import { hostname } from "node:os";
import type { DataFolder } from "./data-folder.ts";
import { ownerMarks } from "./leftovers.ts";
import type { Secrets } from "./secrets.ts";

/** Where the servers are. */
export interface Addresses {
  readonly databaseUrl: string;
  readonly databaseOwnerUrl: string;
  readonly natsUrl: string;
  readonly natsToken: string | undefined;
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

const PASSWORDS = ["ADMIN_PASSWORD", "ADMIN_FIRST_PASSWORD"];

/** The environment of each part: what it needs, and no password that it has no use for. */
export class Environments {
  readonly #base: NodeJS.ProcessEnv;
  /** Settings that hold passwords of others, for the main process only. */
  readonly #accounts: NodeJS.ProcessEnv = {};
  readonly #data: DataFolder;

  constructor(env: NodeJS.ProcessEnv, data: DataFolder) {
    this.#data = data;
    this.#base = { ...env, ...ownerMarks(data.owner) };
    for (const name of ["DATABASE_URL", "DATABASE_OWNER_URL", "NATS_TOKEN", ...PASSWORDS]) {
      delete this.#base[name];
    }
    for (const name of ["SMTP_URL", "OAUTH_PROVIDERS"]) {
      const value = this.#base[name];
      if (value !== undefined) this.#accounts[name] = value;
      delete this.#base[name];
    }
  }

  server(): NodeJS.ProcessEnv {
    return this.#base;
  }

  setup(at: Addresses, admin: FirstLogin): NodeJS.ProcessEnv {
    return {
      ...this.#service(at),
      DATABASE_OWNER_URL: at.databaseOwnerUrl,
      ADMIN_EMAIL: admin.email,
      [admin.given ? "ADMIN_PASSWORD" : "ADMIN_FIRST_PASSWORD"]: admin.password,
    };
  }

  /** Of a process of src/main.ts; `suffix` tells those of one machine apart. */
  main(at: Addresses, listening: Listening, roles: string, suffix = ""): NodeJS.ProcessEnv {
    return {
      ...this.#service(at),
      ROLES: roles,
      NODE_NAME: `${this.#node}${suffix}`,
      PORT: String(listening.port),
      OPS_PORT: String(listening.opsPort),
      GRPC_SESSIONS_PORT: String(listening.grpcSessionsPort),
    };
  }

  #service(at: Addresses): NodeJS.ProcessEnv {
    return {
      ...this.#base,
      ...this.#accounts,
      ...this.#nats(at),
      DATABASE_URL: at.databaseUrl,
      // A stop of everything has ten seconds, and there is nobody to wait for.
      DRAIN_MS: this.#base.DRAIN_MS ?? "500",
      VOICE_BLOB_DIR: this.#base.VOICE_BLOB_DIR ?? this.#data.file("blobs"),
      VOICE_MAIL_DIR: this.#base.VOICE_MAIL_DIR ?? this.#data.file("mail"),
      VOICE_KEY_DIR: this.#base.VOICE_KEY_DIR ?? this.#data.file("keys"),
    };
  }

  worker(at: Addresses, port: number, opsPort: number, name: string): NodeJS.ProcessEnv {
    return {
      ...this.#base,
      ...this.#nats(at),
      NODE_NAME: this.#node,
      WORKER_PORT: String(port),
      // Of two with one name only the one that was heard last would get work.
      WORKER_ID:
        (name === "worker" ? this.#base.WORKER_ID : undefined) ?? `${this.#node}-${name}-${port}`,
      WORKER_OPS_PORT:
        (name === "worker" ? this.#base.WORKER_OPS_PORT : undefined) ?? String(opsPort),
      // With more, what a recycled thread's decoders held stays with the process.
      MALLOC_ARENA_MAX: this.#base.MALLOC_ARENA_MAX ?? "1",
    };
  }

  demo(admin: Required<AdminLogin>): NodeJS.ProcessEnv {
    return { ...this.#base, VOICE_EMAIL: admin.email, VOICE_PASSWORD: admin.password };
  }

  #nats(at: Addresses): NodeJS.ProcessEnv {
    return {
      NATS_URL: at.natsUrl,
      ...(at.natsToken ? { NATS_TOKEN: at.natsToken } : {}),
    };
  }

  get #node(): string {
    return this.#base.NODE_NAME ?? hostname();
  }
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
