import { mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { connect } from "node:net";
import { join } from "node:path";
import type { Part } from "../../deploy/supervisor/part.ts";
import { findFreePort } from "../../deploy/supervisor/ports.ts";
import { findForeignProgram } from "./native-packages.ts";
import { makeScratchFolder } from "./scratch-folder.ts";
import { TestServer } from "./test-server.ts";

const TEMPORARY = ["client_body", "proxy", "fastcgi", "uwsgi", "scgi"];

export interface Upstream {
  httpPort: number;
  grpcPort: number;
}

/** Ports that it listens on. */
interface Ports {
  /** As most set it up: reads a request whole before it passes it on, and keeps connections. */
  http: number;
  /** Passes bodies on as they come, and compresses by itself. */
  streaming: number;
  grpc: number;
}

/** One line of its log. */
export interface ProxiedRequest {
  method: string;
  status: string;
  /** One for each connection that it tried. */
  upstream: string;
}

/** A real nginx in front of a service, with a folder and ports of its own. */
export class Nginx {
  readonly ports: Ports;
  readonly #folder: string;
  readonly #server: TestServer;

  private constructor(folder: string, ports: Ports) {
    this.#folder = folder;
    this.ports = ports;
    this.#server = new TestServer(part(folder, ports.http), folder);
  }

  static async start(upstream: Upstream): Promise<Nginx> {
    const folder = makeScratchFolder("nginx");
    for (const name of TEMPORARY) mkdirSync(join(folder, name));
    const [http, streaming, grpc] = [
      await findFreePort(),
      await findFreePort(),
      await findFreePort(),
    ];
    const ports = { http, streaming, grpc };
    writeFileSync(join(folder, "nginx.conf"), configuration(folder, ports, upstream));
    const nginx = new Nginx(folder, ports);
    await nginx.#server.start();
    return nginx;
  }

  async stop(): Promise<void> {
    await this.#server.stop();
    rmSync(this.#folder, { recursive: true, force: true });
  }

  /** What it warned of. */
  get errors(): string {
    return readFileSync(join(this.#folder, "error.log"), "utf8");
  }

  requests(): ProxiedRequest[] {
    const lines = readFileSync(join(this.#folder, "access.log"), "utf8").split("\n");
    return lines.slice(0, -1).map((line) => {
      const [method = "", status = "", ...upstream] = line.split(" ");
      return { method, status, upstream: upstream.join(" ") };
    });
  }
}

function part(folder: string, port: number): Part {
  const logFile = join(folder, "nginx.log");
  const args = ["-p", folder, "-e", join(folder, "error.log"), "-c", join(folder, "nginx.conf")];
  return {
    name: "nginx",
    title: "nginx",
    logFile,
    launch: () => ({ program: findForeignProgram("nginx"), args, env: process.env }),
    probe: () => answers(port),
    readyTimeoutMs: 10_000,
    stop: [{ signal: "SIGTERM", waitMs: 2_000 }],
  };
}

function answers(port: number): Promise<Readonly<Record<string, unknown>> | undefined> {
  return new Promise((resolve) => {
    const socket = connect(port, "127.0.0.1");
    socket.once("connect", () => resolve({}));
    socket.once("error", () => resolve(undefined));
    socket.once("close", () => resolve(undefined));
    socket.once("connect", () => socket.destroy());
  });
}

function configuration(folder: string, ports: Ports, { httpPort, grpcPort }: Upstream): string {
  const user = process.getuid?.() === 0 ? "user root root;" : "";
  const temporary = TEMPORARY.map((name) => `${name}_temp_path ${join(folder, name)};`);
  const pass = `
      proxy_pass http://voice;
      proxy_http_version 1.1;
      proxy_set_header Host $http_host;
      proxy_set_header X-Forwarded-For $proxy_add_x_forwarded_for;
      proxy_set_header X-Forwarded-Proto $scheme;
      proxy_set_header X-Forwarded-Host $http_host;
      proxy_set_header Upgrade $http_upgrade;
      proxy_set_header Connection $connection_upgrade;`;
  return `
${user}
daemon off;
worker_processes 1;
pid ${join(folder, "nginx.pid")};
events { worker_connections 512; }
http {
  ${temporary.join("\n  ")}
  log_format tries "$request_method $status $upstream_status";
  access_log ${join(folder, "access.log")} tries;
  client_max_body_size 0;
  map $http_upgrade $connection_upgrade { default upgrade; '' ''; }
  upstream voice { server 127.0.0.1:${httpPort}; keepalive 8; }
  server {
    listen 127.0.0.1:${ports.http};
    location / {${pass}
    }
  }
  server {
    listen 127.0.0.1:${ports.streaming};
    gzip on;
    gzip_proxied any;
    gzip_types application/json;
    location / {${pass}
      proxy_request_buffering off;
      proxy_set_header Accept-Encoding "";
    }
  }
  server {
    listen 127.0.0.1:${ports.grpc} http2;
    location / { grpc_pass grpc://127.0.0.1:${grpcPort}; grpc_read_timeout 300s; }
  }
}
`;
}
