import { execFile } from "node:child_process";
import { copyFile } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { PARTITIONS } from "../../src/base/partition.ts";
import { MOONSHINE } from "../../src/wire/speech-engines.ts";
import { ApiClient } from "../support/api-client.ts";
import { AppFixture } from "../support/app-fixture.ts";
import { sessionIdsIn } from "../support/documented-ids.ts";
import { exampleRequests } from "../support/example-requests.ts";
import { seedWorld } from "../support/seeded-world.ts";
import { until } from "../support/until.ts";

/** Examples that are refused here for what is not said in them, with the reason. */
const EXPLAINED: Readonly<Record<string, string>> = {
  createWebhook: "its host has to exist, and this one must not",
};

/**
 * Who gets the id of a session from which answer. Whoever has it may come in as a guest while the
 * session is `open`, so that each new place has to say why its readers may.
 */
const SESSION_IDS = {
  // Administrators get ids without words: as a guest they need an elevation in force.
  "reads the session, or administers": [
    "Session.id",
    ...["Concern", "Job", "SummaryJob"].map((each) => `${each}.session_id`),
    ...["SummaryJobDetail", "TranscriptionJob", "TranscriptionJobDetail"].map(
      (each) => `${each}.session_id`,
    ),
  ],
  "reads its words": [
    ...["Citation", "Entity", "Evidence", "Graph", "Mark", "Mention", "SearchHit"].map(
      (each) => `${each}.session_id`,
    ),
    ...["SpokenSegment", "Summary", "Transcript", "TranscriptComparison"].map(
      (each) => `${each}.session_id`,
    ),
  ],
  "is a member or a guest of it": [
    "AcceptedInvitation.session_id",
    "Caller.session_id",
    "EnteredGuest.session_id",
    "RememberedVoice.session_id",
  ],
  administers: [
    "AuditEntry.session_id",
    "Elevation.session_id",
    "MovedAudio.session_id",
    "ParkedCommand.session_id",
    "Queues.session_ids",
    "StoredAudioVerdict.session_id",
  ],
  "records it: its owner's device, or who brings its files": [
    "HeartbeatResponse.session_id",
    "IssueCallTicketResponse.stream_url",
    "StartDeviceSessionResponse.session_id",
    "StartDeviceSessionResponse.stream_url",
    "StoppedSession.session_id",
    "Upload.session_id",
  ],
  "deleted it": ["DeletionReceipt.session_id"],
  // Programs log it and show it: such a session begins closed to guests.
  "is another service's client": ["DeepgramTranscription.request_id"],
} as const satisfies Readonly<Record<string, readonly string[]>>;

describe("the document and the service", () => {
  let service: AppFixture;
  let client: ApiClient;

  beforeAll(async () => {
    service = await AppFixture.start({ RATE_LIMIT_FACTOR: "0" });
    client = await ApiClient.connect(service.api);
  });

  afterAll(() => service?.stop());

  it("get started: its lines work, one after the other", async () => {
    const { body } = await client.call<{ info: { description: string } }>("GET", "/openapi.json");
    const [, lines = ""] = /```sh\n(.*?)```/s.exec(body.info.description) ?? [];
    const { email, password } = service.ready.admin;
    const script = lines
      .replace(/^BASE=\S+/, `BASE=${service.api}`)
      .replace(/"email":.*?}/, `"email":"${email}","password":"${password}"}`);
    await copyFile("deploy/demo/conversation.wav", join(service.folder, "talk.wav"));
    const run = promisify(execFile)("sh", ["-ec", script], { cwd: service.folder });
    const said = (await run).stdout;
    expect(said).toContain('"chunk_sequence":0');
    expect(said).toContain('"status":"processing"');
    expect(said).toContain('"segments":');
    expect(said).not.toContain('"success":false');
  });

  it("examples: every one is well formed, and answered as declared", async () => {
    const world = await seedWorld(client, service.ready.admin);
    const document = (await client.call("GET", "/openapi.json")).body;
    const requests = exampleRequests(document, world);
    const malformed: string[] = [];
    let fulfilled = 0;
    for (const { operationId, method, path, callers, body } of requests) {
      for (const caller of callers) {
        const headers = { ...world.callers[caller] };
        const options = body === undefined ? { headers } : { headers, body };
        const { status, text } = await client.call(method, path, options);
        expect(status, `${method} ${path}: ${text}`).toBeLessThan(500);
        if ([400, 415].includes(status) && !(operationId in EXPLAINED))
          malformed.push(`${operationId}: ${text}`);
        if (status < 300) {
          fulfilled += 1;
          break;
        }
      }
    }
    expect(malformed).toEqual([]);
    // The rest names what is not there (a segment, a claim) or meets its state.
    expect(fulfilled).toBeGreaterThan(requests.length / 2);
  });

  it("overview: one node with every partition, one worker with room", async () => {
    const login = await client.call<{ token: string }>("POST", "/auth/login", {
      body: service.ready.admin,
    });
    const bearer = login.body.token;
    const overview = () => client.call("GET", "/admin/overview", { bearer });
    await until(async () => (await overview()).body.nodes !== undefined, "the leases");
    const { body } = await overview();
    const partitions = Array.from({ length: PARTITIONS }, (_, n) => n);
    expect(body).toMatchObject({
      nodes: [{ state: "alive", partitions }],
      workers: [{ state: "available", engines: ["scripted", MOONSHINE.name] }],
    });
    expect((await client.call("GET", "/admin/overview")).status).toBe(401);
  });

  it("session ids: each answer that names one is on the list, with who gets it", async () => {
    const document = (await client.call("GET", "/openapi.json")).body;
    const found = sessionIdsIn(document as unknown as Parameters<typeof sessionIdsIn>[0]);
    expect([...found.keys()].sort()).toEqual(Object.values(SESSION_IDS).flat().sort());
    const paths = SESSION_IDS.administers.flatMap((place) => [...(found.get(place) ?? [])]);
    expect(paths.filter((path) => !path.startsWith("/admin/"))).toEqual([]);
  });
});
