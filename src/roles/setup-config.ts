import { databaseHosts } from "../base/database-address.ts";
import { type Environment, SettingsReader } from "../base/settings.ts";

/** What `node src/setup.ts` is told by its environment. */
export interface SetupConfig {
  /** As the role that owns the tables. */
  ownerUrl: string;
  /** The role that serves, when it is another one. */
  serviceRole: string | undefined;
  /** `given`: a person put the password into the settings; else it was made for a first start. */
  admin: { email: string; password: string; given: boolean };
}

const LONGEST_PASSWORD_BYTES = 1_024;

/** Reads and checks the environment; throws one error that names every problem. */
export function readSetupConfig(env: Environment): SetupConfig {
  const reader = new SettingsReader(env);
  const url = reader.get("DATABASE_URL");
  const ownerUrl = reader.get("DATABASE_OWNER_URL") ?? url ?? "";
  if (!reader.has("DATABASE_OWNER_URL") && !reader.has("DATABASE_URL")) {
    reader.problems.push("DATABASE_OWNER_URL (or DATABASE_URL) is not set.");
  }
  const admin = readAdmin(reader);
  const serviceRole = reader.get("SERVICE_ROLE") ?? otherRole(ownerUrl, url);
  reader.finish();
  return { ownerUrl, serviceRole, admin };
}

function readAdmin(reader: SettingsReader): SetupConfig["admin"] {
  const email = reader.need("ADMIN_EMAIL");
  if (email !== "" && !/^[^\s@]+@[^\s@]+$/.test(email)) {
    reader.problems.push(`ADMIN_EMAIL must be an e-mail address, not "${email}".`);
  }
  const given = reader.has("ADMIN_PASSWORD");
  const first = reader.get("ADMIN_FIRST_PASSWORD");
  const password = given || first === undefined ? reader.need("ADMIN_PASSWORD") : first;
  if (Buffer.byteLength(password) > LONGEST_PASSWORD_BYTES) {
    reader.problems.push(`ADMIN_PASSWORD must have at most ${LONGEST_PASSWORD_BYTES} bytes.`);
  }
  return { email, password, given };
}

function otherRole(ownerUrl: string, serviceUrl: string | undefined): string | undefined {
  const service = roleOf(serviceUrl ?? "");
  return service === roleOf(ownerUrl) ? undefined : service;
}

function roleOf(text: string): string | undefined {
  const role = URL.parse(databaseHosts(text)[0] ?? "")?.username ?? "";
  return role === "" ? undefined : decodeURIComponent(role);
}
