import { chmodSync, mkdirSync, readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import type { Kind, TlsFiles } from "../../src/wire/certificate-kinds.ts";
import { type AuthorityPem, issueCertificate, makeAuthority } from "../certificates/authority.ts";
import { StepError } from "../setup/step-error.mjs";
import type { Layout } from "./layout.ts";
import type { UnprivilegedUser } from "./postgres/unprivileged-user.ts";
import type { ServiceUsers } from "./service-users.ts";
import { writeAtomically } from "./write-atomically.ts";

const HOUR_MS = 3_600_000;
/** What was copied from here is of use for a day at most. */
const LIFE_MS = 24 * HOUR_MS;
const RENEWED_MS = 8 * HOUR_MS;
/** By the clock on the wall and not by one timer: a laptop may have slept. */
const POLL_MS = 60_000;
/** How often the files that a person gave are looked at. */
const LOOK_AT_GIVEN_MS = 10_000;

/** The files of each part, by its name. */
export type TlsOf = (part: string) => TlsFiles | undefined;

interface CertificatesOptions {
  folder: string;
  layout: Layout;
  /** As whom the parts run, who alone may read their own files. */
  users: ServiceUsers | undefined;
  /** Called after new ones lie in the folder, for those who do not look by themselves. */
  onRenewed(): void;
}

/**
 * The certificates of this machine's parts, made by an authority of this installation and renewed
 * long before they end. The authority's key stays in the data folder, for its owner alone.
 */
export class Certificates {
  readonly #options: CertificatesOptions;
  readonly #authority: AuthorityPem;
  #madeAt = 0;
  #timer: NodeJS.Timeout | undefined;

  private constructor(options: CertificatesOptions, authority: AuthorityPem) {
    this.#options = options;
    this.#authority = authority;
  }

  static async open(options: CertificatesOptions): Promise<Certificates> {
    mkdirSync(options.folder, { recursive: true, mode: 0o700 });
    // Root's, and only passed through by the users of the parts.
    if (options.users !== undefined) chmodSync(options.folder, 0o711);
    const certificates = new Certificates(options, await loadAuthority(options.folder));
    await certificates.renew();
    certificates.#timer = setInterval(() => certificates.#renewInTime(), POLL_MS);
    certificates.#timer.unref();
    return certificates;
  }

  /** Certificate and key in one file, so that whoever reads it gets both of one time. */
  filesOf(part: string): TlsFiles & { ca: string } {
    const file = join(this.#options.folder, `${part}.pem`);
    return { cert: file, key: file, ca: caOf(this.#options.folder) };
  }

  async renew(): Promise<void> {
    const { layout, users, onRenewed } = this.#options;
    this.#madeAt = Date.now();
    for (const { name, kinds, user } of holdersOf(layout, users)) {
      await this.#issue(name, kinds, user);
    }
    onRenewed();
  }

  stop(): void {
    clearInterval(this.#timer);
  }

  async #issue(name: string, kinds: readonly Kind[], user?: UnprivilegedUser): Promise<void> {
    const wanted = { name, kinds, lifeMs: LIFE_MS };
    const pem = await issueCertificate(this.#authority, wanted);
    writeAtomically(this.filesOf(name).cert, pem, 0o600, user);
  }

  #renewInTime(): void {
    if (Date.now() - this.#madeAt < RENEWED_MS) return;
    // What does not succeed (a full disk, say) is tried again at the next look, for 16 hours.
    this.renew().catch(() => {
      this.#madeAt = 0;
    });
  }
}

interface Holder {
  readonly name: string;
  readonly kinds: readonly Kind[];
  /** As whom it runs, when that is not who we are. */
  readonly user: UnprivilegedUser | undefined;
}

function holdersOf(layout: Layout, users: ServiceUsers | undefined): Holder[] {
  return [
    ...layout.nats.map((name): Holder => ({ name, kinds: ["nats"], user: users?.nats })),
    ...layout.services.map(({ name, roles }): Holder => {
      if (roles === "worker") return { name, kinds: ["worker"], user: users?.worker };
      return { name, kinds: ["main"], user: users?.service };
    }),
    // The supervisor asks nats-servers how they are, and nobody else.
    { name: "supervisor", kinds: [], user: undefined },
  ];
}

function caOf(folder: string): string {
  return join(folder, "authority.pem");
}

interface TlsOptions extends CertificatesOptions {
  env: NodeJS.ProcessEnv;
  /** Whether our own authority makes certificates where nobody gives any. */
  ownAuthority: boolean;
  /** How often the files that a person gave are looked at, milliseconds. */
  lookMs?: number;
}

/** The files that a person gave, for all parts; else those of our own authority, if any. */
export async function prepareTls(options: TlsOptions): Promise<{ tlsOf: TlsOf; end: () => void }> {
  const { env, ownAuthority, lookMs = LOOK_AT_GIVEN_MS } = options;
  const { TLS_CA: ca, TLS_CERT: cert, TLS_KEY: key } = env;
  if (ca && cert) {
    const given = { ca, cert, key: key || cert };
    const { tlsOf, renew } = givenFiles(given, options);
    return { tlsOf, end: followFiles(Object.values(given), renew, lookMs) };
  }
  if (!ownAuthority) return { tlsOf: () => undefined, end: () => undefined };
  const certificates = await Certificates.open(options);
  return { tlsOf: (part) => certificates.filesOf(part), end: () => certificates.stop() };
}

/**
 * The files that a person gave. Where the parts run as other users than we do, each gets a copy that
 * it may read and no other part may, which `renew` makes again. Throws when they cannot be read.
 */
function givenFiles(
  given: TlsFiles & { ca: string },
  { folder, layout, users, onRenewed }: CertificatesOptions,
): { tlsOf: TlsOf; renew: () => void } {
  if (users === undefined) return { tlsOf: () => given, renew: onRenewed };
  const place = join(folder, "given");
  const fileOf = (part: string) => join(place, `${part}.pem`);
  const copy = () => {
    const [ca, cert, key] = [given.ca, given.cert, given.key].map((file) =>
      readGiven(file, "TLS_CA, TLS_CERT and TLS_KEY"),
    );
    const pem = given.key === given.cert ? `${cert}` : `${key}\n${cert}`;
    for (const { name, user } of holdersOf(layout, users)) {
      writeAtomically(fileOf(name), pem, 0o600, user);
    }
    writeAtomically(caOf(place), `${ca}`, 0o644);
  };
  openFolder(folder);
  copy();
  const renew = unlessUnreadable(() => {
    copy();
    onRenewed();
  });
  const tlsOf = (part: string) => {
    return { cert: fileOf(part), key: fileOf(part), ca: caOf(place) };
  };
  return { tlsOf, renew };
}

/** Settings of the gRPC port for others that name a file. */
const RPC_FILES = ["RPC_TLS_CERT", "RPC_TLS_KEY", "RPC_TLS_CLIENT_CA"] as const;

/**
 * The files of the gRPC port for others, as settings. Where the main processes run as another user
 * than we do, the settings name copies for that user alone, which follow the files that a person
 * gave. Throws when one cannot be read.
 */
export function prepareRpcTls({
  env,
  folder,
  users,
  lookMs = LOOK_AT_GIVEN_MS,
}: Omit<TlsOptions, "ownAuthority" | "layout" | "onRenewed">): {
  settings: Readonly<Record<string, string>>;
  end: () => void;
} {
  const given = RPC_FILES.flatMap((setting) => {
    const file = env[setting];
    return file ? [{ setting, file, copy: join(folder, "given", `${setting}.pem`) }] : [];
  });
  if (users === undefined || given.length === 0) return { settings: {}, end: () => undefined };
  openFolder(folder);
  const renew = () => {
    for (const { file, copy, setting } of given) {
      writeAtomically(copy, readGiven(file, setting), 0o600, users.service);
    }
  };
  renew();
  const files = given.map(({ file }) => file);
  return {
    settings: Object.fromEntries(given.map(({ setting, copy }) => [setting, copy])),
    end: followFiles(files, unlessUnreadable(renew), lookMs),
  };
}

/** Makes the folder of copies, which the users of the parts only pass through. */
function openFolder(folder: string): void {
  const place = join(folder, "given");
  mkdirSync(place, { recursive: true });
  for (const each of [folder, place]) chmodSync(each, 0o711);
}

/** The old copies go on until all of the new files can be read. */
function unlessUnreadable(renew: () => void): () => void {
  return () => {
    try {
      renew();
    } catch (error) {
      if (!(error instanceof StepError)) throw error;
    }
  };
}

function readGiven(file: string, settings: string): string {
  try {
    return readFileSync(file, "utf8");
  } catch {
    throw new StepError(
      `the certificate or key ${file} cannot be read`,
      `look at ${settings}, and at who may read the files`,
    );
  }
}

/**
 * Calls back after one of these files has changed, for a server that does not look by itself. By
 * looking, so that files that are mounted, or put in place by a link, are followed too. Returns what
 * ends it.
 */
function followFiles(files: readonly string[], act: () => void, everyMs: number): () => void {
  let known = stateOf(files);
  const timer = setInterval(() => {
    const now = stateOf(files);
    if (now === known) return;
    known = now;
    act();
  }, everyMs);
  timer.unref();
  return () => clearInterval(timer);
}

/** Differs when one of the files was written or replaced. */
function stateOf(files: readonly string[]): string {
  const states = files.map((file) => {
    try {
      const { ino, mtimeNs, size } = statSync(file, { bigint: true });
      return `${ino} ${mtimeNs} ${size}`;
    } catch {
      return "away";
    }
  });
  return states.join();
}

/** The authority in the folder, made when there is none. */
export async function loadAuthority(folder: string): Promise<AuthorityPem> {
  const keyFile = join(folder, "authority.key");
  try {
    return {
      certificate: readFileSync(caOf(folder), "utf8"),
      key: readFileSync(keyFile, "utf8"),
    };
  } catch (error) {
    const isNew = error instanceof Error && "code" in error && error.code === "ENOENT";
    if (!isNew) throw new StepError(`${folder} cannot be read`, "give it back to its owner");
  }
  const authority = await makeAuthority();
  writeAtomically(keyFile, authority.key);
  writeAtomically(caOf(folder), authority.certificate, 0o644);
  return authority;
}
