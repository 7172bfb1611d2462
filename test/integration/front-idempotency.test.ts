import { randomBytes } from "node:crypto";
import { Type } from "@sinclair/typebox";
import { afterEach, describe, expect, it } from "vitest";
import { AppError } from "../../src/base/errors.ts";
import { newId } from "../../src/base/ids.ts";
import { commandIdOf } from "../../src/rest/idempotency.ts";
import { defineRoute, type Reply } from "../../src/rest/route.ts";
import { startFront, type TestFront } from "../support/front.ts";
import { MemoryIdempotencyStore } from "../support/memory/memory-idempotency-store.ts";

let front: TestFront | undefined;

afterEach(async () => {
  await front?.stop();
  front = undefined;
});

/** A front with one creating route whose work the test decides. */
async function start(work: () => Promise<Reply>, handlerTimeoutMs = 5_000) {
  let runs = 0;
  const make = defineRoute({
    method: "post",
    path: "/boxes/{id}/things",
    id: "makeThing",
    tag: "Session",
    summary: "Make",
    auth: ["bearer"],
    params: Type.Object({ id: Type.String() }),
    body: { kind: "json", schema: Type.Object({ name: Type.String() }) },
    responses: { 201: { description: "Made.", schema: Type.Unknown() } },
    errors: [],
    async handle() {
      runs += 1;
      return work();
    },
  });
  const plain = defineRoute({
    method: "post",
    path: "/look",
    id: "look",
    tag: "Session",
    summary: "Look",
    auth: [],
    responses: { 200: { description: "Seen.", schema: Type.Unknown() } },
    errors: [],
    async handle() {
      runs += 1;
      return { status: 200, body: {} };
    },
  });
  front = await startFront({ routes: [make, plain], limits: { handlerTimeoutMs } });
  const { base } = front;
  const box = newId();
  async function post(
    key: string,
    { user = "ann", name = "a", to = `/boxes/${box}/things` } = {},
  ): Promise<{ status: number; code: string | null; headers: Headers; body: unknown }> {
    const response = await fetch(base + to, {
      method: "POST",
      headers: {
        authorization: `Bearer user-${user}`,
        "content-type": "application/json",
        "idempotency-key": key,
      },
      body: JSON.stringify({ name }),
    });
    const { status, headers } = response;
    return { status, code: headers.get("x-error-code"), headers, body: await response.json() };
  }
  return { post, runs: () => runs };
}

/** A front with one wish, which is told the command's id; the test decides what becomes of it. */
async function startWish(
  work: (commandId: string) => Promise<Reply>,
  { method = "patch" as "patch" | "post", store = new MemoryIdempotencyStore() } = {},
) {
  const answer = { description: "Done.", schema: Type.Unknown() };
  const wish = defineRoute({
    method,
    path: "/boxes/{id}",
    id: "changeBox",
    tag: "Session",
    summary: "Change",
    throughActor: true,
    auth: ["bearer"],
    params: Type.Object({ id: Type.String() }),
    body: { kind: "json", schema: Type.Object({ name: Type.String() }) },
    responses: method === "post" ? { 201: answer } : { 200: answer },
    errors: [],
    handle: (request) => work(commandIdOf(request)),
  });
  const idempotency = { store, secret: randomBytes(32) };
  front = await startFront({ routes: [wish], idempotency });
  const { base } = front;
  const boxes = { one: newId(), other: newId() };
  return async (given: { key?: string; user?: string; name?: string; box?: "one" | "other" }) => {
    const { key, user = "ann", name = "a", box = "one" } = given;
    const response = await fetch(`${base}/boxes/${boxes[box]}`, {
      method: method.toUpperCase(),
      headers: {
        authorization: `Bearer user-${user}`,
        "content-type": "application/json",
        ...(key === undefined ? {} : { "idempotency-key": key }),
      },
      body: JSON.stringify({ name }),
    });
    return { status: response.status, code: response.headers.get("x-error-code") };
  };
}

async function created(): Promise<Reply> {
  return { status: 201, headers: { Location: "/x" }, body: { id: newId(), secret: "s" } };
}

describe("front idempotency", () => {
  it("asks for the same command whenever a wish is repeated, and keeps no answer of it", async () => {
    const asked: string[] = [];
    const change = await startWish(async (commandId) => {
      asked.push(commandId);
      if (asked.length === 1) throw new AppError("outcome_unknown", "Nobody knows.");
      return { status: 200, body: {} };
    });
    const first = await change({ key: "k" });
    expect(first).toEqual({ status: 503, code: "outcome_unknown" });
    expect((await change({ key: "k" })).status).toBe(200);
    expect((await change({ key: "k" })).status).toBe(200);
    expect(asked).toHaveLength(3);
    expect(new Set(asked).size).toBe(1);
    // Another key, caller, thing or body is another command; without a key each one is.
    const others = [{ key: "l" }, { user: "bob" }, { box: "other" as const }, { name: "b" }];
    for (const other of others) await change({ key: "k", ...other });
    await change({});
    await change({});
    expect(new Set(asked).size).toBe(7);
    expect(await change({ key: "é" })).toMatchObject({ code: "invalid_parameter" });
  });

  it("tells what became of a wish that creates, though its key could not be freed", async () => {
    const store = new MemoryIdempotencyStore();
    store.release = () => Promise.reject(new AppError("unavailable", "The record is away."));
    const asked: string[] = [];
    const work = async (commandId: string): Promise<Reply> => {
      asked.push(commandId);
      if (asked.length === 1) throw new AppError("outcome_unknown", "Nobody knows.");
      return { status: 201, body: {} };
    };
    const redact = await startWish(work, { method: "post", store });
    expect(await redact({ key: "k" })).toEqual({ status: 503, code: "outcome_unknown" });
    expect(await redact({ key: "k" })).toEqual({ status: 201, code: null });
    expect(new Set(asked).size).toBe(1);
    expect(await redact({ key: "k", name: "b" })).toMatchObject({ code: "idempotency_mismatch" });
  });

  it("gives the first answer again, marked, with its headers", async () => {
    const { post, runs } = await start(created);
    const first = await post("k");
    const again = await post("k");
    expect([first.status, again.status, runs()]).toEqual([201, 201, 1]);
    expect(again.body).toEqual(first.body);
    expect(again.headers.get("location")).toBe("/x");
    expect(first.headers.get("idempotency-replayed")).toBeNull();
    expect(again.headers.get("idempotency-replayed")).toBe("true");
  });

  it("knows a key by its caller, and refuses it for another body or address", async () => {
    const { post, runs } = await start(created);
    await post("k");
    expect((await post("k", { user: "bob" })).status).toBe(201);
    expect(runs()).toBe(2);
    const other = await post("k", { name: "b" });
    expect([other.status, other.code]).toEqual([422, "idempotency_mismatch"]);
    const elsewhere = await post("k", { to: `/boxes/${newId()}/things` });
    expect(elsewhere.code).toBe("idempotency_mismatch");
    expect(runs()).toBe(2);
  });

  it("answers 409 while the first one runs, also when that one's caller was told of a timeout", async () => {
    let release = (): void => {};
    const gate = new Promise<void>((resolve) => {
      release = resolve;
    });
    const { post, runs } = await start(async () => {
      await gate;
      return created();
    }, 200);
    const first = post("k");
    expect((await first).code).toBe("timeout");
    const busy = await post("k");
    expect([busy.status, busy.code]).toEqual([409, "idempotency_in_progress"]);
    expect(busy.headers.get("retry-after")).toBe("1");
    release();
    await expect.poll(async () => (await post("k")).status).toBe(201);
    expect(runs()).toBe(1);
  });

  it("frees the key of an attempt that came to nothing", async () => {
    const failures = [new Error("broken"), new AppError("conflict", "Not now.")];
    const { post } = await start(async () => {
      const failure = failures.shift();
      if (failure !== undefined) throw failure;
      return created();
    });
    expect((await post("k")).status).toBe(500);
    expect((await post("k")).status).toBe(409);
    expect((await post("k")).status).toBe(201);
  });

  it("refuses a malformed key after the body was checked, and ignores keys elsewhere", async () => {
    const { post, runs } = await start(created);
    for (const key of ["a b", "a".repeat(256), "kéy"]) {
      const refused = await post(key);
      expect([refused.status, refused.code]).toEqual([400, "invalid_parameter"]);
    }
    expect((await post("a".repeat(255))).status).toBe(201);
    expect((await post("k", { to: "/look" })).status).toBe(200);
    expect((await post("k", { to: "/look", name: "b" })).status).toBe(200);
    expect(runs()).toBe(3);
  });
});
