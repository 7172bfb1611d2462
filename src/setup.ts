import { PasswordHasher } from "./auth/password-hasher.ts";
import { errorMessage } from "./base/errors.ts";
import { newId } from "./base/ids.ts";
import { readSetupConfig, type SetupConfig } from "./setup-config.ts";
import { migrate } from "./store/migrate.ts";
import { createPool } from "./store/pool.ts";
import { SetupAdminStore } from "./store/setup-admin.ts";
import { WorkspaceStore } from "./store/workspaces.ts";

const DEMO_WORKSPACE = "Demo";

interface SetupResult {
  migrations: string[];
  adminId: string;
  adminPasswordWorks: boolean;
  workspaceId: string;
}

/**
 * Run once before the service starts, and harmless to run again: migrates, and
 * makes the first administrator and the workspace "Demo" when they are missing.
 */
async function setUp(config: SetupConfig): Promise<SetupResult> {
  const { ownerUrl, serviceRole, admin } = config;
  const pool = await createPool(ownerUrl, { maximumPoolSize: 1 });
  const first = { adminId: "", adminPasswordWorks: false, workspaceId: "" };
  const seed = async () => {
    const { id, passwordWorks } = await ensureAdmin(new SetupAdminStore(pool), admin);
    first.adminId = id;
    first.adminPasswordWorks = passwordWorks;
    first.workspaceId = await ensureWorkspace(new WorkspaceStore(pool), first.adminId);
  };
  try {
    const { applied: migrations } = await migrate(ownerUrl, { serviceRole, seed });
    return { migrations, ...first };
  } finally {
    await pool.end();
  }
}

interface Admin {
  id: string;
  /** The password of the settings is the account's. */
  passwordWorks: boolean;
}

/**
 * Makes the administrator, or gives it the password of the settings when that
 * is another than the set-up gave it last. A password that its user has chosen
 * since stays, and so does one of an account that the set-up did not make.
 */
async function ensureAdmin(
  admins: SetupAdminStore,
  { email, password }: { email: string; password: string },
): Promise<Admin> {
  const passwords = new PasswordHasher();
  const known = await admins.find(email);
  if (known === undefined) {
    const id = newId();
    await admins.create({ id, email, passwordHash: await passwords.hash(password) });
    return { id, passwordWorks: true };
  }
  const { id, passwordHash, setupPasswordHash, disabled } = known;
  if (setupPasswordHash !== undefined && !(await passwords.verify(setupPasswordHash, password))) {
    await admins.setPassword(id, await passwords.hash(password));
    return { id, passwordWorks: !disabled };
  }
  const works = await passwords.verify(passwordHash, password);
  if (works && setupPasswordHash === undefined && passwordHash !== undefined) {
    await admins.adopt(id, passwordHash);
  }
  return { id, passwordWorks: works && !disabled };
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

/** A person reads this in a terminal, so a refused connection says to where. */
function explain(error: unknown): string {
  const message = errorMessage(error);
  if (!/ECONNREFUSED|ENOTFOUND|ETIMEDOUT|EAI_AGAIN|timeout expired/.test(message)) return message;
  const host = URL.parse(process.env.DATABASE_OWNER_URL || process.env.DATABASE_URL || "")?.host;
  return `PostgreSQL at ${host} is not reachable (${message}). Is it running, and is the address right?`;
}

try {
  const done = await setUp(readSetupConfig(process.env));
  const line = {
    event: "setup",
    migrations: done.migrations,
    admin_id: done.adminId,
    admin_password_works: done.adminPasswordWorks,
    workspace_id: done.workspaceId,
  };
  process.stdout.write(`${JSON.stringify(line)}\n`);
} catch (error) {
  process.stderr.write(`Set-up failed: ${explain(error)}\n`);
  process.exitCode = 1;
}
