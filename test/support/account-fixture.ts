import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type DatabasePool, sql } from "slonik";
import type { UserPrincipal } from "../../src/access/principal.ts";
import { Background } from "../../src/base/background.ts";
import { newId } from "../../src/base/ids.ts";
import { silentLog } from "../../src/base/log.ts";
import { AttemptStore } from "../../src/features/accounts/attempts-store.ts";
import { CredentialAuthenticator } from "../../src/features/accounts/credential-authenticator.ts";
import { GuestEntry, guestRoutes } from "../../src/features/accounts/guests.ts";
import { GuestStore } from "../../src/features/accounts/guests-store.ts";
import { LiveTickets, liveTicketRoutes } from "../../src/features/accounts/live-tickets.ts";
import { TicketStore } from "../../src/features/accounts/live-tickets-store.ts";
import { MagicLinks, magicLinkRoutes } from "../../src/features/accounts/magic-links.ts";
import { MagicLinkStore } from "../../src/features/accounts/magic-links-store.ts";
import type { Mail } from "../../src/features/accounts/mail.ts";
import { OAuthSignIn } from "../../src/features/accounts/oauth.ts";
import type { OAuthProvider } from "../../src/features/accounts/oauth-providers.ts";
import { oauthRoutes } from "../../src/features/accounts/oauth-routes.ts";
import { OAuthStore } from "../../src/features/accounts/oauth-store.ts";
import {
  PasswordChanges,
  PasswordHasher,
  passwordRoutes,
} from "../../src/features/accounts/passwords.ts";
import { PasswordStore } from "../../src/features/accounts/passwords-store.ts";
import { SignIn } from "../../src/features/accounts/sign-in.ts";
import { authRoutes } from "../../src/features/accounts/sign-in-routes.ts";
import { LoginStore } from "../../src/features/accounts/sign-in-store.ts";
import { type KeyMaterial, loadKeyFolder } from "../../src/features/accounts/signing-keys.ts";
import { Tokens } from "../../src/features/accounts/tokens.ts";
import {
  userAccessRoutes,
  userEditRoutes,
  userRoutes,
} from "../../src/features/accounts/users-routes.ts";
import { UserStore } from "../../src/features/accounts/users-store.ts";
import { AuditStore } from "../../src/features/audit/audit-store.ts";
import { heartbeatRoutes } from "../../src/features/devices/heartbeat-routes.ts";
import { HeartbeatWriter } from "../../src/features/devices/heartbeats.ts";
import { PostgresHeartbeats } from "../../src/features/devices/heartbeats-store.ts";
import { Pairing } from "../../src/features/devices/pairing.ts";
import { pairingRoutes } from "../../src/features/devices/pairing-routes.ts";
import { PairingStore } from "../../src/features/devices/pairing-store.ts";
import { deviceRoutes } from "../../src/features/devices/routes.ts";
import { DeviceStore } from "../../src/features/devices/store.ts";
import { AwaitedAudioStore } from "../../src/features/sessions/awaited-audio-store.ts";
import { sessionEditRoutes } from "../../src/features/sessions/edit.ts";
import { sessionRoutes } from "../../src/features/sessions/routes.ts";
import { SessionEditStore, SessionStore } from "../../src/features/sessions/store.ts";
import { chunkRoutes } from "../../src/features/transcript/chunks.ts";
import { ChunkListStore } from "../../src/features/transcript/chunks-store.ts";
import { transcriptRoutes } from "../../src/features/transcript/export.ts";
import { segmentRoutes } from "../../src/features/transcript/segments.ts";
import { SegmentStore } from "../../src/features/transcript/segments-store.ts";
import { workspaceMemberRoutes } from "../../src/features/workspaces/members-routes.ts";
import { WorkspaceMemberStore } from "../../src/features/workspaces/members-store.ts";
import { workspaceEditRoutes, workspaceRoutes } from "../../src/features/workspaces/routes.ts";
import { serviceKeyRoutes } from "../../src/features/workspaces/service-key-routes.ts";
import { ServiceKeys } from "../../src/features/workspaces/service-keys.ts";
import { ServiceKeyStore } from "../../src/features/workspaces/service-keys-store.ts";
import { WorkspaceEditStore, WorkspaceStore } from "../../src/features/workspaces/store.ts";
import { CharacterStore, WorkshopStore } from "../../src/features/workspaces/workshops-store.ts";
import { createPool } from "../../src/postgres/pool.ts";
import type { Route } from "../../src/rest/route.ts";
import { PATIENCE } from "../../src/session/limits.ts";
import { ManualClock } from "./manual-clock.ts";
import { LocalRevocations } from "./memory/local-revocations.ts";
import { createTestDatabase, type TestDatabase } from "./postgres.ts";

export const PASSWORD = "correct horse";

/** Accounts, workspaces and devices over a real database, with their routes on top. */
export class AccountFixture {
  readonly clock: ManualClock;
  readonly revocations = new LocalRevocations();
  readonly passwords = new PasswordHasher();
  readonly pool: DatabasePool;
  readonly keys: KeyMaterial;
  readonly tokens: Tokens;
  readonly users: UserStore;
  readonly workspaces: WorkspaceStore;
  readonly devices: DeviceStore;
  readonly logins: LoginStore;
  readonly guests: GuestStore;
  readonly attempts: AttemptStore;
  readonly signIn: SignIn;
  readonly guestEntry: GuestEntry;
  readonly pairing: Pairing;
  readonly authenticator: CredentialAuthenticator;
  readonly liveTickets: LiveTickets;
  readonly serviceKeys: ServiceKeys;
  readonly magicLinks: MagicLinks;
  readonly passwordChanges: PasswordChanges;
  /** Filled by a test before its routes are used. */
  readonly providers: OAuthProvider[] = [];
  readonly oauth: OAuthSignIn;
  /** Where clients reach this house. */
  publicUrl = "https://voice.test";
  readonly background = new Background({
    concurrency: 4,
    waiting: 100,
    timeoutMs: 10_000,
    log: silentLog,
  });
  /** Replaced by a test that wants to see the mail go out. */
  mail: Mail = { send: async () => {} };
  readonly serviceKeyBook: ServiceKeyStore;
  readonly routes: readonly Route[];
  readonly folder: string;
  readonly heartbeats: HeartbeatWriter;
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
    const { passwords, revocations } = this;
    this.tokens = new Tokens(keys.ring, clock);
    this.users = new UserStore(pool);
    this.workspaces = new WorkspaceStore(pool);
    this.devices = new DeviceStore(pool);
    this.logins = new LoginStore(pool);
    this.guests = new GuestStore(pool);
    this.attempts = new AttemptStore(pool, clock);
    const { attempts, guests, logins, tokens, users } = this;
    const store = new PairingStore(pool);
    this.serviceKeyBook = new ServiceKeyStore(pool);
    this.serviceKeys = new ServiceKeys({ store: this.serviceKeyBook, revocations, clock });
    this.signIn = new SignIn({
      accounts: users,
      logins,
      guests,
      audit: new AuditStore(pool),
      attempts,
      passwords,
      tokens,
      revocations,
      clock,
    });
    this.magicLinks = new MagicLinks({
      store: new MagicLinkStore(pool),
      accounts: users,
      attempts,
      audit: new AuditStore(pool),
      signIn: this.signIn,
      mail: { send: (letter) => this.mail.send(letter) },
      background: this.background,
      signInUrl: (token) => `https://voice.test/#/sign-in?token=${token}`,
      clock,
    });
    this.oauth = new OAuthSignIn({
      providers: this.providers,
      store: new OAuthStore(pool),
      accounts: users,
      signIn: this.signIn,
      attempts,
      audit: new AuditStore(pool),
      callbackUrl: (provider) => `${this.publicUrl}/api/auth/oauth/${provider}/callback`,
      clock,
    });
    this.passwordChanges = new PasswordChanges({
      store: new PasswordStore(pool),
      attempts,
      passwords,
      revocations,
    });
    this.guestEntry = new GuestEntry(guests, tokens, clock);
    const { pepper } = keys;
    this.pairing = new Pairing({ store, attempts, revocations, pepper, clock });
    this.authenticator = new CredentialAuthenticator({
      tokens,
      logins,
      guests,
      deviceKeys: store,
      serviceKeys: this.serviceKeyBook,
      revocations,
      clock,
    });
    this.liveTickets = new LiveTickets(new TicketStore(pool), this.authenticator, clock);
    this.heartbeats = new HeartbeatWriter({
      store: new PostgresHeartbeats(pool),
      clock,
      log: silentLog,
    });
    this.routes = this.#buildRoutes();
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
    await this.background.stop();
    await this.heartbeats.stop();
    this.authenticator.stop();
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
    const members = new WorkspaceMemberStore(this.pool);
    await members.add(workspaceId, userId, "member", { kind: "system" });
  }

  /** Those that need no actor. */
  #sessionRoutes(): Route[] {
    const directory = new SessionStore(this.pool);
    const segments = new SegmentStore(this.pool);
    const { cursorKey } = this.keys;
    const { revocations } = this;
    return [
      ...sessionRoutes({
        directory,
        awaited: new AwaitedAudioStore(this.pool),
        patience: PATIENCE,
        names: new CharacterStore(this.pool),
        cursorKey,
      }),
      ...segmentRoutes({ directory, segments, cursorKey }),
      ...transcriptRoutes({ directory, segments, gaps: segments }),
      ...chunkRoutes({ directory, chunks: new ChunkListStore(this.pool), cursorKey }),
      ...sessionEditRoutes({
        directory,
        sessionEdits: new SessionEditStore(this.pool),
        workshops: new WorkshopStore(this.pool),
        revocations,
      }),
    ];
  }

  /** A session of this owner, without audio. */
  async addSession(ownerId: string, workspaceId: string): Promise<string> {
    const id = newId();
    await this.pool.query(sql.unsafe`
      insert into sessions (id, workspace_id, owner_id, job_id, status)
      values (${id}, ${workspaceId}, ${ownerId}, ${newId()}, 'completed')`);
    return id;
  }

  /** Puts a sign of life of this minute to the same moment by this house's clock: the record has its own. */
  async seenAtItsTime(deviceId: string): Promise<void> {
    await this.heartbeats.flush();
    await this.pool.query(sql.unsafe`
      update devices set last_seen_at = to_timestamp(${this.clock.now() / 1_000})
      where id = ${deviceId} and last_seen_at > now() - interval '1 minute'`);
  }

  #buildRoutes(): Route[] {
    const { authenticator, clock, devices, heartbeats, pairing, passwords } = this;
    const { revocations, users } = this;
    const { guestEntry, liveTickets, serviceKeyBook, serviceKeys, signIn, workspaces } = this;
    const { cursorKey, ring } = this.keys;
    return [
      ...authRoutes({ signIn, users, keys: ring }),
      ...guestRoutes({ guestEntry }),
      ...liveTicketRoutes({ liveTickets }),
      ...magicLinkRoutes({ magicLinks: this.magicLinks }),
      ...oauthRoutes({
        oauth: this.oauth,
        publicUrl: () => this.publicUrl,
        allowedOrigins: ["https://page.test"],
      }),
      ...serviceKeyRoutes({ serviceKeys, serviceKeyBook, workspaces, cursorKey }),
      ...userRoutes({ users, workspaces, passwords, cursorKey }),
      ...userAccessRoutes({ users, revocations }),
      ...userEditRoutes({ users, revocations }),
      ...passwordRoutes({ passwordChanges: this.passwordChanges }),
      ...workspaceRoutes({ workspaces, cursorKey }),
      ...workspaceMemberRoutes({
        workspaces,
        members: new WorkspaceMemberStore(this.pool),
        users,
        revocations,
        cursorKey,
      }),
      ...workspaceEditRoutes({
        workspaces,
        workspaceEdits: new WorkspaceEditStore(this.pool),
        revocations,
      }),
      ...pairingRoutes({ pairing, devices, workspaces, authenticator, clock }),
      ...deviceRoutes({ devices, heartbeats, workspaces, pairing, clock, cursorKey }),
      ...heartbeatRoutes({ devices, heartbeats }),
      ...this.#sessionRoutes(),
    ];
  }
}
