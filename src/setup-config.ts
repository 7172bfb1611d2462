/** What `node src/setup.ts` is told by its environment. */
export interface SetupConfig {
  /** As the role that owns the tables. */
  ownerUrl: string;
  /** The role that serves, when it is another one. */
  serviceRole: string | undefined;
  /** `given`: a person put the password into the settings; else it was made for a first start. */
  admin: { email: string; password: string; given: boolean };
}

/**
 * Reads and checks the environment; throws one error that names every problem.
 *
 * - `DATABASE_OWNER_URL`, else `DATABASE_URL`: where to migrate
 * - `SERVICE_ROLE`: granted reading and writing; else the role of `DATABASE_URL` when that is not
 *   the owner; not needed when one role does all
 * - `ADMIN_EMAIL`, `ADMIN_PASSWORD`: the first administrator; another password later is given to
 *   the account, once, and its logins end
 * - `ADMIN_FIRST_PASSWORD`: instead of `ADMIN_PASSWORD`, for the first administrator only: it
 *   changes no account
 */
export function readSetupConfig(env: Readonly<Record<string, string | undefined>>): SetupConfig {
  const problems: string[] = [];
  const ownerUrl = env.DATABASE_OWNER_URL || env.DATABASE_URL || "";
  if (!isPostgresUrl(ownerUrl)) {
    problems.push("DATABASE_OWNER_URL (or DATABASE_URL) must be a postgres:// address");
  }
  const email = env.ADMIN_EMAIL ?? "";
  if (!/^[^\s@]+@[^\s@]+$/.test(email)) problems.push("ADMIN_EMAIL must be an e-mail address");
  const given = Boolean(env.ADMIN_PASSWORD);
  const password = env.ADMIN_PASSWORD || env.ADMIN_FIRST_PASSWORD || "";
  if (password.length < 8 || Buffer.byteLength(password) > 1_024) {
    problems.push("ADMIN_PASSWORD must have 8 characters or more and at most 1024 bytes");
  }
  if (problems.length > 0) throw new Error(`The settings are not right: ${problems.join("; ")}.`);
  const serviceRole = env.SERVICE_ROLE || otherRole(ownerUrl, env.DATABASE_URL);
  return { ownerUrl, serviceRole, admin: { email, password, given } };
}

function otherRole(ownerUrl: string, serviceUrl: string | undefined): string | undefined {
  const service = roleOf(serviceUrl ?? "");
  return service === roleOf(ownerUrl) ? undefined : service;
}

function roleOf(text: string): string | undefined {
  const role = URL.parse(text)?.username ?? "";
  return role === "" ? undefined : decodeURIComponent(role);
}

function isPostgresUrl(text: string): boolean {
  const url = URL.parse(text);
  return url !== null && /^postgres(ql)?:$/.test(url.protocol);
}
