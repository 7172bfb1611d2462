import { Type } from "@sinclair/typebox";
import { ERROR_STATUS } from "../base/errors.ts";
import { docsPage, STYLE_HASH } from "./docs-page.ts";
import { type ApiInfo, errorCodesOf, openApiDocument } from "./openapi.ts";
import { defineRoute, type Route } from "./route.ts";

const PAGE_POLICY = `default-src 'none'; style-src '${STYLE_HASH}'; frame-ancestors 'none'; base-uri 'none'; form-action 'none'`;

export interface DocsPorts {
  /** The AsyncAPI document of the live channel. */
  asyncApi(info: { title: string; version: string }): object;
}

/**
 * GET /openapi.json, /docs and, given its port, /asyncapi.json, over the routes
 * that `routes` returns, asked at the first request, so that these can be among
 * them.
 */
export function docsRoutes(
  routes: () => readonly Route[],
  info: ApiInfo,
  ports?: DocsPorts,
): Route[] {
  let document: Record<string, unknown> | undefined;
  let page: string | undefined;
  return [
    ...(ports === undefined ? [] : [asyncApiRoute(info, ports)]),
    defineRoute({
      method: "get",
      path: "/openapi.json",
      id: "getOpenApi",
      tag: "Health",
      summary: "This interface as an OpenAPI 3.1 document",
      auth: [],
      constant: true,
      responses: {
        200: { description: "The document.", schema: Type.Object({ openapi: Type.String() }) },
      },
      handle: async () => {
        document ??= openApiDocument(routes(), info);
        return { status: 200, body: document };
      },
    }),
    defineRoute({
      method: "get",
      path: "/docs",
      id: "getDocs",
      tag: "Health",
      summary: "This interface as a page for people",
      auth: [],
      constant: true,
      responses: { 200: { description: "The page.", mediaTypes: ["text/html"] } },
      handle: async () => {
        page ??= docsPage(routes(), info, (route) => [
          ...new Set(errorCodesOf(route).map((code) => ERROR_STATUS[code])),
        ]);
        const headers = {
          "Content-Type": "text/html; charset=utf-8",
          "Content-Security-Policy": PAGE_POLICY,
        };
        return { status: 200, headers, body: page };
      },
    }),
  ];
}

function asyncApiRoute(info: ApiInfo, { asyncApi }: DocsPorts): Route {
  const document = asyncApi({ title: info.title, version: info.version });
  return defineRoute({
    method: "get",
    path: "/asyncapi.json",
    id: "getAsyncApi",
    tag: "Health",
    summary: "The live channel as an AsyncAPI 3.0 document",
    auth: [],
    constant: true,
    responses: {
      200: { description: "The document.", schema: Type.Object({ asyncapi: Type.String() }) },
    },
    handle: async () => ({ status: 200, body: document }),
  });
}
