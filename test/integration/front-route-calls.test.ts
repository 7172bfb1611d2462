import { Type } from "@sinclair/typebox";
import { describe, expect, it } from "vitest";
import { AppError } from "../../src/base/errors.ts";
import { type CallInput, defineRoute, type Request } from "../../src/rest/route.ts";
import { JSON_HEADERS, post, problem, start, stopAfterEach } from "../support/front-calls.ts";

const Anything = { 200: { description: "What came.", schema: Type.Unknown() } };
const base = { tag: "Session", summary: "S", responses: Anything } as const;

/** A route that calls others by the body, and some to be called. */
function callingRoutes(seen: Request[]) {
  return [
    defineRoute({
      ...{ ...base, method: "post", path: "/calls", id: "callOthers", auth: ["bearer"] },
      calls: true,
      responses: { ...Anything, 202: { description: "Later" } },
      body: { kind: "json", schema: Type.Object({ id: Type.String(), given: Type.Any() }) },
      async handle({ body, call }) {
        const given = body.given as CallInput;
        return { status: 200, body: { answer: await call?.(body.id, given) } };
      },
    }),
    defineRoute({
      ...{ ...base, method: "post", path: "/things/{thing_id}/ask-query", id: "askThing" },
      auth: ["bearer"],
      params: Type.Object({ thing_id: Type.String({ pattern: "^[a-z]+$" }) }),
      query: Type.Object({ count: Type.Optional(Type.Integer({ minimum: 1 })) }),
      body: { kind: "json", schema: Type.Object({ name: Type.String({ minLength: 2 }) }) },
      async resolve({ params }) {
        if (params.thing_id === "gone") throw new AppError("not_found", "It is gone.");
        return { resolved: params.thing_id };
      },
      async handle(request, resource) {
        seen.push(request as Request);
        const { params, query, body } = request;
        return { status: 200, body: { params, query, body, resource } };
      },
    }),
    defineRoute({
      ...{ ...base, method: "get", path: "/admins", id: "onlyAdmins", auth: ["bearer"] },
      roles: ["admin"],
      handle: async () => ({ status: 200, body: "admin" }),
    }),
    defineRoute({
      ...{ ...base, method: "get", path: "/devices-only", id: "onlyDevices", auth: ["device_key"] },
      handle: async () => ({ status: 200, body: "device" }),
    }),
  ];
}

describe("a route that calls others", () => {
  stopAfterEach();

  const ask = (thing_id: string, query: object, name: unknown) => {
    return { id: "askThing", given: { params: { thing_id }, query, body: { name } } };
  };

  async function front(queryBurst = 20) {
    const seen: Request[] = [];
    const rates = { query: { perMinute: 1, burst: queryBurst } };
    const { url } = await start({ routes: callingRoutes(seen), rates });
    const send = (body: object, user = "ann", headers = {}) =>
      post(`${url}/calls`, JSON.stringify(body), {
        ...{ ...JSON_HEADERS, authorization: `Bearer user-${user}`, "x-own": "1" },
        ...headers,
      });
    return { seen, url, send };
  }

  it("carries them out for its caller, without its headers", async () => {
    const { send, seen } = await front();
    const response = await send(ask("abc", { count: 2, left: undefined }, "Bo"));
    expect(response.status).toBe(200);
    expect(await response.json()).toEqual({
      answer: {
        params: { thing_id: "abc" },
        query: { count: 2 },
        body: { name: "Bo" },
        resource: { resolved: "abc" },
      },
    });
    expect(seen[0]).toMatchObject({ principal: { kind: "user", id: "ann" }, headers: {} });
  });

  it.each([
    [ask("ABC", {}, "Bo"), [404, "not_found", '"ABC" is not the id of a thing.']],
    [ask("gone", {}, "Bo"), [404, "not_found", "It is gone."]],
    [ask("abc", { count: 0 }, "Bo"), [400, "invalid_parameter", '"count" must be >= 1.']],
    [ask("abc", {}, "B"), [400, "invalid_body", '"name" must have at least 2 characters.']],
    [
      { id: "onlyAdmins", given: {} },
      [403, "forbidden", "Your role, participant, does not allow this."],
    ],
    [{ id: "onlyDevices", given: {} }, [403, "forbidden", "This kind of caller cannot do this."]],
  ])("refuses %j as the route itself does", async (body, wanted) => {
    const { send, seen } = await front();
    expect(await problem(await send(body))).toEqual(wanted);
    expect(seen).toEqual([]);
  });

  it("counts them for the limits of what they are, together with requests of their own", async () => {
    const { send, url } = await front(2);
    const asking = ask("abc", {}, "Bo");
    expect((await send(asking)).headers.get("ratelimit-limit")).toBe("2");
    const own = await post(`${url}/things/abc/ask-query`, '{"name":"Bo"}', {
      ...{ ...JSON_HEADERS, authorization: "Bearer user-ann" },
    });
    expect(own.status).toBe(200);
    const [status, code] = await problem(await send(asking));
    expect([status, code]).toEqual([429, "rate_limited"]);
    expect((await send(asking, "ben")).status).toBe(200);
    expect((await send({ id: "onlyAdmins", given: {} }, "admina")).status).toBe(200);
  });

  it("keeps no answer for an Idempotency-Key, as it holds what others answered", async () => {
    const { send, seen } = await front();
    const headers = { "idempotency-key": "one" };
    for (const _attempt of [1, 2]) {
      const response = await send(ask("abc", {}, "Bo"), "ann", headers);
      expect(response.headers.get("idempotency-replayed")).toBeNull();
    }
    expect(seen).toHaveLength(2);
  });
});
