import { createHash, randomBytes } from "node:crypto";
import { promisify } from "node:util";
import { gzip } from "node:zlib";
import { Type } from "@sinclair/typebox";
import { escapeHtml } from "../base/html.ts";
import { type ApiInfo, openApiDocument } from "./openapi.ts";
import { type BodyStream, defineRoute, type Route } from "./route.ts";

/**
 * What the reference may do: run its script, and ask this service. Scalar makes `<style>` elements
 * whose text cannot be known before; they carry the nonce of this answer.
 */
function pagePolicy(nonce: string): string {
  return [
    "default-src 'none'",
    "script-src 'self'",
    `style-src 'self' 'nonce-${nonce}'`,
    "img-src 'self' data:",
    "font-src 'self'",
    "connect-src 'self'",
    "base-uri 'none'",
    "form-action 'none'",
    "frame-ancestors 'none'",
  ].join("; ");
}

/** The page of the reference, with relative addresses, as a prefix may stand before: a script that draws it, and for those without scripts the documents. */
function docsPage({ title, version }: ApiInfo, digest: string, nonce: string): string {
  const script = `docs/reference.js?v=${digest}`;
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta property="csp-nonce" content="${nonce}">
<title>${escapeHtml(title)} ${escapeHtml(version)}: reference</title>
</head>
<body>
<noscript>
<p>This reference is drawn by a script. Without scripts, read the <a href="openapi.json">OpenAPI document</a> and the <a href="asyncapi.json">AsyncAPI document of the live channel</a>.</p>
</noscript>
<div id="app"></div>
<script src="${script}"></script>
</body>
</html>
`;
}

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
  let loading: Promise<Reference> | undefined;
  const reference = () => {
    loading ??= loadReference(info);
    return loading;
  };
  return [
    ...(ports === undefined ? [] : [asyncApiRoute(info, ports)]),
    defineRoute({
      method: "get",
      path: "/openapi.json",
      id: "getOpenApi",
      tag: "Health",
      summary: "This interface as an OpenAPI 3.1 document",
      description: "For generators of clients and for other tools.",
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
    pageRoute(info, reference),
    scriptRoute(reference),
  ];
}

interface Reference {
  script: Buffer;
  /** The same, compressed: a third of some megabytes. */
  packed: Buffer;
  /** Changes with the script, so that browsers may keep it for good. */
  digest: string;
}

async function loadReference({ basePath }: ApiInfo): Promise<Reference> {
  // Some megabytes, of which most processes never hear.
  const { referenceScript } = await import("./scalar.ts");
  const script = Buffer.from(referenceScript(basePath));
  const digest = createHash("sha256").update(script).digest("hex").slice(0, 16);
  return { script, packed: await promisify(gzip)(script, { level: 9 }), digest };
}

function pageRoute(info: ApiInfo, reference: () => Promise<Reference>): Route {
  return defineRoute({
    method: "get",
    path: "/docs",
    id: "getDocs",
    tag: "Health",
    summary: "This interface as a page for people",
    auth: [],
    responses: { 200: { description: "The page.", mediaTypes: ["text/html"] } },
    handle: async () => {
      const nonce = randomBytes(16).toString("base64");
      const headers = {
        "Content-Type": "text/html; charset=utf-8",
        "Content-Security-Policy": pagePolicy(nonce),
        "Cross-Origin-Opener-Policy": "same-origin",
      };
      return { status: 200, headers, body: docsPage(info, (await reference()).digest, nonce) };
    },
  });
}

function scriptRoute(reference: () => Promise<Reference>): Route {
  return defineRoute({
    method: "get",
    path: "/docs/reference.js",
    id: "getDocsScript",
    tag: "Health",
    summary: "The script that draws that page",
    auth: [],
    responses: { 200: { description: "The script.", mediaTypes: ["text/javascript"] } },
    handle: async (request) => {
      const { script, packed } = await reference();
      const isPacked = TAKES_GZIP.test(request.headers["accept-encoding"] ?? "");
      const headers = {
        "Content-Type": "text/javascript; charset=utf-8",
        "Cache-Control": "public, max-age=31536000, immutable",
        Vary: "Accept-Encoding",
        ...(isPacked && { "Content-Encoding": "gzip" }),
      };
      return { status: 200, headers, stream: inParts(isPacked ? packed : script) };
    },
  });
}

const TAKES_GZIP = /\bgzip\b(?!\s*;\s*q=0(?:\.0*)?\s*(?:,|$))/i;
const PART_BYTES = 64 * 1024;

/** A stream, as strangers who do not read must not make the socket hold megabytes for each. */
function inParts(bytes: Buffer): BodyStream {
  return {
    length: bytes.byteLength,
    async *open() {
      for (let at = 0; at < bytes.byteLength; at += PART_BYTES) {
        yield bytes.subarray(at, at + PART_BYTES);
      }
    },
  };
}

function asyncApiRoute(info: ApiInfo, { asyncApi }: DocsOptions): Route {
  const document = asyncApi({ title: info.title, version: info.version });
  return defineRoute({
    method: "get",
    path: "/asyncapi.json",
    id: "getAsyncApi",
    tag: "Health",
    summary: "The live channel as an AsyncAPI 3.0 document",
    description:
      "The messages of the WebSockets /live and /devices/{device_id}/stream, for generators and other tools.",
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
