import pg from "pg";
import type { DevicePrincipal, UserPrincipal } from "../../src/access/principal.ts";
import type { RevocationEvent } from "../../src/access/revocations.ts";
import { systemClock } from "../../src/base/clock.ts";
import {
  type AccountErasures,
  userEraseRoutes,
} from "../../src/conversations/erasure/account-erasure.ts";
import { createErasure } from "../../src/conversations/erasure/feature.ts";
import { ErasureLedger } from "../../src/conversations/erasure/ledger/erasure-ledger.ts";
import { LedgerFolder } from "../../src/conversations/erasure/ledger/ledger-folder.ts";
import { ErasureLedgerStore } from "../../src/conversations/erasure/ledger/ledger-store.ts";
import type { SessionErasure } from "../../src/conversations/erasure/session-erasure.ts";
import type { Route } from "../../src/rest/route.ts";
import { ACCOUNT_ENDINGS, DELETION_PARTS } from "../../src/roles/other-tables.ts";
import type { AuditStore } from "../../src/tenancy/audit/audit-store.ts";
import { createAudit } from "../../src/tenancy/audit/routes.ts";
import { makeWav } from "./make-wav.ts";
import { type Call, callRoute, jsonBody } from "./route-call.ts";
import { SessionFixture } from "./session-fixture.ts";
import { SessionStory } from "./session-story.ts";

/** A session with words in it, and who may do what to it. */
export interface Recorded {
  sessionId: string;
  jobId: string;
  owner: UserPrincipal;
  device: DevicePrincipal;
  story: SessionStory;
}

/** A session house with audit log, elevations and deletions on top. */
export class PrivacyFixture {
  readonly fixture: SessionFixture;
  readonly audit: AuditStore;
  readonly sessions: SessionErasure;
  readonly accounts: AccountErasures;
  readonly ledgerFolder: LedgerFolder;
  readonly ledger: ErasureLedger;
  readonly routes: readonly Route[];
  readonly revoked: readonly RevocationEvent[];
  /** Sessions whose viewers were told, and whose actors were woken. */
  readonly published: string[] = [];
  readonly woken: string[] = [];
  /** Replaced by a test that wants the disk to fail. */
  eraseAudio: (sessionId: string) => Promise<unknown>;

  private constructor(fixture: SessionFixture) {
    this.fixture = fixture;
    this.revoked = fixture.revoked;
    this.eraseAudio = (sessionId) => fixture.blobs.delete(sessionId);
    const context = { ...fixture.context, clock: systemClock };
    const audit = createAudit(context, { addressKey: new Uint8Array(32) });
    this.audit = audit.audit;
    this.ledgerFolder = this.folderOfLedger(new Uint8Array(32));
    this.ledger = this.newLedger();
    const erasure = createErasure(context, {
      directory: fixture.directory,
      accountEndings: ACCOUNT_ENDINGS,
      deletionParts: DELETION_PARTS,
      eraseAudio: (sessionId) => this.eraseAudio(sessionId),
      publish: (sessionId) => this.published.push(sessionId),
      wake: async (sessionId) => {
        this.woken.push(sessionId);
      },
      ledger: this.ledger,
    });
    // Callers of these tests are made up: they have no login that could prove anything.
    const proof = { require: async () => {} };
    this.sessions = erasure.sessions;
    this.accounts = erasure.accounts;
    this.routes = [
      ...fixture.routes,
      ...audit.routes,
      ...erasure.routes,
      ...userEraseRoutes({ eraser: erasure.accounts, proof }),
    ];
  }

  static async open(): Promise<PrivacyFixture> {
    const privacy = new PrivacyFixture(await SessionFixture.open());
    await privacy.ledgerFolder.start();
    return privacy;
  }

  folderOfLedger(key: Uint8Array): LedgerFolder {
    return new LedgerFolder({ files: this.fixture.blobs.ledger, key });
  }

  /** As a process has it that starts now. */
  newLedger(folder = this.ledgerFolder): ErasureLedger {
    const { pool, context } = this.fixture;
    const records = new ErasureLedgerStore(pool);
    return new ErasureLedger({ folder, records, clock: systemClock, log: context.log });
  }

  close(): Promise<void> {
    return this.fixture.close();
  }

  call(id: string, call: Call): ReturnType<typeof callRoute> {
    return callRoute(this.routes, id, call);
  }

  async body(id: string, call: Call): Promise<Record<string, unknown>> {
    return jsonBody(await this.call(id, call));
  }

  /** Runs as the role that owns the tables. */
  async asOwner<T extends pg.QueryResultRow>(text: string, values: unknown[] = []): Promise<T[]> {
    const client = new pg.Client({ connectionString: this.fixture.ownerUrl });
    await client.connect();
    try {
      return (await client.query<T>(text, values)).rows;
    } finally {
      await client.end();
    }
  }

  /** A session of a new owner with two chunks of audio and two segments. */
  async record(): Promise<Recorded> {
    const { device, owner } = await this.fixture.ownDevice();
    return this.recordOn(device, owner);
  }

  async recordOn(device: DevicePrincipal, owner: UserPrincipal): Promise<Recorded> {
    const { fixture } = this;
    const sessionId = await fixture.start(device, { title: "Secret plans" });
    for (const sequence of [0, 1]) {
      const wav = makeWav({ frames: 16_000, seed: sequence + 1 });
      await fixture.upload(device, sessionId, sequence, wav, { filename: "secret.wav" });
    }
    const [session] = await fixture.sql<{ job_id: string }>(
      "select job_id from sessions where id = $1",
      [sessionId],
    );
    const jobId = session?.job_id ?? "";
    const story = await SessionStory.open(fixture, sessionId);
    await story.tell([{ type: "SessionStarted", sessionId, jobId, language: "en" }]);
    await story.say("S1", 2_000, "the secret word");
    await story.say("S2", 20_000, "is pineapple");
    return { sessionId, jobId, owner, device, story };
  }
}
