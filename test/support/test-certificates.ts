import { writeFileSync } from "node:fs";
import { join } from "node:path";
import {
  type AuthorityPem,
  issueCertificate,
  makeAuthority,
} from "../../deploy/certificates/authority.ts";
import type { Kind, TlsFiles } from "../../src/wire/certificate-kinds.ts";

const HOUR_MS = 3_600_000;

/** An authority of a test and the files that it writes. */
export class TestAuthority {
  readonly #folder: string;
  readonly #authority: AuthorityPem;
  /** PEM file with its certificate. */
  readonly ca: string;

  private constructor(folder: string, name: string, authority: AuthorityPem) {
    this.#folder = folder;
    this.#authority = authority;
    this.ca = join(folder, `${name}.pem`);
    writeFileSync(this.ca, authority.certificate);
  }

  static async make(folder: string, name = "ca"): Promise<TestAuthority> {
    return new TestAuthority(folder, name, await makeAuthority());
  }

  /** Writes the files of a process, again if they are there already. */
  async issue(
    kind: Kind,
    name: string = kind,
    lifeMs = HOUR_MS,
  ): Promise<TlsFiles & { ca: string }> {
    const file = join(this.#folder, `${name}-process.pem`);
    writeFileSync(file, await issueCertificate(this.#authority, { kinds: [kind], name, lifeMs }));
    return { cert: file, key: file, ca: this.ca };
  }
}
