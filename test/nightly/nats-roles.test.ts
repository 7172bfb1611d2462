import { Events, type NatsConnection, type NatsError } from "nats";
import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest";
import { layoutOf } from "../../deploy/supervisor/layout.ts";
import { natsUsers } from "../../deploy/supervisor/nats-users.ts";
import { silentLog } from "../../src/base/log.ts";
import { connectBus, followWorkers } from "../../src/nats/connect.ts";
import { NatsMessageBus } from "../../src/nats/message-bus.ts";
import { decodeJson, encodeJson } from "../../src/wire/envelope.ts";
import {
  audioSubject,
  FOLLOWED,
  hostSubject,
  inboxPrefix,
  JOBS_WAITING,
  liveSubject,
  OWNERS_CHANGED,
  REVOCATIONS,
  STREAMS_TAKEN,
  WORKER_ANNOUNCE_SUBJECT,
} from "../../src/wire/subjects.ts";
import { encodeWorkerAnnouncement, fingerprintOfKey } from "../../src/wire/worker-announcement.ts";
import { startNats, type TestNats } from "../support/nats.ts";
import { until } from "../support/until.ts";

/** The users that `npm run up -- --cluster` makes. */
const USERS = natsUsers(layoutOf(true).services, "the secret of this test");
const KEY = "a-service-key-of-this-test";
const ATTACKERS = ["front-1", "sessions-1", "worker-1", "supervisor"];

let nats: TestNats;
beforeAll(async () => {
  nats = await startNats(USERS);
});
afterAll(() => nats.stop());

let connections: NatsConnection[] = [];
afterEach(async () => {
  await Promise.all(connections.map((connection) => connection.close()));
  connections = [];
});

async function connectAs(name: string, password = passwordOf(name)): Promise<NatsConnection> {
  const connection = await connectBus({
    url: nats.url,
    user: name,
    password,
    name,
    log: silentLog,
  });
  connections.push(connection);
  return connection;
}

function passwordOf(name: string): string {
  return USERS.find((user) => user.name === name)?.password ?? "";
}

/** Subscribes to each; returns those that the server refused. */
async function refusedSubscriptions(
  connection: NatsConnection,
  subjects: readonly string[],
): Promise<string[]> {
  const refused = new Set<string>();
  for (const subject of subjects) {
    connection.subscribe(subject, {
      callback: (error: NatsError | null) => {
        if (error?.isPermissionError()) refused.add(subject);
      },
    });
  }
  // Refusals come before the answer to what was sent after them.
  await connection.flush();
  return subjects.filter((subject) => refused.has(subject));
}

/** Publishes to each; returns those that the server refused. */
async function refusedMessages(
  connection: NatsConnection,
  subjects: readonly string[],
): Promise<string[]> {
  const refused = new Set<string>();
  void (async () => {
    for await (const { type, permissionContext } of connection.status()) {
      if (type === Events.Error && permissionContext) refused.add(permissionContext.subject);
    }
  })();
  for (const subject of subjects) connection.publish(subject, encodeJson({ forged: true }));
  await connection.flush();
  await new Promise((wake) => setImmediate(wake));
  return subjects.filter((subject) => refused.has(subject));
}

describe("NATS: with the password of one role", () => {
  it.each(ATTACKERS)("%s hears neither everything nor the answers to others", async (name) => {
    const others = USERS.filter((user) => user.name !== name);
    const subjects = [
      ">",
      "*",
      "voice.>",
      "*.>",
      "voice.inbox.>",
      "voice.inbox.*.>",
      "$SYS.>",
      "_INBOX.>",
      ...others.map((user) => `${inboxPrefix(user.name)}.>`),
    ];
    expect(await refusedSubscriptions(await connectAs(name), subjects)).toEqual(subjects);
  });

  it("a worker hears nothing, and says nothing but that it is there", async () => {
    const worker = await connectAs("worker-1");
    const subjects = [
      hostSubject("one"),
      OWNERS_CHANGED,
      JOBS_WAITING,
      liveSubject("one"),
      FOLLOWED,
      REVOCATIONS,
      audioSubject("one"),
      STREAMS_TAKEN,
      `${inboxPrefix("front-1")}.one`,
    ];
    const heard = [...subjects, WORKER_ANNOUNCE_SUBJECT];
    expect(await refusedSubscriptions(worker, heard)).toEqual(heard);
    expect(await refusedMessages(worker, subjects)).toEqual(subjects);
  });

  it.each([
    ["front-1", [OWNERS_CHANGED, WORKER_ANNOUNCE_SUBJECT, `${inboxPrefix("front-2")}.one`]],
    ["sessions-1", [WORKER_ANNOUNCE_SUBJECT, `${inboxPrefix("front-2")}.one`]],
    ["supervisor", [REVOCATIONS, hostSubject("one"), WORKER_ANNOUNCE_SUBJECT, OWNERS_CHANGED]],
  ])("%s cannot pass for another", async (name, subjects) => {
    expect(await refusedMessages(await connectAs(name), subjects)).toEqual(subjects);
  });

  it("a front hears no commands and no audio that is on its way to a host", async () => {
    const subjects = [hostSubject("one"), hostSubject("*"), audioSubject("one"), "voice.audio.*"];
    expect(await refusedSubscriptions(await connectAs("front-1"), subjects)).toEqual(subjects);
  });

  it("nobody comes in as somebody else, or with a token", async () => {
    for (const { name } of USERS) {
      await expect(connectAs(name, `${passwordOf("worker-1")}x`)).rejects.toThrow();
    }
    await expect(connectAs("sessions-1", passwordOf("worker-1"))).rejects.toThrow();
    const withToken = connectBus({ url: nats.url, token: nats.token, name: "x", log: silentLog });
    await expect(withToken).rejects.toThrow();
  });
});

describe("NATS: what goes on meanwhile", () => {
  it("commands and their answers, frames, news of owners, and workers", async () => {
    const [front, other, host, worker] = await Promise.all(
      ["front-1", "front-2", "sessions-1", "worker-1"].map((name) => connectAs(name)),
    );
    if (!front || !other || !host || !worker) throw new Error("Somebody did not come in.");
    const [line, hostLine] = [new NatsMessageBus(front), new NatsMessageBus(host)];
    hostLine.serve(hostSubject("one"), async (data) => data);
    const heard: unknown[] = [];
    line.subscribe(liveSubject("s"), (data) => heard.push(decodeJson(data)));
    line.subscribe(OWNERS_CHANGED, () => heard.push("owners"));
    new NatsMessageBus(other).subscribe(REVOCATIONS, (data) => heard.push(decodeJson(data)));
    const workers: string[] = [];
    followWorkers(line, {
      key: KEY,
      onAnnouncement: ({ worker_id }) => workers.push(worker_id),
      refusalOf: () => undefined,
      log: silentLog,
    });
    await Promise.all([front.flush(), other.flush(), host.flush()]);
    const answer = await line.request(hostSubject("one"), encodeJson("do"), 5_000);
    expect(decodeJson(answer)).toBe("do");
    hostLine.publish(liveSubject("s"), encodeJson(["frame"]));
    hostLine.publish(OWNERS_CHANGED, new Uint8Array());
    line.publish(REVOCATIONS, encodeJson({ kind: "user" }));
    worker.publish(
      WORKER_ANNOUNCE_SUBJECT,
      encodeWorkerAnnouncement({
        worker_id: "w",
        address: "127.0.0.1:1",
        capacity: 1,
        sessions: 0,
        version: "1",
        engines: [],
        key_fingerprint: fingerprintOfKey(KEY),
        draining: false,
      }),
    );
    await until(() => heard.length === 3 && workers.length === 1, "what was published");
    expect(heard).toEqual(expect.arrayContaining([["frame"], "owners", { kind: "user" }]));
  });

  it("a host answers to inboxes only, whatever subject a question names", async () => {
    const [front, other, host] = await Promise.all(
      ["front-1", "front-2", "sessions-1"].map((name) => connectAs(name)),
    );
    if (!front || !other || !host) throw new Error("Somebody did not come in.");
    new NatsMessageBus(host).serve(hostSubject("one"), async (data) => data);
    const heard: unknown[] = [];
    new NatsMessageBus(other).subscribe(REVOCATIONS, (data) => heard.push(decodeJson(data)));
    await Promise.all([other.flush(), host.flush()]);
    front.publish(hostSubject("one"), encodeJson("forged"), { reply: REVOCATIONS });
    await new NatsMessageBus(front).request(hostSubject("one"), encodeJson("do"), 5_000);
    front.publish(REVOCATIONS, encodeJson("own"));
    await until(() => heard.length > 0, "a revocation");
    expect(heard).toEqual(["own"]);
  });
});
