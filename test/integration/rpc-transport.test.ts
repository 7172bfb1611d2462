import { mkdtempSync, readFileSync as pem, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { connect } from "node:tls";
import {
  type ChannelCredentials,
  type Client,
  type ClientDuplexStream,
  credentials,
  loadPackageDefinition,
  type Metadata,
  status,
} from "@grpc/grpc-js";
import { loadSync } from "@grpc/proto-loader";
import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest";
import { newId } from "../../src/base/ids.ts";
import type { WorkerRetriever } from "../../src/conversations/questions/worker-retriever.ts";
import type { TlsFiles } from "../../src/wire/certificate-kinds.ts";
import { serverCredentials } from "../../src/wire/tls-files.ts";
import {
  callUnary,
  GrpcFixture,
  type GrpcFixtureOptions,
  withKey,
} from "../support/grpc-fixture.ts";
import { TestAuthority } from "../support/test-certificates.ts";
import { until } from "../support/until.ts";

const REFLECTION = "node_modules/@grpc/reflection/build/proto/grpc/reflection/v1/reflection.proto";

/** What is used of the reflection service's own definition. */
interface ReflectionPackage {
  grpc: {
    reflection: {
      v1: {
        ServerReflection: new (
          address: string,
          channel: ChannelCredentials,
        ) => Client & {
          ServerReflectionInfo(metadata: Metadata): ClientDuplexStream<object, object>;
        };
      };
    };
  };
}

let cleanups: (() => Promise<void> | void)[] = [];
afterEach(async () => {
  for (const cleanup of cleanups.reverse()) await cleanup();
  cleanups = [];
});

async function openFixture(options: GrpcFixtureOptions = {}) {
  const fixture = await GrpcFixture.open(options);
  cleanups.push(() => fixture.close());
  const owner = await fixture.query.fixture.user();
  const workspaceId = await fixture.query.fixture.workspace(owner.id);
  const { sessionId } = await fixture.query.tell(workspaceId, owner, [["S1", "hello there"]]);
  const { secret } = await fixture.key(owner, workspaceId);
  return { fixture, sessionId, secret };
}

describe("gRPC: TLS", () => {
  let folder: string;
  let authority: TestAuthority;
  let files: { ca: string; server: TlsFiles; client: TlsFiles };
  beforeAll(async () => {
    folder = mkdtempSync(join(tmpdir(), "voice-tls-"));
    authority = await TestAuthority.make(folder);
    files = {
      ca: authority.ca,
      server: await authority.issue("main", "server"),
      client: await authority.issue("main", "client"),
    };
  });
  afterAll(() => rmSync(folder, { recursive: true, force: true }));

  function tls(clientCaFile?: string): GrpcFixtureOptions {
    return { tls: { ...files.server, ca: clientCaFile } };
  }

  function ask(
    fixture: GrpcFixture,
    sessionId: string,
    secret: string,
    channel: ChannelCredentials,
  ) {
    const client = fixture.client(channel);
    return callUnary(client, client.getSession, { sessionId }, secret, 10_000);
  }

  const plain = () => credentials.createInsecure();
  const trusting = () => credentials.createSsl(pem(files.ca));
  const known = () =>
    credentials.createSsl(pem(files.ca), pem(files.client.key), pem(files.client.cert));

  it("with a certificate: those who trust it are served, plain text is not", async () => {
    const { fixture, sessionId, secret } = await openFixture(tls());
    expect((await ask(fixture, sessionId, secret, trusting())).id).toBe(sessionId);
    const away = { status: status.UNAVAILABLE };
    await expect(ask(fixture, sessionId, secret, plain())).rejects.toMatchObject(away);
    const strangers = ask(fixture, sessionId, secret, credentials.createSsl());
    await expect(strangers).rejects.toMatchObject(away);
  });

  it("mutual: only clients with a certificate of the authority, and a key besides", async () => {
    const { fixture, sessionId, secret } = await openFixture(tls(files.ca));
    expect((await ask(fixture, sessionId, secret, known())).id).toBe(sessionId);
    await expect(ask(fixture, sessionId, "", known())).rejects.toMatchObject({
      status: status.UNAUTHENTICATED,
    });
    await expect(ask(fixture, sessionId, secret, trusting())).rejects.toMatchObject({
      status: status.UNAVAILABLE,
    });
  });

  it("a file that cannot be read is named", () => {
    const missing = join(folder, "missing.pem");
    const tlsFiles = { cert: missing, key: files.server.key, ca: undefined };
    expect(() => serverCredentials(tlsFiles)).toThrow(missing);
  });

  it("a renewed certificate counts without a restart, and calls go on meanwhile", async () => {
    const server = await authority.issue("main", "renewed");
    const { fixture, sessionId, secret } = await openFixture({
      tls: { ...server, ca: undefined, checkMs: 20 },
    });
    const [host = "", port = ""] = fixture.address.split(":");
    const serial = () =>
      new Promise<string>((resolve, reject) => {
        const socket = connect({
          host,
          port: Number(port),
          ca: pem(files.ca),
          ALPNProtocols: ["h2"],
        });
        socket.on("secureConnect", () => {
          resolve(socket.getPeerCertificate().serialNumber);
          socket.destroy();
        });
        socket.on("error", reject);
      });
    const before = await serial();
    // This connection stays, whatever becomes of the certificate with which it began.
    const client = fixture.client(trusting());
    const asked = () => callUnary(client, client.getSession, { sessionId }, secret, 10_000);
    await asked();
    writeFileSync(server.cert, "half of a certi");
    expect((await ask(fixture, sessionId, secret, trusting())).id).toBe(sessionId);
    await authority.issue("main", "renewed");
    await until(async () => (await serial()) !== before, "the new certificate");
    expect((await asked()).id).toBe(sessionId);
    expect((await ask(fixture, sessionId, secret, trusting())).id).toBe(sessionId);
  });
});

describe("gRPC: deadlines and budgets", () => {
  /** Answers when it is given up, and not before. */
  class Ponderer implements Pick<WorkerRetriever, "plan" | "retrieve"> {
    aborted = 0;

    plan(): Promise<never> {
      return Promise.reject(new Error("Not asked."));
    }

    retrieve(_question: unknown, signal: AbortSignal): Promise<never> {
      return new Promise((_resolve, reject) => {
        const giveUp = () => {
          this.aborted += 1;
          reject(new Error("Given up."));
        };
        if (signal.aborted) giveUp();
        else signal.addEventListener("abort", giveUp);
      });
    }
  }

  async function openPondering(askMs: number) {
    const retriever = new Ponderer();
    const { fixture, sessionId, secret } = await openFixture({ limits: { askMs }, retriever });
    const about = { $case: "sessionId", value: sessionId } as const;
    const client = fixture.client();
    const ask = (ms: number) => callUnary(client, client.ask, { about, query: "Why?" }, secret, ms);
    return { retriever, ask };
  }

  it("the client's deadline ends the call and the work", async () => {
    const { retriever, ask } = await openPondering(60_000);
    await expect(ask(800)).rejects.toMatchObject({ status: status.DEADLINE_EXCEEDED });
    await until(() => retriever.aborted === 1, "the work to be given up");
  });

  it("a call without a deadline gets one", async () => {
    const { retriever, ask } = await openPondering(300);
    await expect(ask(Number.POSITIVE_INFINITY)).rejects.toMatchObject({
      status: status.DEADLINE_EXCEEDED,
      code: "timeout",
    });
    await until(() => retriever.aborted === 1, "the work to be given up");
  });

  it("a key's budget: too many calls are refused with the time to wait", async () => {
    const limits = { read: { perMinute: 1, burst: 2 } };
    const { fixture, secret } = await openFixture({ limits });
    const client = fixture.client();
    const read = () => callUnary(client, client.getSession, { sessionId: newId() }, secret);
    for (let n = 0; n < 2; n += 1) {
      await expect(read()).rejects.toMatchObject({ status: status.NOT_FOUND });
    }
    await expect(read()).rejects.toMatchObject({
      status: status.RESOURCE_EXHAUSTED,
      code: "rate_limited",
      details: expect.stringMatching(/wait \d+ s/),
    });
  });
});

describe("gRPC: reflection", () => {
  it("lists the service and shows its file to those with a key", async () => {
    const { fixture, secret } = await openFixture();
    const loaded = loadPackageDefinition(loadSync(REFLECTION));
    const { grpc } = loaded as unknown as ReflectionPackage;
    const { ServerReflection: Reflection } = grpc.reflection.v1;
    const client = new Reflection(fixture.address, credentials.createInsecure());
    const call = client.ServerReflectionInfo(withKey(secret));
    const answers: object[] = [];
    call.on("data", (answer: object) => answers.push(answer));
    call.write({ listServices: "" });
    call.write({ fileContainingSymbol: "voice.v1.SessionService" });
    await until(() => answers.length === 2, "two answers", 30_000);
    call.end();
    client.close();
    const listed = JSON.stringify(answers[0]);
    expect(listed).toContain("voice.v1.SessionService");
    expect(listed).toContain("grpc.health.v1.Health");
    expect(JSON.stringify(answers[1])).toMatch(/fileDescriptorResponse/);
  });
});
