import { randomBytes } from "node:crypto";
import { rmSync } from "node:fs";
import { join } from "node:path";
import { natsPart } from "../../deploy/supervisor/nats-part.ts";
import type { NatsUser } from "../../deploy/supervisor/nats-users.ts";
import { findFreePort } from "../../deploy/supervisor/ports.ts";
import type { TlsFiles } from "../../src/wire/certificate-kinds.ts";
import { findNatsServer } from "./native-packages.ts";
import { makeScratchFolder } from "./scratch-folder.ts";
import { TestServer } from "./test-server.ts";

/** A real nats-server; its port survives `restart`. */
export interface TestNats {
  readonly url: string;
  readonly token: string;
  /** Ends it. */
  stop(): Promise<void>;
  /** SIGKILL, and its folder is gone, when this returns; for a process that ends. */
  killNow(): void;
  /** SIGKILL; `restart` brings it back. */
  kill9(): Promise<void>;
  restart(): Promise<void>;
  /** Lets it read its configuration and certificates again. */
  reload(): void;
}

/**
 * @param users who may come in and what they may do; without them everybody with the token
 * @param tls with these it speaks TLS
 */
export async function startNats(users?: readonly NatsUser[], tls?: TlsFiles): Promise<TestNats> {
  const folder = makeScratchFolder("nats");
  const port = await findFreePort();
  const token = randomBytes(12).toString("hex");
  const part = natsPart({
    program: findNatsServer(),
    port,
    token,
    ...(users && { users }),
    ...(tls && { tls }),
    folder: join(folder, "store"),
    logFile: join(folder, "nats.log"),
    env: process.env,
  });
  const server = new TestServer(part, folder);
  await server.start();
  return {
    url: `nats://127.0.0.1:${port}`,
    token,
    killNow: () => {
      if (server.pid !== undefined) process.kill(server.pid, "SIGKILL");
      rmSync(folder, { recursive: true, force: true });
    },
    kill9: () => server.kill9(),
    reload: () => {
      if (server.pid !== undefined) process.kill(server.pid, "SIGHUP");
    },
    restart: async () => {
      await server.stop();
      await server.start();
    },
    stop: async () => {
      await server.stop();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}
