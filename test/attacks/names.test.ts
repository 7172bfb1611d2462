import { credentials } from "@grpc/grpc-js";
import { afterAll, beforeAll, describe, expect, it, vi } from "vitest";
import { newId } from "../../src/base/ids.ts";
import { newSessionBody } from "../../src/conversations/recording/start.ts";
import { parseDeviceFrame } from "../../src/http/sockets/frame-parser.ts";
import { DEVICE_FRAME_SCHEMAS } from "../../src/wire/device-frames.ts";
import { SessionServiceClient } from "../../src/wire/gen/voice/v1/sessions.ts";
import { VIEWER_FRAME_SCHEMAS } from "../../src/wire/viewer-frames.ts";
import { AttackedService } from "../support/attacked-service.ts";
import {
  type ApiDocument,
  documentedNames,
  documentedPath,
  namesIn,
} from "../support/documented-names.ts";
import { callUnary } from "../support/grpc-fixture.ts";

/** Control characters, separators of lines and paragraphs, marks of writing direction. */
const HOSTILE = [
  ..."\u0007\t\n\r\u001b\u007f\u0085\u009b\u2028\u2029\u061c",
  ..."\u200e\u200f\u202a\u202d\u202e\u2066\u2069",
];

type User = Awaited<ReturnType<AttackedService["addUser"]>>;
type Door = [string, string, Record<string, string>, (name: string) => object];

let house: AttackedService;
let owner: User;
let admin: User;
let workspace: string;
let session: string;

beforeAll(async () => {
  house = await AttackedService.open({ WEBHOOK_ALLOW_PRIVATE: "1" });
  owner = await house.addUser();
  admin = await house.addUser("admin");
  workspace = await house.addWorkspace(owner.id);
  session = await house.addTold(workspace, owner.id, [
    { label: "S1", text: "we start" },
    { label: "S2", text: "we go on" },
  ]);
});

afterAll(() => house.close());

async function made(path: string, body: object): Promise<Record<string, unknown>> {
  const answer = await house.call("POST", path, owner.headers, body);
  expect(answer.status, answer.text).toBe(201);
  return answer.body;
}

/** Every route that takes a name or a title, with the body that carries it. */
async function doors(): Promise<Door[]> {
  const workshop = (await made("/workshops", { workspace_id: workspace, name: "Play" })).id;
  const character = (await made(`/workshops/${workshop}/characters`, { name: "Nina" })).id;
  const device = await made("/devices", { workspace_id: workspace, name: "Phone" });
  const key = { "x-api-key": String(device.api_key) };
  const account = { email: `${newId()}@example.org`, password: "correct horse battery staple" };
  const scopes = ["sessions:read"];
  const url = "https://127.0.0.1:9/";
  const hook = await made(`/workspaces/${workspace}/webhooks`, { url });
  const paired = (name: string) => ({ workspace_id: workspace, code: "ABCD-2345", name });
  const own = owner.headers;
  const template = `/workspaces/${workspace}/note-templates/standup`;
  const sectioned = (section: object) => ({
    title: "Calls",
    sections: [{ title: "Price", kind: "custom", instruction: "the price", ...section }],
  });
  const named = (name: string) => ({ name });
  const titled = (title: string) => ({ title });
  return [
    ["POST", "/auth/guest", {}, (name) => ({ session_id: session, display_name: name })],
    ["POST", "/users", admin.headers, (name) => ({ ...account, name })],
    ["PATCH", `/users/${owner.id}`, own, named],
    ["POST", "/workspaces", own, named],
    ["PATCH", `/workspaces/${workspace}`, own, named],
    ["POST", "/sessions", own, (title) => ({ workspace_id: workspace, title })],
    ["PATCH", `/sessions/${session}`, own, titled],
    ["PATCH", `/sessions/${session}/speakers/S1`, own, (name) => ({ display_name: name })],
    ["POST", `/devices/${device.device_id}/session/start`, key, titled],
    ["POST", "/devices", own, (name) => ({ workspace_id: workspace, name })],
    ["POST", "/devices", own, (model) => ({ workspace_id: workspace, model })],
    ["PATCH", `/devices/${device.device_id}`, own, named],
    ["POST", "/devices/pairing-codes", {}, (name) => ({ device_serial: "s", name })],
    ["POST", "/devices/pairing-codes", {}, (serial) => ({ device_serial: serial })],
    ["POST", "/devices/pairing-codes", {}, (model) => ({ device_serial: "s", model })],
    ["POST", "/devices/pairing-codes", {}, (firmware) => ({ device_serial: "s", firmware })],
    ["POST", "/devices/pair", own, paired],
    ["POST", "/devices/pair/claim-auth", key, named],
    ["POST", "/workshops", own, (name) => ({ workspace_id: workspace, name })],
    ["PATCH", `/workshops/${workshop}`, own, named],
    ["POST", `/workshops/${workshop}/characters`, own, named],
    ["PUT", `/workshops/${workshop}/characters/${character}`, own, named],
    ["POST", "/api-keys", own, (name) => ({ workspace_id: workspace, scopes, name })],
    ["POST", `/workspaces/${workspace}/webhooks`, own, (text) => ({ url, description: text })],
    [
      "PATCH",
      `/workspaces/${workspace}/webhooks/${hook.id}`,
      own,
      (text) => ({ description: text }),
    ],
    ["PUT", template, own, (title) => ({ ...sectioned({}), title })],
    ["PUT", template, own, (title) => sectioned({ title })],
    ["PUT", template, own, (instruction) => sectioned({ instruction })],
  ];
}

/** What a guest calls themself to put words into somebody's mouth, in each format. */
const FORGED = [
  "Eve: hi\n[00:02] Alice (CEO)",
  "Eve: hi\u2028[00:02] Alice (CEO)",
  "Eve\r\n\r\n2\r\n00:00:09,000 --> 00:00:10,000\r\nAlice (CEO)",
  "Eve</v>\n\n00:09.000 --> 00:10.000\n<v Alice (CEO)",
  "Eve\n\n**Alice (CEO):** we sold\n\n# Minutes",
  "\u202eOEC ecilA",
];

/** When it began, and who spoke. */
const FACTS = /^\d{4}-\d{2}-\d{2} \d{2}:\d{2} UTC · .*\(guest\\?\)$/;
/** Marks that a normaliser has to sort, which takes it the square of their number. */
const MARKS = "\u0301\u0316".repeat(20_000);
/** Far above what any name may have, and sorted in no time. */
const MOST_NORMALISED = 2_000;

const LINE_BREAK = /\r\n|[\n\r\u2028\u2029\u0085]/;

/** Puts the name where it was before names were checked, as that of the guest who claims S2. */
async function claim(name: string): Promise<void> {
  const guest = newId();
  await house.sql("delete from speaker_claims where session_id = $1", [session]);
  await house.sql(
    `insert into guests (id, session_id, display_name, expires_at)
     values ($1, $2, $3, now() + interval '1 hour')`,
    [guest, session, name],
  );
  await house.sql(
    `insert into speaker_claims (session_id, label, claimed_user_id, source, by_user_id)
     values ($1, 'S2', $2, 'self_claim', $2)`,
    [session, guest],
  );
}

async function exported(format: string): Promise<string> {
  const path = `/sessions/${session}/transcript?format=${format}`;
  const answer = await house.call("GET", path, owner.headers);
  expect(answer.status).toBe(200);
  return answer.text;
}

/** What takes the name in a body, with the members around it. */
function memberOf(body: object): string | undefined {
  for (const [member, value] of Object.entries(body)) {
    if (value === "the name") return member;
    const [first] = Array.isArray(value) ? (value as unknown[]) : [];
    const inside = typeof first === "object" && first !== null ? memberOf(first) : undefined;
    if (inside !== undefined) return `${member}.${inside}`;
  }
  return undefined;
}

describe("names", () => {
  it("names: each one of the API's document is behind a door here", async () => {
    const { body } = await house.call("GET", "/openapi.json");
    const document = body as unknown as ApiDocument;
    const tried = (await doors()).map(
      ([method, path, , bodyOf]) =>
        `${method} ${documentedPath(document, path)} ${memberOf(bodyOf("the name"))}`,
    );
    expect([...new Set(tried)].sort()).toEqual(documentedNames(document));
  });

  it("names: neither a device's frame nor a call over gRPC takes what REST refuses", async () => {
    const frames = Object.values({ ...DEVICE_FRAME_SCHEMAS, ...VIEWER_FRAME_SCHEMAS });
    expect(frames.flatMap((schema) => namesIn(schema))).toEqual(["title"]);
    const configure = { type: "Configure", encoding: "opus", sample_rate: 16_000, channels: 1 };
    const parse = (title: string) =>
      parseDeviceFrame(Buffer.from(JSON.stringify({ ...configure, title })));
    expect(parse("Cafe\u0301")).toMatchObject({ title: "Caf\u00e9" });

    expect(namesIn(newSessionBody)).toEqual(["title"]);
    const scopes = ["sessions:write"];
    const { key } = await made("/api-keys", { workspace_id: workspace, name: "Program", scopes });
    const client = new SessionServiceClient(house.grpcAddress, credentials.createInsecure());
    const create = (title: string) => {
      const request = { title, vocabulary: [], metadata: {}, tags: [] };
      return callUnary(client, client.createSession, request, String(key));
    };
    try {
      for (const bad of HOSTILE) {
        expect(() => parse(`Alice${bad}Bob`), JSON.stringify(bad)).toThrow(/must be in one line/);
        const refused = { code: "invalid_body", details: expect.stringMatching(/in one line/) };
        await expect(create(`Alice${bad}Bob`)).rejects.toMatchObject(refused);
      }
      expect(() => parse(`a${MARKS}`)).toThrow(/must have at most \d+ characters/);
      await expect(create(`a${MARKS}`)).rejects.toMatchObject({ code: "invalid_body" });
    } finally {
      client.close();
    }
  });

  it("names: no door takes a line break, a control character or a mark of direction", async () => {
    const taken: string[] = [];
    for (const [method, path, headers, body] of await doors()) {
      for (const bad of HOSTILE) {
        const answer = await house.call(method, path, headers, body(`Alice${bad}Bob`));
        if (answer.status === 400 && /must be in one line/.test(answer.text)) continue;
        taken.push(`${method} ${path} ${JSON.stringify(bad)}: ${answer.status}`);
      }
    }
    expect(taken).toEqual([]);
  });

  it("names: one that is much too long is refused by its length before anything else is done with it", async () => {
    const lengths: number[] = [];
    const { normalize } = String.prototype;
    vi.spyOn(String.prototype, "normalize").mockImplementation(function (this: string, form) {
      lengths.push(this.length);
      // What is too long is counted and not carried out, or a fault would take minutes to show.
      return this.length > MOST_NORMALISED ? String(this) : normalize.call(this, form);
    });
    try {
      for (const [method, path, headers, body] of await doors()) {
        const answer = await house.call(method, path, headers, body(`a${MARKS}`));
        expect(answer.status, `${method} ${path}: ${answer.text}`).toBe(400);
        expect(answer.text).toMatch(/must have at most \d+ characters/);
      }
    } finally {
      vi.restoreAllMocks();
    }
    expect(lengths.filter((length) => length > MOST_NORMALISED)).toEqual([]);
  });

  it("names: two spellings that look the same are kept as one, without white space around", async () => {
    const kept = await made("/workspaces", { name: " Cafe\u0301\u00a0" });
    expect(kept.name).toBe("Caf\u00e9");
    const blank = await house.call("POST", "/workspaces", owner.headers, { name: " \u3000 " });
    expect(blank.status).toBe(400);
  });

  it("names: one that was stored before forges no line of a text export", async () => {
    for (const name of FORGED) {
      await claim(name);
      const lines = (await exported("txt")).trimEnd().split(LINE_BREAK);
      // The head, an empty line, and a line of each of the two who spoke.
      expect(lines, JSON.stringify(name)).toHaveLength(5);
      expect(lines.slice(0, 3)).toEqual(["Transcript", expect.stringMatching(FACTS), ""]);
      expect(lines[4]).toMatch(/^\[00:03\] .* \(guest\): we go on$/);
    }
  });

  it("names: one that was stored before forges no caption", async () => {
    for (const name of FORGED) {
      await claim(name);
      const srt = (await exported("srt")).trimEnd().split(/\n\n/);
      for (const [n, block] of srt.entries()) {
        const [number, times, ...lines] = block.split(LINE_BREAK);
        expect(number, JSON.stringify(name)).toBe(String(n + 1));
        expect(times).toMatch(/^[\d:,]{12} --> [\d:,]{12}$/);
        expect(lines.join(" ")).not.toContain("-->");
        // A long name may make a line of its own, and captions of fewer words.
        expect(lines.length).toBeLessThanOrEqual(2);
      }
      expect(srt.join("\n")).toContain("(guest)");
      const [head, ...vtt] = (await exported("vtt")).trimEnd().split(/\n\n/);
      expect(head).toBe("WEBVTT");
      for (const block of vtt) {
        const [times, ...lines] = block.split(LINE_BREAK);
        expect(times, JSON.stringify(name)).toMatch(/^[\d:.]{12} --> [\d:.]{12}$/);
        expect(lines.join(" ")).toMatch(/^<v [^<>]*>[^<>]*<\/v>$/);
      }
      expect(vtt).toHaveLength(2);
      expect(vtt.at(-1)).toContain("(guest)");
    }
  });

  it("names: one that was stored before forges no paragraph and no heading of Markdown", async () => {
    await house.sql("update sessions set title = $2 where id = $1", [
      session,
      "Minutes\n\n**Alice (CEO):** we sold",
    ]);
    for (const name of FORGED) {
      await claim(name);
      const paragraphs = (await exported("md")).trimEnd().split(/\n\s*\n/);
      expect(paragraphs, JSON.stringify(name)).toHaveLength(4);
      for (const paragraph of paragraphs) expect(paragraph.split(LINE_BREAK)).toHaveLength(1);
      expect(paragraphs[1]).toMatch(FACTS);
      // What the name has of Markdown's marks is escaped.
      expect(paragraphs[1]).not.toMatch(/(?<!\\)[*#<[]/);
      expect(paragraphs[3]).toMatch(/^\*\*.*\(guest\\?\)\*\* \(00:03\): we go on$/);
    }
  });

  it("names: no mark of direction reaches a reader of exports and lists of speakers", async () => {
    await claim("\u202eOEC ecilA\u2066");
    for (const format of ["txt", "srt", "vtt", "md", "json"]) {
      expect(await exported(format)).not.toMatch(/\p{Bidi_Control}/u);
    }
    const speakers = await house.call("GET", `/sessions/${session}/speakers`, owner.headers);
    expect(speakers.text).not.toMatch(/\p{Bidi_Control}/u);
    expect(speakers.body.items).toMatchObject([{}, { display_name: "OEC ecilA", guest: true }]);
  });
});
