import { createHash, randomBytes } from "node:crypto";
import { writeFileSync } from "node:fs";
import type { IncomingMessage } from "node:http";
import { join } from "node:path";
import { afterEach, describe, expect, it } from "vitest";
import { newId } from "../../src/base/ids.ts";
import type { S3Settings } from "../../src/conversations/recording/audio-store/s3-bucket.ts";
import { Refusal, type S3Mood } from "../support/audio-store/s3-server.ts";
import { openS3 } from "../support/audio-store/store-places.ts";
import { codeOf } from "../support/route-call.ts";

const MIB = 1024 ** 2;
const DAY = 24 * 3_600_000;
const bytes = randomBytes(1_000);
const sha256 = createHash("sha256").update(bytes).digest("hex");

/** What the audio store asks of an S3 server beyond what all stores do, and how it takes its faults. */
describe("S3 store", () => {
  let place: Awaited<ReturnType<typeof openS3>>;
  afterEach(() => place.close());

  async function started(settings: Partial<S3Settings> = {}) {
    place = await openS3(settings);
    await place.store.start();
    return place;
  }

  it("large files go in parts, of which none is left whether or not the name is free", async () => {
    const { store, server } = await started();
    const session = newId();
    for (let n = 0; n < 2; n += 1) {
      const path = join(store.temporaryFolder, newId());
      writeFileSync(path, Buffer.alloc(17 * MIB, n));
      await store.put(session, sha256, path);
    }
    expect(server.asked.filter((each) => each === "POST uploads")).toHaveLength(2);
    expect(server.asked.filter((each) => each === "PUT partNumber&uploadId&x-id")).toHaveLength(6);
    expect(server.unfinished).toBe(0);
    expect((await store.read(session, sha256))[0]).toBe(0);
  });

  it("asks the server to encrypt all that it writes, in each way of writing", async () => {
    const { store, server } = await started({ encryption: "aws:kms", kmsKey: "key-1" });
    const session = newId();
    await store.putBytes(session, sha256, bytes);
    await store.putBytes(session, "ab".repeat(32), Buffer.alloc(9 * MIB));
    await store.replace(session, sha256, Buffer.alloc(1_000));
    place.age(session, sha256, Date.now() - 2 * DAY);
    await store.setAside(session, sha256, Date.now() - DAY, Date.now());
    await store.ledger.writeOnce("a.json", "{}");
    const found = [...server.objects.values()].map(({ encryption, kmsKey }) => [
      encryption,
      kmsKey,
    ]);
    expect(found).toEqual(Array.from({ length: 3 }, () => ["aws:kms", "key-1"]));
  });

  it("takes a read up again where its connection broke, by a range of the same version", async () => {
    const { store, server } = await started();
    const session = newId();
    const large = randomBytes(2 * MIB);
    await store.putBytes(session, sha256, large);
    server.cuts = 2;
    expect(large.equals(await store.read(session, sha256))).toBe(true);
    expect(server.ranges.length).toBeGreaterThan(0);
    server.cuts = 100;
    expect(await codeOf(store.read(session, sha256))).toBe("unavailable");
  });

  it("what a start refuses says what is wrong, and with which setting", async () => {
    const refused = async (settings: Partial<S3Settings>, break_?: () => void) => {
      place = await openS3(settings);
      break_?.();
      const message = await place.store.start().then(
        () => "started",
        (error: Error) => error.message,
      );
      return message;
    };
    expect(await refused({ bucket: "other" })).toContain("no such bucket");
    await place.close();
    const credentials = { accessKeyId: "AKIATEST", secretAccessKey: "wrong" };
    expect(await refused({ credentials })).toContain("refuses these credentials");
    await place.close();
    expect(await refused({ endpoint: "http://127.0.0.1:1" })).toContain("AUDIO_S3_ENDPOINT");
    await place.close();
    place = await openS3();
    place.server.versioning = new Refusal(403, "AccessDenied");
    await expect(place.store.start()).rejects.toThrow("s3:GetBucketVersioning");
    place.server.versioning = new Refusal(501, "NotImplemented");
    await place.store.start();
    place.server.ignoresConditions = true;
    await expect(place.store.start()).rejects.toThrow("ignores If-None-Match");
    expect(place.server.objects.size).toBe(0);
  });

  it.each<S3Mood>(["away", "busy", "hanging"])(
    "%s: each call ends in time as unavailable with a time to come again, and all is well after",
    async (mood) => {
      const { store, server } = await started({ answerMs: 200 });
      const session = newId();
      await store.putBytes(session, sha256, bytes);
      server.mood = mood;
      const path = join(store.temporaryFolder, newId());
      writeFileSync(path, bytes);
      const calls = [
        () => store.putBytes(newId(), sha256, bytes),
        () => store.put(newId(), sha256, path),
        () => store.read(session, sha256),
        () => store.digest(session, sha256),
        () => store.lend(session, sha256, undefined),
        () => store.replace(session, sha256, bytes),
        () => store.delete(session),
        () => store.olderThan(session, Date.now()),
        () => store.ledger.writeOnce("a.json", "{}"),
        () => store.ledger.list(),
        () => store.assertThere(),
      ];
      const errors = await Promise.all(
        calls.map((call) => call().then(String, (error: unknown) => error)),
      );
      for (const error of errors) {
        expect(error).toMatchObject({ code: "unavailable", retryAfter: 10 });
      }
      expect((await store.probe()).fault).toBeDefined();
      server.mood = "well";
      expect((await store.probe()).fault).toBeUndefined();
      expect(await store.read(session, sha256)).toEqual(bytes);
      // The file that could not be stored is there for the next try.
      await store.put(newId(), sha256, path);
    },
  );

  it("whoever stores a file again that is being set aside keeps it, or is asked to come again", async () => {
    const { store, server } = await started();
    let [kept, again, aside] = [0, 0, 0];
    for (const order of ordersOf(4, 3)) {
      const session = newId();
      await store.putBytes(session, sha256, bytes);
      place.age(session, sha256, Date.now() - 2 * DAY);
      const turns = new RequestTurns(order);
      server.before = (request) => turns.take(isOfSettingAside(request) ? "aside" : "store");
      const [isAside, code] = await Promise.all([
        store
          .setAside(session, sha256, Date.now() - DAY, Date.now())
          .finally(() => turns.end("aside")),
        codeOf(store.putBytes(session, sha256, bytes)).finally(() => turns.end("store")),
      ]);
      server.before = undefined;
      if (isAside) aside += 1;
      if (code === "unavailable") again += 1;
      else {
        kept += 1;
        expect(await store.read(session, sha256), order.join(" ")).toEqual(bytes);
      }
    }
    expect(kept + again).toBe(35);
    // Both orders were seen.
    expect([kept > 0, again > 0, aside > 0]).toEqual([true, true, true]);
  });
});

type Actor = "aside" | "store";

/** All orders of so many requests of the one that sets aside and the one that stores. */
function ordersOf(aside: number, store: number): Actor[][] {
  if (aside === 0) return [Array.from({ length: store }, () => "store" as const)];
  if (store === 0) return [Array.from({ length: aside }, () => "aside" as const)];
  return [
    ...ordersOf(aside - 1, store).map((rest): Actor[] => ["aside", ...rest]),
    ...ordersOf(aside, store - 1).map((rest): Actor[] => ["store", ...rest]),
  ];
}

/** Storing writes the name, makes it young, and lists what is aside; the others are of setting aside. */
function isOfSettingAside({ method, headers, url }: IncomingMessage): boolean {
  if (method === "PUT") {
    return headers["x-amz-copy-source"] !== undefined && url?.includes("/set-aside/") === true;
  }
  return method !== "GET";
}

/** Lets the requests of two through in an order; beyond it, when the other has ended, as they come. */
class RequestTurns {
  #order: readonly Actor[];
  readonly #waiting: { actor: Actor; go: () => void }[] = [];

  constructor(order: readonly Actor[]) {
    this.#order = order;
  }

  take(actor: Actor): Promise<void> {
    return new Promise((go) => {
      this.#waiting.push({ actor, go });
      this.#letGo();
    });
  }

  end(actor: Actor): void {
    this.#order = this.#order.filter((each) => each !== actor);
    this.#letGo();
  }

  #letGo(): void {
    for (;;) {
      const [next] = this.#order;
      const at = this.#waiting.findIndex(({ actor }) => next === undefined || actor === next);
      if (at === -1) return;
      this.#order = this.#order.slice(1);
      for (const { go } of this.#waiting.splice(at, 1)) go();
    }
  }
}
