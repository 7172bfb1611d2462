import { Type } from "@sinclair/typebox";
import { ERROR_STATUS } from "../base/errors.ts";
import { docsPage, STYLE_HASH } from "./docs-page.ts";
import { type ApiInfo, errorCodesOf, openApiDocument } from "./openapi.ts";
import { defineRoute, type Route } from "./route.ts";

const PAGE_POLICY = `default-src 'none'; style-src '${STYLE_HASH}'; frame-ancestors 'none'; base-uri 'none'; form-action 'none'`;

/**
 * GET /openapi.json and GET /docs over the routes that `routes` returns, asked
 * at the first request, so that these two can be among them.
 */
export function docsRoutes(routes: () => readonly Route[], info: ApiInfo): Route[] {
  let document: Record<string, unknown> | undefined;
  let page: string | undefined;
  return [
    defineRoute({
      method: "get",
      path: "/openapi.json",
      id: "getOpenApi",
      tag: "Health",
      summary: "This interface as an OpenAPI 3.1 document",
      auth: [],
      errors: [],
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
      errors: [],
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
