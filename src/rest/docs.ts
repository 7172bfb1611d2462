import { createHash } from "node:crypto";
import { type TSchema, Type } from "@sinclair/typebox";
import { ERROR_STATUS } from "../base/errors.ts";
import { escapeHtml } from "../base/html.ts";
import { type ApiInfo, errorCodesOf, openApiDocument } from "./openapi.ts";
import { defineRoute, type Route } from "./route.ts";

const STYLE = `
:root { color-scheme: light dark; font: 16px/1.5 system-ui, sans-serif; }
body { max-width: 60rem; margin: 2rem auto; padding: 0 1rem; }
h2 { margin-top: 3rem; border-bottom: 1px solid #8886; }
article { margin: 1.5rem 0; }
h3 { margin: 0; font-size: 1rem; }
code { font-family: ui-monospace, monospace; }
.method { display: inline-block; min-width: 4.5em; font-weight: 700; }
pre { overflow-x: auto; padding: .75rem; background: #8881; border-radius: .4rem; font-size: .85rem; }
p { margin: .25rem 0; }
`;

/** The page's content security policy allows only this style. */
const STYLE_HASH = `sha256-${createHash("sha256").update(STYLE).digest("base64")}`;

/** A page without scripts: every route by tag, with its input and its answers. */
function docsPage(
  routes: readonly Route[],
  info: ApiInfo,
  errorsOf: (route: Route) => number[],
): string {
  const tags = [...new Set(routes.map((route) => route.tag))].sort();
  const links = tags.map((tag) => `<a href="#${tag}">${tag}</a>`).join(" · ");
  const sections = tags.map((tag) => {
    const own = routes.filter((route) => route.tag === tag);
    const articles = own.map((route) => article(route, info, errorsOf(route)));
    return `<h2 id="${tag}">${tag}</h2>${articles.join("")}`;
  });
  return `<!doctype html><html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width"><title>${escapeHtml(info.title)}</title><style>${STYLE}</style></head><body><h1>${escapeHtml(info.title)} ${escapeHtml(info.version)}</h1><p>${escapeHtml(info.description ?? "")}</p><p><a href="${info.basePath}/openapi.json">OpenAPI document</a> · <a href="${info.basePath}/asyncapi.json">AsyncAPI document of the live channel</a></p><p>${links}</p>${sections.join("")}</body></html>`;
}

function article(route: Route, info: ApiInfo, errors: readonly number[]): string {
  const auth = route.auth.length === 0 ? "no authentication" : route.auth.join(" or ");
  const answers = Object.entries(route.responses).map(
    ([status, spec]) =>
      `<p><code>${status}</code> ${escapeHtml(spec.description)}</p>${schemaText(spec.schema)}`,
  );
  const parts = [
    `<h3 id="${route.id}"><code><span class="method">${route.method.toUpperCase()}</span> ${escapeHtml(info.basePath + route.path)}</code></h3>`,
    `<p>${escapeHtml(route.summary)}. ${escapeHtml(route.description ?? "")}</p>`,
    `<p>Caller: ${escapeHtml(auth)}${route.roles === undefined ? "" : `; roles: ${route.roles.join(", ")}`}</p>`,
    route.query === undefined ? "" : `<p>Query</p>${schemaText(route.query)}`,
    route.body?.kind === "json" ? `<p>Body</p>${schemaText(route.body.schema)}` : "",
    route.body?.kind === "upload" ? "<p>Body: a file, raw or multipart.</p>" : "",
    ...answers,
    `<p>Errors: ${errors.join(", ")}</p>`,
  ];
  return `<article>${parts.join("")}</article>`;
}

function schemaText(schema: TSchema | undefined): string {
  if (schema === undefined) return "";
  return `<pre>${escapeHtml(JSON.stringify(schema, undefined, 2))}</pre>`;
}

const PAGE_POLICY = `default-src 'none'; style-src '${STYLE_HASH}'; frame-ancestors 'none'; base-uri 'none'; form-action 'none'`;

interface DocsOptions {
  /** The AsyncAPI document of the live channel. */
  asyncApi(info: { title: string; version: string }): object;
}

/**
 * Routes GET /openapi.json, /docs and, if given, /asyncapi.json. `routes` is called at the first
 * request, so that its result can include these routes.
 */
export function docsRoutes(
  routes: () => readonly Route[],
  info: ApiInfo,
  ports?: DocsOptions,
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
        200: {
          description: "The document.",
          schema: Type.Object({
            openapi: Type.String({ description: "Version of the specification" }),
          }),
        },
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

function asyncApiRoute(info: ApiInfo, { asyncApi }: DocsOptions): Route {
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
      200: {
        description: "The document.",
        schema: Type.Object({
          asyncapi: Type.String({ description: "Version of the specification" }),
        }),
      },
    },
    handle: async () => ({ status: 200, body: document }),
  });
}
