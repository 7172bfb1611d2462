import scalar from "@scalar/fastify-api-reference";
import { EXAMPLE_BASE } from "./guide.ts";

/** The part of a Fastify server that the package needs to say which files it serves. */
interface FileCatcher {
  hasPlugin(): boolean;
  route(route: CaughtRoute): void;
}

interface CaughtRoute {
  url: string;
  handler(request: undefined, reply: CaughtReply): unknown;
}

interface CaughtReply {
  header(name: string, value: string): CaughtReply;
  send(content: string): string;
}

type Plugin = (server: FileCatcher, options: object, done: () => void) => void;

/**
 * Gives the page's nonce to the style elements that are made from here on, and sets `style` attributes
 * through the object model, as the page's policy wants: Scalar and what it is made from do neither. Its
 * Zod is told not to try whether it may compile code.
 */
const POLITE_SCRIPT = `{
  globalThis.__zod_globalConfig = { jitless: true };
  const { content } = document.head.querySelector("meta[property=csp-nonce]");
  const make = document.createElement.bind(document);
  document.createElement = (name, options) => {
    const made = make(name, options);
    if (made instanceof HTMLStyleElement) made.nonce = content;
    return made;
  };
  const set = Element.prototype.setAttribute;
  Element.prototype.setAttribute = function (name, value) {
    if (name === "style") this.style.cssText = value;
    else set.call(this, name, value);
  };
}
`;

/** Words in tables are not cut in the middle, and tables that are too wide are scrolled. */
const OWN_STYLE = `
.scalar-app .markdown.markdown table { display: block; overflow-x: auto; }
.scalar-app .markdown.markdown :is(th, td) { word-break: normal; overflow-wrap: normal; }
.scalar-app .markdown.markdown td code { white-space: nowrap; }
.scalar-app .hljs { --line-digits: 2; }
`;

/**
 * Everything that would ask another server is off: fonts, proxy, telemetry, assistants, sharing.
 * Addresses are told from that of the page, as a proxy may have put a prefix before all paths; those
 * that the documents show too, so that what is copied from there works.
 */
function startScript(basePath: string): string {
  const configuration = {
    sources: [
      { title: "HTTP", slug: "http", url: "openapi.json", default: true },
      { title: "WebSockets", slug: "websockets", url: "asyncapi.json" },
    ],
    agent: { disabled: true },
    mcp: { disabled: true },
    telemetry: false,
    withDefaultFonts: false,
    showDeveloperTools: "never",
    hideClientButton: true,
    persistAuth: false,
    customCss: OWN_STYLE,
    authentication: { preferredSecurityScheme: "bearer" },
    operationTitleSource: "summary",
    defaultHttpClient: { targetKey: "shell", clientKey: "curl" },
  };
  return `{
  const home = new URL(".", location.href).href;
  const configuration = ${JSON.stringify(configuration)};
  configuration.baseServerURL = home.slice(0, home.lastIndexOf(${JSON.stringify(`${basePath}/`)}));
  const { host, pathname, protocol } = new URL(home);
  const load = async (source) => {
    source.url = home + source.url;
    const { info, servers, ...others } = await (await fetch(source.url)).json();
    info.description = info.description.replace(${JSON.stringify(EXAMPLE_BASE)}, home.slice(0, -1));
    if (servers.here) {
      servers.here.protocol = protocol.replace("http", "ws").slice(0, -1);
      servers.here.pathname = pathname.slice(0, -1);
      servers.here.variables.host.default = host;
    }
    source.content = { ...others, info, servers };
    delete source.url;
  };
  // A document that could not be read so is asked for again by the reference, which says why not.
  Promise.allSettled(configuration.sources.map(load)).then(() =>
    Scalar.createApiReference("#app", configuration),
  );
}
`;
}

/** The script of the page that shows the documents of the interface below `basePath`. */
export function referenceScript(basePath: string): string {
  return POLITE_SCRIPT + scalarScript() + startScript(basePath);
}

/**
 * Scalar's API reference as one classic script, which defines `Scalar`. Of its packages this one
 * carries the script without the hundreds that it was made from; it gives it to a Fastify server only,
 * so it is handed as much of one as it asks for.
 */
function scalarScript(): string {
  let script: string | undefined;
  const reply: CaughtReply = { header: () => reply, send: (content) => content };
  const route = ({ url, handler }: CaughtRoute): void => {
    if (url.endsWith(".js")) script = String(handler(undefined, reply));
  };
  const plugin = scalar as unknown as Plugin;
  plugin({ hasPlugin: () => false, route }, { configuration: { sources: [] } }, () => {});
  if (script === undefined) throw new Error("Scalar's package gave no script.");
  return script.replace(LINE_STYLE, "").replace(/\n\/\/# sourceMappingURL=\S*\s*$/, "\n");
}

/** Writes the number of lines into a `style` attribute, which the page's policy refuses. */
const LINE_STYLE = /,\w+\.properties\.style=\[`--line-count[^\]]*\]/;
