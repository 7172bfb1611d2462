import { PasswordHasher } from "./auth/password-hasher.ts";
import { errorMessage } from "./base/errors.ts";
import { newId } from "./base/ids.ts";
import { readSetupConfig, type SetupConfig } from "./setup-config.ts";
import { migrate } from "./store/migrate.ts";
import { createPool } from "./store/pool.ts";
import { UserStore } from "./store/users.ts";
import { WorkspaceStore } from "./store/workspaces.ts";

const DEMO_WORKSPACE = "Demo";

interface SetupResult {
  migrations: string[];
  adminId: string;
  workspaceId: string;
}

/**
 * Run once before the service starts, and harmless to run again: migrates, and
 * makes the first administrator and the workspace "Demo" when they are missing.
 */
async function setUp(config: SetupConfig): Promise<SetupResult> {
  const { ownerUrl, serviceRole, admin } = config;
  const pool = await createPool(ownerUrl, { maximumPoolSize: 1 });
  const first = { adminId: "", workspaceId: "" };
  const seed = async () => {
    first.adminId = await ensureAdmin(new UserStore(pool), admin);
    first.workspaceId = await ensureWorkspace(new WorkspaceStore(pool), first.adminId);
  };
  try {
    const { applied: migrations } = await migrate(ownerUrl, { serviceRole, seed });
    return { migrations, ...first };
  } finally {
    await pool.end();
  }
}

/** An account that is there already keeps its password and role. */
async function ensureAdmin(
  users: UserStore,
  admin: { email: string; password: string },
): Promise<string> {
  const { email } = admin;
  const known = await users.findByEmail(email);
  if (known !== undefined) return known.id;
  const passwordHash = await new PasswordHasher().hash(admin.password);
  await users.insert({ id: newId(), email, name: "Admin", role: "admin", passwordHash });
  const created = await users.findByEmail(email);
  if (created === undefined) throw new Error("The administrator could not be created.");
  return created.id;
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
  const { migrations, adminId, workspaceId } = await setUp(readSetupConfig(process.env));
  const line = { event: "setup", migrations, admin_id: adminId, workspace_id: workspaceId };
  process.stdout.write(`${JSON.stringify(line)}\n`);
} catch (error) {
  process.stderr.write(`Set-up failed: ${explain(error)}\n`);
  process.exitCode = 1;
}
