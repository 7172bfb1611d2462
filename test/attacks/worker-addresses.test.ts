import { connect, type NatsConnection } from "nats";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { WORKER_ANNOUNCE_SUBJECT } from "../../src/wire/subjects.ts";
import { encodeWorkerAnnouncement, fingerprintOfKey } from "../../src/wire/worker-announcement.ts";
import { AttackedService } from "../support/attacked-service.ts";
import { until } from "../support/until.ts";
import { WORKER_KEY } from "../support/worker-key.ts";

const START_MS = 60_000;

const ELSEWHERE = [
  "192.0.2.7:4000",
  "[2001:db8::7]:4000",
  "0.0.0.0:4000",
  "collector.example:4000",
  "localhost.example:4000",
  "127.0.0.1.example:4000",
];
const HERE = ["127.0.0.1:4000", "[::1]:4000", "localhost:4001"];

let service: AttackedService;
let bus: NatsConnection;
afterEach(async () => {
  await bus?.close();
  await service?.close();
});

async function open(env: Record<string, string> = {}): Promise<void> {
  service = await AttackedService.open(env);
  bus = await connect({ servers: service.nats.url, token: service.nats.token });
}

/** Addresses of the workers that the service knows. */
async function known(): Promise<string[]> {
  const { headers } = await service.addUser("admin");
  const { workers } = await service.done("GET", "/admin/overview", headers);
  return (workers as { address: string }[]).map(({ address }) => address).sort();
}

/** What is known once the address announced last is; a worker announces itself again and again. */
async function heardAfter(last: string): Promise<string[]> {
  let heard: string[] = [];
  const isThere = async (): Promise<boolean> => {
    for (const address of [...ELSEWHERE, ...HERE]) announce(address);
    heard = await known();
    return heard.includes(last);
  };
  await until(isThere, `${last} to be known`);
  return heard;
}

/** Whoever came in as a worker has heard the fingerprint of the key, which all announce. */
function announce(address: string): void {
  bus.publish(
    WORKER_ANNOUNCE_SUBJECT,
    encodeWorkerAnnouncement({
      worker_id: `worker at ${address}`,
      address,
      capacity: 1_000,
      sessions: 0,
      version: "1.0.0",
      engines: ["scripted"],
      key_fingerprint: fingerprintOfKey(WORKER_KEY),
      draining: false,
    }),
  );
}

describe("announcements of workers elsewhere, where nothing is encrypted", () => {
  describe("as the service is", () => {
    beforeEach(() => open(), START_MS);

    it("are not believed: no words and audio go there", async () => {
      expect(await heardAfter("localhost:4001")).toEqual([...HERE].sort());
    });
  });

  describe("on a network that the operator said is his alone", () => {
    beforeEach(() => open({ ALLOW_INSECURE: "1" }), START_MS);

    it("are believed", async () => {
      expect(await heardAfter("localhost:4001")).toEqual([...ELSEWHERE, ...HERE].sort());
    });
  });
});
