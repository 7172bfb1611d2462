import { databaseHosts } from "../base/database-address.ts";
import { errorMessage, isAppError } from "../base/errors.ts";
import { newId } from "../base/ids.ts";
import { primaryAddress } from "../postgres/database-servers.ts";
import { migrate } from "../postgres/migrate.ts";
import { createPool } from "../postgres/pool.ts";
import { sqlState, toStoreError } from "../postgres/store-error.ts";
import { isNewAddress } from "../tenancy/accounts/mail-addresses.ts";
import { checkPassword } from "../tenancy/accounts/password-rule.ts";
import { PasswordHasher } from "../tenancy/accounts/passwords.ts";
import { SetupAdminStore } from "../tenancy/accounts/setup-admin-store.ts";
import { WorkspaceStore } from "../tenancy/workspaces/store.ts";
import { readSetupConfig, type SetupConfig } from "./config.ts";

const DEMO_WORKSPACE = "Demo";
/** SQLSTATE: a role may not do it, or does not own it. */
const INSUFFICIENT_PRIVILEGE = "42501";

interface SetupResult {
  migrations: string[];
  admin: Admin;
  /** The administrator's workspace; undefined when this machine knows no administrator. */
  workspaceId: string | undefined;
}

/** The line by which a set-up tells what it did. */
interface SetupLine {
  event: "setup";
  migrations: string[];
  admin_id: string | undefined;
  admin_password: PasswordState;
  admin_password_works: boolean;
  workspace_id: string | undefined;
}

/**
 * State of the password in this machine's settings:
 * - `works`: it is the account's password
 * - `own`: the user has chosen another one since
 * - `replaced`: it was applied once, and then a newer one, for example of another machine
 * - `elsewhere`: it was generated here, but the database's administrator has another one
 * - `disabled`: the account is disabled
 */
type PasswordState = "works" | "own" | "replaced" | "elsewhere" | "disabled";

interface Admin {
  id: string | undefined;
  password: PasswordState;
}

/**
 * Runs before the service starts, and may be repeated: migrates, and creates the first
 * administrator and the workspace "Demo" when they are missing. Throws an error whose message is
 * for a person at a terminal.
 */
export async function setUpDatabase(env: NodeJS.ProcessEnv): Promise<SetupLine> {
  try {
    const { migrations, admin, workspaceId } = await setUp(readSetupConfig(env));
    return {
      event: "setup",
      migrations,
      admin_id: admin.id,
      admin_password: admin.password,
      admin_password_works: admin.password === "works",
      workspace_id: workspaceId,
    };
  } catch (error) {
    throw new Error(explain(error, env), { cause: error });
  }
}

async function setUp(config: SetupConfig): Promise<SetupResult> {
  const { serviceRole } = config;
  const ownerUrl = await primaryAddress(config.ownerUrl);
  const pool = await createPool(ownerUrl, { maximumPoolSize: 1 });
  const first: Omit<SetupResult, "migrations"> = {
    admin: { id: undefined, password: "elsewhere" },
    workspaceId: undefined,
  };
  const seed = async () => {
    first.admin = await ensureAdmin(new SetupAdminStore(pool), config.admin);
    if (first.admin.id === undefined) return;
    first.workspaceId = await ensureWorkspace(new WorkspaceStore(pool), first.admin.id);
  };
  try {
    const { applied: migrations } = await migrate(ownerUrl, { serviceRole, seed });
    return { migrations, ...first };
  } finally {
    await pool.end();
  }
}

/**
 * Creates the administrator. A password that a person set is also given to an account that the
 * set-up created, once: not again after another one was applied, so that machines with different
 * settings do not keep replacing each other's. A generated password is used only to create the
 * first administrator. A password that the user has chosen stays.
 */
async function ensureAdmin(
  admins: SetupAdminStore,
  { email, password, given }: SetupConfig["admin"],
): Promise<Admin> {
  const passwords = new PasswordHasher();
  const known = await admins.find(email);
  if (known === undefined) {
    if (!given && (await admins.any())) return { id: undefined, password: "elsewhere" };
    if (!isNewAddress(email)) throw new Error("ADMIN_EMAIL must be an address of ASCII letters.");
    if (given) await checkGiven(password, email);
    const id = newId();
    await admins.create({ id, email, passwordHash: await passwords.hash(password) });
    return { id, password: "works" };
  }
  const { id, passwordHash, setupHash, formerHashes, disabled } = known;
  const isLast = await passwords.verify(setupHash, password);
  const isFormer = !isLast && (await fitsAny(passwords, formerHashes, password));
  if (given && setupHash !== undefined && !isLast && !isFormer) {
    await checkGiven(password, email);
    await admins.setPassword(id, await passwords.hash(password));
    return { id, password: disabled ? "disabled" : "works" };
  }
  const works = await passwords.verify(passwordHash, password);
  if (works && given && setupHash === undefined && passwordHash !== undefined) {
    await admins.adopt(id, passwordHash);
  }
  if (disabled) return { id, password: "disabled" };
  if (works) return { id, password: "works" };
  return { id, password: isLast ? "own" : isFormer ? "replaced" : given ? "own" : "elsewhere" };
}

/** Judged when it is applied: an installation that has such a password already starts as before. */
async function checkGiven(password: string, email: string): Promise<void> {
  await checkPassword(password, email).catch((error: unknown) => {
    throw new Error(`ADMIN_PASSWORD is refused. ${errorMessage(error)}`, { cause: error });
  });
}

async function fitsAny(
  passwords: PasswordHasher,
  hashes: readonly string[],
  password: string,
): Promise<boolean> {
  for (const hash of hashes) if (await passwords.verify(hash, password)) return true;
  return false;
}

async function ensureWorkspace(workspaces: WorkspaceStore, ownerId: string): Promise<string> {
  const { items } = await workspaces.list(ownerId, { limit: 100 });
  const known = items.find((workspace) => workspace.name === DEMO_WORKSPACE) ?? items.at(-1);
  if (known !== undefined) return known.id;
  const created = await workspaces.insert({
    id: newId(),
    name: DEMO_WORKSPACE,
    preferredLanguage: "en",
    ownerId,
  });
  return created.id;
}

/** Formats an error for a person at a terminal: who refused, and what to do. */
function explain(error: unknown, env: NodeJS.ProcessEnv): string {
  const message = errorMessage(error);
  const state = sqlState(error);
  const address = env.DATABASE_OWNER_URL || env.DATABASE_URL || "";
  const url = URL.parse(databaseHosts(address)[0] ?? "");
  const role = decodeURIComponent(url?.username ?? "");
  if (state === INSUFFICIENT_PRIVILEGE) {
    return `${message}. The role ${role} that DATABASE_OWNER_URL names has to own what it migrates, as an administrator of that PostgreSQL: ALTER SCHEMA public OWNER TO ${role}; or name the owner with DATABASE_OWNER_URL (it is DATABASE_URL when not set).`;
  }
  const isCutOff = state === undefined && isAppError(toStoreError(error), "unavailable");
  if (!isCutOff) return message;
  return `PostgreSQL at ${url?.host} is not reachable (${message}). Is it running, and is the address right?`;
}
