import { once } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import { createServer, type Server } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { checkWantedPort, findFreePort, PortBook } from "../../../deploy/supervisor/ports.ts";

describe("ports", () => {
  let scratch: string;
  let server: Server;

  beforeEach(async () => {
    scratch = mkdtempSync(join(tmpdir(), "voice-ports-"));
    server = createServer();
  });

  afterEach(async () => {
    if (server.listening) await new Promise((settle) => server.close(settle));
    rmSync(scratch, { recursive: true, force: true });
  });

  async function listen(port: number): Promise<void> {
    server.listen(port, "127.0.0.1");
    await once(server, "listening");
  }

  it("ports: stay the same over restarts", async () => {
    const file = join(scratch, "ports.json");
    const port = await new PortBook(file).take("nats");
    expect(await new PortBook(file).take("nats")).toBe(port);
  });

  it("ports: one that somebody else took is replaced", async () => {
    const file = join(scratch, "ports.json");
    const port = await new PortBook(file).take("nats");
    await listen(port);
    expect(await new PortBook(file).take("nats")).not.toBe(port);
  });

  it("ports: a taken one names who has it and what to do", async () => {
    const port = await findFreePort();
    await expect(checkWantedPort(port)).resolves.toBeUndefined();
    await listen(port);
    await expect(checkWantedPort(port)).rejects.toThrow(
      expect.objectContaining({
        message: expect.stringContaining(`(pid ${process.pid})`),
        advice: expect.stringContaining("--port"),
      }),
    );
  });
});
