import { readFile } from "node:fs/promises";
import { Type } from "@sinclair/typebox";
import { AppError } from "../../src/base/errors.ts";
import { defineRoute, type Request, type Route, type UploadContent } from "../../src/rest/route.ts";

const Anything = { 200: { description: "What came.", schema: Type.Unknown() } };

export interface EchoRoutes {
  routes: Route[];
  /** Requests that a handler has seen, by route id. */
  seen: Map<string, Request[]>;
  /** What `slow` waits for. */
  release: () => void;
}

/** Routes of every kind, which say what reached them. */
export function echoRoutes(): EchoRoutes {
  const seen = new Map<string, Request[]>();
  let release = (): void => {};
  const gate = new Promise<void>((resolve) => {
    release = resolve;
  });
  const note = (id: string, request: unknown): void => {
    seen.set(id, [...(seen.get(id) ?? []), request as Request]);
  };
  const base = { tag: "Session", auth: [], errors: [], responses: Anything } as const;
  const routes = [
    defineRoute({
      ...base,
      method: "get",
      path: "/things",
      id: "listThings",
      summary: "List",
      query: Type.Object({
        limit: Type.Optional(Type.Integer({ minimum: 1, maximum: 100 })),
        deep: Type.Optional(Type.Boolean()),
      }),
      handle: async ({ query }) => ({ status: 200, body: query }),
    }),
    defineRoute({
      ...base,
      method: "post",
      path: "/things",
      id: "makeThing",
      summary: "Make",
      body: {
        kind: "json",
        schema: Type.Object({
          name: Type.String({ minLength: 1 }),
          kind: Type.Optional(Type.Union([Type.Literal("a"), Type.Literal("b")])),
          count: Type.Optional(Type.Integer()),
        }),
      },
      handle: async (request) => {
        note("makeThing", request);
        return { status: 200, body: request.body };
      },
    }),
    defineRoute({
      ...base,
      method: "get",
      path: "/things/{id}",
      id: "getThing",
      summary: "Get",
      auth: ["bearer"],
      handle: async ({ params, principal }) => ({
        status: 200,
        body: { ...(params as object), caller: principal?.id },
      }),
    }),
    defineRoute({
      ...base,
      method: "put",
      path: "/things/{id}",
      id: "putThing",
      summary: "Put",
      auth: ["bearer"],
      roles: ["admin"],
      body: { kind: "json", schema: Type.Object({ name: Type.String() }) },
      errors: ["not_found"],
      resolve: async ({ params }) => {
        const { id } = params as { id: string };
        if (id.endsWith("0")) throw new AppError("not_found", "There is no such thing.");
        return id;
      },
      handle: async (_request, id: string) => ({ status: 200, body: { id } }),
    }),
    defineRoute({
      ...base,
      method: "delete",
      path: "/things/{id}",
      id: "deleteThing",
      summary: "Delete",
      responses: { 204: { description: "Gone." } },
      handle: async () => ({ status: 204 }),
    }),
    defineRoute({
      ...base,
      method: "post",
      path: "/upload",
      id: "upload",
      summary: "Upload",
      body: {
        kind: "upload",
        form: Type.Object({ chunk_sequence: Type.Optional(Type.Integer()) }),
      },
      handle: async (request) => {
        note("upload", request);
        const upload = request.upload;
        const { content, ...rest } = upload ?? {};
        const length = content === undefined ? -1 : (await bytesOf(content)).byteLength;
        const path = content?.kind === "file" ? content.path : undefined;
        return { status: 200, body: { ...rest, path, length } };
      },
    }),
    defineRoute({
      ...base,
      method: "post",
      path: "/locked-upload",
      id: "lockedUpload",
      summary: "Upload",
      auth: ["device_key"],
      body: { kind: "upload" },
      handle: async ({ upload }) => ({ status: 200, body: { bytes: upload?.bytes } }),
    }),
    defineRoute({
      ...base,
      method: "get",
      path: "/slow",
      id: "slow",
      summary: "Slow",
      handle: async (request) => {
        note("slow", request);
        await gate;
        return { status: 200, body: { slow: true } };
      },
    }),
    defineRoute({
      ...base,
      method: "get",
      path: "/broken",
      id: "broken",
      summary: "Broken",
      handle: async () => {
        throw new Error("secret detail");
      },
    }),
    defineRoute({
      ...base,
      method: "get",
      path: "/split",
      id: "split",
      summary: "A header that would split the answer",
      handle: async () => ({ status: 200, body: {}, headers: { "X-Bad": "a\r\nX-Evil: 1" } }),
    }),
    defineRoute({
      ...base,
      method: "get",
      path: "/refresh",
      id: "refresh",
      summary: "Refresh",
      auth: ["refresh"],
      handle: async ({ principal, headers }) => ({
        status: 200,
        body: { principal: principal ?? "none", authorization: headers.authorization },
      }),
    }),
  ];
  return { routes, seen, release: () => release() };
}

async function bytesOf(content: UploadContent): Promise<Buffer> {
  return content.kind === "memory" ? content.data : readFile(content.path);
}
