import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { chooseCoding } from "./compression.ts";
import { wrongMethod } from "./problem.ts";
import type { Incoming } from "./request.ts";
import type { Answer } from "./response.ts";

/**
 * The page's content security policy: files of this service only, and no inline scripts or styles.
 * `blob:` is for sound that the page has fetched with its caller's token.
 */
const POLICY = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "img-src 'self'",
  "media-src 'self' blob:",
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

const SOURCES = join(import.meta.dirname, "../../web");
const BUILT = join(SOURCES, "dist");

const TYPES: Readonly<Record<string, string>> = {
  js: "text/javascript; charset=utf-8",
  mjs: "text/javascript; charset=utf-8",
  css: "text/css; charset=utf-8",
};
/** The name of a file of the build says what is in it, so it never changes. */
const FOR_EVER = { "Cache-Control": "public, max-age=31536000, immutable" };

/** An answer as it is sent to those who take these codings. */
interface Coded {
  readonly plain: Answer;
  readonly br?: Answer;
  readonly gzip?: Answer;
}

/** The first address: a page for browsers, links for programs, and the files of the page. */
export class FirstPage {
  readonly #page = page();
  readonly #files = files();

  /** Undefined for other paths. */
  answer({ method, path, headers }: Incoming): Answer | undefined {
    const found = path === "/" ? this.#first(headers.accept) : this.#files.get(path);
    if (found === undefined) return undefined;
    if (method === "OPTIONS") return { status: 204, headers: { Allow: METHODS.join(", ") } };
    if (method !== "GET" && method !== "HEAD") return wrongMethod(method, METHODS);
    const coding = chooseCoding(headers["accept-encoding"]);
    return (coding && found[coding]) ?? found.plain;
  }

  /** Browsers accept HTML explicitly; most programs accept anything. */
  #first(accept = ""): Coded {
    return accept.includes("text/html") ? this.#page : { plain: LINKS };
  }
}

function page(): Coded {
  const headers = {
    "Content-Type": "text/html; charset=utf-8",
    "Content-Security-Policy": POLICY,
    // A page of others that opened this one may not lead it to an address of theirs.
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cache-Control": "no-cache",
    Vary: "Accept, Origin",
  };
  const file = join(BUILT, "index.html");
  if (existsSync(file)) return coded(file, headers);
  const body =
    '<!doctype html><html lang="en"><title>Voice session service</title><p>The page was not built here: <code>npm run up</code> builds it. The <a href="api/docs">reference of the interface</a> is there.';
  return { plain: { status: 200, headers, body } };
}

function files(): ReadonlyMap<string, Coded> {
  const icon = {
    "Content-Type": "image/svg+xml; charset=utf-8",
    "Cache-Control": "max-age=86400",
  };
  const found = new Map([["/favicon.ico", coded(join(SOURCES, "favicon.svg"), icon)]]);
  const folder = join(BUILT, "assets");
  for (const name of existsSync(folder) ? readdirSync(folder) : []) {
    const type = TYPES[name.split(".").at(-1) ?? ""];
    if (type === undefined) continue;
    const headers = { "Content-Type": type, Vary: "Accept-Encoding", ...FOR_EVER };
    found.set(`/assets/${name}`, coded(join(folder, name), headers));
  }
  return found;
}

function coded(file: string, headers: Readonly<Record<string, string>>): Coded {
  const answer = (path: string, more: Readonly<Record<string, string>> = {}): Answer => ({
    status: 200,
    headers: { ...headers, ...more },
    body: readFileSync(path),
  });
  if (!existsSync(`${file}.br`)) return { plain: answer(file) };
  return {
    plain: answer(file),
    br: answer(`${file}.br`, { "Content-Encoding": "br" }),
    gzip: answer(`${file}.gz`, { "Content-Encoding": "gzip" }),
  };
}
