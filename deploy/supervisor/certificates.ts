import { chmodSync, mkdirSync, readFileSync } from "node:fs";
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
const LOOK_MS = 60_000;

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
    certificates.#timer = setInterval(() => certificates.#renewInTime(), LOOK_MS);
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
    for (const name of layout.nats) await this.#issue(name, ["nats"], users?.nats);
    for (const { name, roles } of layout.services) {
      if (roles === "worker") await this.#issue(name, ["worker"], users?.worker);
      else await this.#issue(name, ["main"], users?.service);
    }
    // The supervisor asks nats-servers how they are, and nobody else.
    await this.#issue("supervisor", []);
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

function caOf(folder: string): string {
  return join(folder, "authority.pem");
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
