import { readFileSync } from "node:fs";
import { wrongMethod } from "./problem.ts";
import type { Incoming } from "./request.ts";
import type { Answer } from "./response.ts";

/**
 * The page's content security policy: files of this service only, and no inline scripts or styles.
 */
const POLICY = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "img-src 'self'",
  "connect-src 'self'",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
  "require-trusted-types-for 'script'",
].join("; ");

const METHODS = ["GET", "HEAD", "OPTIONS"];

/** The answer for programs at the first address: links into the API. */
const LINKS: Answer = {
  status: 200,
  headers: { Vary: "Accept, Origin" },
  body: {
    name: "Voice session service",
    docs: "/api/docs",
    openapi: "/api/openapi.json",
    asyncapi: "/api/asyncapi.json",
    health: "/api/health",
    live: "/api/live",
  },
};

/** The first address: a page for browsers, links for programs, and the files of the page. */
export class FirstPage {
  readonly #page = file("index.html", "text/html", {
    Vary: "Accept, Origin",
    "Content-Security-Policy": POLICY,
  });
  readonly #files: ReadonlyMap<string, Answer> = new Map([
    ["/page.js", file("page.mjs", "text/javascript")],
    ["/page.css", file("page.css", "text/css")],
    ["/favicon.ico", file("favicon.svg", "image/svg+xml", { "Cache-Control": "max-age=86400" })],
  ]);

  /** Undefined for other paths. */
  answer({ method, path, headers }: Incoming): Answer | undefined {
    const isFirst = path === "/";
    const found = isFirst ? this.#first(headers.accept) : this.#files.get(path);
    if (found === undefined || method === "GET" || method === "HEAD") return found;
    if (method !== "OPTIONS") return wrongMethod(method, METHODS);
    return { status: 204, headers: { Allow: METHODS.join(", ") } };
  }

  /** Browsers accept HTML explicitly; most programs accept anything. */
  #first(accept = ""): Answer {
    return accept.includes("text/html") ? this.#page : LINKS;
  }
}

function file(name: string, type: string, headers: Record<string, string> = {}): Answer {
  return {
    status: 200,
    headers: { "Content-Type": `${type}; charset=utf-8`, ...headers },
    body: readFileSync(new URL(`../../web/${name}`, import.meta.url), "utf8"),
  };
}
