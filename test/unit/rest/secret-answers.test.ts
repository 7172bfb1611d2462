import { type TSchema, Type } from "@sinclair/typebox";
import { describe, expect, it } from "vitest";
import type { Route } from "../../../src/rest/route.ts";
import { mayAnswerSecrets } from "../../../src/rest/secret-answers.ts";
import { allRoutes } from "../../support/whole-document.ts";

/** Whose answers are known to hold what proves somebody. */
const WITH_SECRETS = [
  "claimDeviceKey",
  "createGuestCode",
  "createServiceKey",
  "createVirtualDevice",
  "createWebhook",
  "enterAsGuest",
  "issueLiveTicket",
  "login",
  "openInvitation",
  "publishPairingCode",
  "refreshToken",
  "returnAsGuest",
  "rotateServiceKey",
  "rotateWebhookSecret",
  "validateMagicLink",
];
const LARGE = [
  "getAsyncApi",
  "getDocs",
  "getDocsScript",
  "getOpenApi",
  "getSessionGraph",
  "getTranscript",
  "getWorkspaceGraph",
  "listChunks",
  "listSegments",
  "listSessions",
  "queryWorkspace",
  "searchWorkspace",
];
const SECRET_MEMBER =
  /"(?:\w*_)?(?:token|secret|ticket|code|api_key|key|password)":\{[^{}]*"type":"string"/;

function idsOf(routes: readonly Route[]): string[] {
  return routes.map(({ id }) => id);
}

function answering(schema: TSchema | undefined, path = "/x"): Route {
  const responses = { 200: { description: "", ...(schema && { schema }) } };
  return { ...(allRoutes()[0] as Route), path, responses };
}

describe("secret answers: told by their schemas", () => {
  const routes = allRoutes();

  it("are those of every route that gives out a token, a key or a code", () => {
    const secret = routes.filter(mayAnswerSecrets);
    expect(idsOf(secret)).toEqual(expect.arrayContaining(WITH_SECRETS));
    const plain = routes.filter((route) => !mayAnswerSecrets(route));
    expect(plain.length + secret.length).toBeGreaterThan(100);
    for (const { id, responses } of plain) {
      const schemas = Object.values(responses).map(({ schema }) => schema);
      expect(JSON.stringify(schemas), id).not.toMatch(SECRET_MEMBER);
    }
  });

  it("are not those that are large", () => {
    expect(idsOf(routes.filter(mayAnswerSecrets)).filter((id) => LARGE.includes(id))).toEqual([]);
  });

  it("may lie deep in a schema, or anywhere in one that is open", () => {
    const token = Type.Object({ access_token: Type.String() });
    for (const schema of [
      token,
      Type.Array(Type.Object({ inner: token })),
      Type.Union([Type.Null(), token]),
      Type.Intersect([Type.Object({ id: Type.String() }), token]),
      Type.Record(Type.String(), token),
      Type.Object({ clientSecret: Type.Optional(Type.String()) }),
      Type.Object({ secret: Type.Union([Type.String(), Type.Null()]) }),
      Type.Object({ more: Type.Unknown() }),
      Type.Unsafe({ $ref: "#/elsewhere" }),
    ]) {
      expect(mayAnswerSecrets(answering(schema)), JSON.stringify(schema)).toBe(true);
    }
    const plain = Type.Object({
      kind: Type.Union([Type.Literal("a"), Type.Literal("b")]),
      status_code: Type.Integer(),
      key_expires_at: Type.String(),
      monkey: Type.String(),
    });
    expect(mayAnswerSecrets(answering(plain))).toBe(false);
    expect(mayAnswerSecrets(answering(plain, "/auth/anything"))).toBe(true);
    expect(mayAnswerSecrets(answering(undefined))).toBe(false);
  });
});
