import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type DatabasePool, sql } from "slonik";
import { SYSTEM } from "../../src/access/audit-entry.ts";
import type { UserPrincipal } from "../../src/access/principal.ts";
import type { Background } from "../../src/base/background.ts";
import { newId } from "../../src/base/ids.ts";
import { silentLog } from "../../src/base/log.ts";
import { Stack } from "../../src/base/stack.ts";
import type { FeatureContext } from "../../src/conversations/context.ts";
import { createGuests } from "../../src/conversations/guests/entry.ts";
import { GuestStore } from "../../src/conversations/guests/store.ts";
import { createSessions } from "../../src/conversations/sessions/feature.ts";
import { SessionStore } from "../../src/conversations/sessions/store.ts";
import { createTranscript } from "../../src/conversations/transcript/feature.ts";
import { createPool } from "../../src/postgres/pool.ts";
import type { Route } from "../../src/rest/route.ts";
import { createAuthenticator } from "../../src/roles/accounts.ts";
import { PATIENCE } from "../../src/session/limits.ts";
import type { CredentialAuthenticator } from "../../src/tenancy/accounts/credential-authenticator.ts";
import { createAccounts } from "../../src/tenancy/accounts/feature.ts";
import type { Mail } from "../../src/tenancy/accounts/mail.ts";
import { createMailing } from "../../src/tenancy/accounts/mailing.ts";
import type { OAuthProvider } from "../../src/tenancy/accounts/oauth-providers.ts";
import { type KeyMaterial, loadKeyFolder } from "../../src/tenancy/accounts/signing-keys.ts";
import { createAudit } from "../../src/tenancy/audit/routes.ts";
import { createDevices } from "../../src/tenancy/devices/feature.ts";
import { createWorkspaces } from "../../src/tenancy/workspaces/feature.ts";
import { createInvitations } from "../../src/tenancy/workspaces/invitations/feature.ts";
import { createOwnerNotices } from "../../src/tenancy/workspaces/invitations/owner-notices.ts";
import { WorkspaceStore } from "../../src/tenancy/workspaces/store.ts";
import { createContext, NO_SUGGESTIONS } from "./feature-context.ts";
import { ManualClock } from "./manual-clock.ts";
import { LocalRevocations } from "./memory/local-revocations.ts";
import { createTestDatabase, type TestDatabase } from "./postgres.ts";

export const PASSWORD = "correct horse";

type Accounts = ReturnType<typeof createAccounts>;
type Workspaces = ReturnType<typeof createWorkspaces>;
type Devices = ReturnType<typeof createDevices>;
type Guests = ReturnType<typeof createGuests>;

const STOP_MS = 10_000;

/** Accounts, workspaces and devices over a real database, with their routes on top. */
export class AccountFixture {
  readonly clock: ManualClock;
  readonly revocations = new LocalRevocations();
  readonly pool: DatabasePool;
  readonly keys: KeyMaterial;
  readonly passwords: Accounts["passwords"];
  readonly passwordChanges: Accounts["passwordChanges"];
  readonly users: Accounts["users"];
  readonly logins: Accounts["logins"];
  readonly guests: GuestStore;
  readonly attempts: Accounts["attempts"];
  readonly signIn: Accounts["signIn"];
  readonly guestEntry: Guests["guestEntry"];
  readonly liveTickets: Accounts["liveTickets"];
  /** Mail on its way. */
  readonly background: Background;
  readonly ownersTold: Background;
  readonly workspaces: Workspaces["workspaces"];
  readonly members: Workspaces["members"];
  readonly serviceKeys: Workspaces["serviceKeys"];
  readonly serviceKeyBook: Workspaces["serviceKeyBook"];
  readonly devices: Devices["devices"];
  readonly pairing: Devices["pairing"];
  readonly heartbeats: Devices["heartbeats"];
  readonly authenticator: CredentialAuthenticator;
  /** Filled by a test before its routes are used. */
  readonly providers: OAuthProvider[] = [];
  /** Where clients reach this house. */
  publicUrl = "https://voice.test";
  /** Replaced by a test that wants to see the mail go out. */
  mail: Mail = { send: async () => {} };
  readonly routes: readonly Route[];
  readonly folder: string;
  readonly #stack = new Stack(silentLog);
  readonly #database: TestDatabase;

  private constructor(
    database: TestDatabase,
    pool: DatabasePool,
    keys: KeyMaterial,
    folder: string,
    clock: ManualClock,
  ) {
    this.clock = clock;
    this.#database = database;
    this.pool = pool;
    this.keys = keys;
    this.folder = folder;
    const { cursorKey, pepper, ring, addressKey } = keys;
    const { revocations } = this;
    const context = createContext(pool, { clock, cursorKey, revocations, stack: this.#stack });
    this.authenticator = createAuthenticator(context, ring);
    const { authenticator } = this;
    this.guests = new GuestStore(pool);
    const audit = createAudit(context, { addressKey });
    const { elevations } = audit;
    const mail: Mail = { send: (letter) => this.mail.send(letter) };
    const mailing = createMailing(context, mail);
    const publicUrl = () => this.publicUrl;
    const notices = createOwnerNotices(context, { mail, publicUrl });
    const accounts = createAccounts(context, {
      ring,
      authenticator,
      failures: audit.failures,
      workspaces: new WorkspaceStore(pool),
      guests: this.guests,
      mailing,
      elevations,
      notices,
      providers: this.providers,
      publicUrl,
      allowedOrigins: ["https://page.test"],
      addressKey,
    });
    this.passwords = accounts.passwords;
    this.passwordChanges = accounts.passwordChanges;
    this.users = accounts.users;
    this.logins = accounts.logins;
    this.attempts = accounts.attempts;
    this.signIn = accounts.signIn;
    const { guests } = this;
    const entry = createGuests(context, {
      guests,
      tokens: accounts.tokens,
      directory: new SessionStore(pool),
      elevations,
      authenticator,
      guestsPerSession: 200,
      rateFactor: 1_000_000,
      publicUrl,
    });
    this.guestEntry = entry.guestEntry;
    this.liveTickets = accounts.liveTickets;
    this.background = mailing.background;
    this.ownersTold = notices.background;
    const { attempts } = accounts;
    const invited = createInvitations(context, {
      ...{ attempts, mailing, publicUrl, users: accounts.users, signIn: accounts.signIn },
      ...{ failures: audit.failures, signsUp: true },
    });
    const { invitations, invitationBook } = invited;
    const giving = { invitations, invitationBook, elevations, notices };
    const groups = createWorkspaces(context, giving);
    this.workspaces = groups.workspaces;
    this.members = groups.members;
    this.serviceKeys = groups.serviceKeys;
    this.serviceKeyBook = groups.serviceKeyBook;
    const { workspaces } = groups;
    const devices = createDevices(context, { attempts, authenticator, workspaces, pepper });
    this.devices = devices.devices;
    this.pairing = devices.pairing;
    this.heartbeats = devices.heartbeats;
    this.routes = [
      ...audit.routes,
      ...accounts.routes,
      ...invited.routes,
      ...groups.routes,
      ...devices.routes,
      ...entry.routes,
      ...sessionRoutes(context, { ...giving, ...groups }),
    ];
  }

  static async open(): Promise<AccountFixture> {
    const database = await createTestDatabase();
    const pool = await createPool(database.serviceUrl, { maximumPoolSize: 8 });
    const folder = mkdtempSync(join(tmpdir(), "account-"));
    const clock = new ManualClock(Date.now());
    const keys = await loadKeyFolder(join(folder, "keys"), clock);
    return new AccountFixture(database, pool, keys, folder, clock);
  }

  async close(): Promise<void> {
    await this.#stack.stop(STOP_MS);
    await this.pool.end();
    await this.#database.drop();
    rmSync(this.folder, { recursive: true, force: true });
  }

  /** A user with `PASSWORD`. */
  async addUser(role: UserPrincipal["role"] = "participant", email = `${newId()}@example.org`) {
    const id = newId();
    const passwordHash = await this.passwords.hash(PASSWORD);
    await this.users.insert({ id, email, name: "Somebody", role, passwordHash });
    return { id, email };
  }

  async addWorkspace(ownerId: string): Promise<string> {
    const preferredLanguage = "en";
    const { id } = await this.workspaces.insert({
      id: newId(),
      name: "Team",
      preferredLanguage,
      ownerId,
    });
    return id;
  }

  /** Signs in with `PASSWORD`; an address of its own, so that budgets do not meet. */
  login(email: string, remember = false, password = PASSWORD) {
    return this.signIn.login({ email, password, remember, address: newId() });
  }

  asUser(token: string) {
    return this.authenticator.authenticate({ authorization: `Bearer ${token}` }, ["bearer"]);
  }

  asDevice(key: string) {
    return this.authenticator.authenticate({ "x-api-key": key }, ["device_key"]);
  }

  /** Makes the user a member. */
  async join(workspaceId: string, userId: string): Promise<void> {
    await this.members.add(workspaceId, userId, "member", { by: SYSTEM });
  }

  /** A session of this owner, without audio. */
  async addSession(ownerId: string, workspaceId: string): Promise<string> {
    const id = newId();
    await this.pool.query(sql.unsafe`
      insert into sessions (id, workspace_id, owner_id, job_id, status)
      values (${id}, ${workspaceId}, ${ownerId}, ${newId()}, 'completed')`);
    return id;
  }

  /** Lets a guest in by a session's id or a guest code, from an address of its own. */
  enter(door: string, displayName: string) {
    return this.guestEntry.enter({ door, displayName, address: newId() });
  }

  /** Puts a sign of life of this minute to the same moment by this house's clock: the record has its own. */
  async seenAtItsTime(deviceId: string): Promise<void> {
    await this.heartbeats.flush();
    await this.pool.query(sql.unsafe`
      update devices set last_seen_at = to_timestamp(${this.clock.now() / 1_000})
      where id = ${deviceId} and last_seen_at > now() - interval '1 minute'`);
  }
}

function sessionRoutes(
  context: FeatureContext,
  given: Omit<Parameters<typeof createSessions>[1], "patience" | "suggestions">,
): Route[] {
  const patience = PATIENCE;
  const sessions = createSessions(context, { ...given, patience, suggestions: NO_SUGGESTIONS });
  const notes = async () => [];
  const transcript = createTranscript(context, { ...sessions, patience, notes });
  return [...sessions.routes, ...transcript.routes];
}
