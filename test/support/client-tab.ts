import { once } from "node:events";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import type { Page } from "playwright-core";
import { build } from "vite";
import type { News, Orders } from "./client-page.ts";
import { conversationPcm } from "./paired-device.ts";

const HTML = '<!doctype html><title>Client</title><script type="module" src="page.js"></script>';

/** The page as a bundler makes it from TypeScript. */
async function bundle(): Promise<string> {
  const made = await build({
    root: import.meta.dirname,
    configFile: false,
    envDir: false,
    publicDir: false,
    logLevel: "warn",
    build: {
      write: false,
      lib: {
        entry: join(import.meta.dirname, "client-page.ts"),
        formats: ["es"],
        fileName: "page",
      },
    },
  });
  const [first] = Array.isArray(made) ? made : [];
  if (first?.output.length !== 1) throw new Error("The client's page is not one file.");
  return first.output[0].code;
}

/** A web server of somebody else than the service, with a page that uses the client. */
export class ClientSite {
  readonly #server: Server;

  private constructor(server: Server) {
    this.#server = server;
  }

  static async start(): Promise<ClientSite> {
    const files = new Map<string, [type: string, content: string | Buffer]>([
      ["/", ["text/html", HTML]],
      ["/page.js", ["text/javascript", await bundle()]],
      ["/conversation.pcm", ["application/octet-stream", conversationPcm()]],
    ]);
    const server = createServer(({ url = "" }, answer) => {
      const [type, content] = files.get(url) ?? [];
      if (type === undefined) answer.writeHead(404).end();
      else answer.writeHead(200, { "content-type": type }).end(content);
    });
    server.listen(0, "127.0.0.1");
    await once(server, "listening");
    return new ClientSite(server);
  }

  /** To a browser another name of the same machine is another origin. */
  origin(host: "127.0.0.1" | "localhost" = "127.0.0.1"): string {
    return `http://${host}:${(this.#server.address() as AddressInfo).port}`;
  }

  async stop(): Promise<void> {
    this.#server.closeAllConnections();
    this.#server.close();
    await once(this.#server, "close");
  }
}

/** A browser's tab with the client at work in it, and what it tells. */
export class ClientTab {
  readonly news: News[] = [];

  /** Opens the page at `origin` and lets it run. */
  static async open(page: Page, origin: string, orders: Orders): Promise<ClientTab> {
    const tab = new ClientTab();
    await page.exposeFunction("takeOrders", () => orders);
    await page.exposeFunction("tell", (news: News) => {
      tab.news.push(news);
    });
    await page.goto(origin);
    return tab;
  }

  told<K extends News["kind"]>(kind: K): Extract<News, { kind: K }>[] {
    return this.news.filter((each): each is Extract<News, { kind: K }> => each.kind === kind);
  }

  get end(): string | undefined {
    return this.told("end")[0]?.how;
  }

  get frames() {
    return this.told("frame").map(({ frame }) => frame);
  }

  /** Utterances in the order in which they came. */
  get finals() {
    return this.frames.flatMap((frame) =>
      frame.type === "Results" && frame.is_final ? [frame] : [],
    );
  }
}
