import { readFile } from "node:fs/promises";
import { fileURLToPath } from "node:url";
import { Server, ServerCredentials } from "@grpc/grpc-js";
import { loadSync } from "@grpc/proto-loader";
import { ReflectionService } from "@grpc/reflection";
import { HealthImplementation, protoPath as healthProto } from "grpc-health-check";
import { createDeferred, withTimeout } from "../base/deferred.ts";
import { AppError, errorMessage } from "../base/errors.ts";
import type { SessionService } from "./session-service.ts";

/** Paths of PEM files. */
export interface RpcTls {
  certFile: string;
  keyFile: string;
  /** When given, clients must present a certificate that this authority signed. */
  clientCaFile: string | undefined;
}

/** Rejects with the path of a file that cannot be read. */
export async function serverCredentials(tls: RpcTls | undefined): Promise<ServerCredentials> {
  if (tls === undefined) return ServerCredentials.createInsecure();
  const { certFile, keyFile, clientCaFile } = tls;
  const [cert_chain, private_key] = await Promise.all([readPem(certFile), readPem(keyFile)]);
  const ca = clientCaFile === undefined ? null : await readPem(clientCaFile);
  return ServerCredentials.createSsl(ca, [{ cert_chain, private_key }], ca !== null);
}

async function readPem(path: string): Promise<Buffer> {
  try {
    return await readFile(path);
  } catch (cause) {
    throw new Error(`The TLS file ${path} cannot be read: ${errorMessage(cause)}`, { cause });
  }
}

const PROTO_ROOT = fileURLToPath(new URL("../../proto", import.meta.url));
const MAX_REQUEST_BYTES = 1024 * 1024;
const MAX_ANSWER_BYTES = 4 * 1024 * 1024;
const CLOSE_MS = 1_000;

const CHANNEL_OPTIONS = {
  "grpc.max_receive_message_length": MAX_REQUEST_BYTES,
  "grpc.max_send_message_length": MAX_ANSWER_BYTES,
  "grpc.max_concurrent_streams": 1_000,
  // A client that vanished is noticed within half a minute.
  "grpc.keepalive_time_ms": 20_000,
  "grpc.keepalive_timeout_ms": 10_000,
  "grpc.enable_channelz": 0,
};

/** The gRPC server for the operator's other services, with `grpc.health.v1` and reflection. */
export class RpcServer {
  readonly #server = new Server(CHANNEL_OPTIONS);
  readonly #services: readonly SessionService[];
  readonly #health: HealthImplementation;

  constructor(services: readonly SessionService[]) {
    this.#services = services;
    this.#health = new HealthImplementation(
      Object.fromEntries(this.#names.map((name) => [name, "NOT_SERVING" as const])),
    );
    for (const service of services) service.addTo(this.#server);
    this.#health.addToServer(this.#server);
    const protos = [...services.map(({ proto }) => proto), healthProto];
    new ReflectionService(loadSync(protos, { includeDirs: [PROTO_ROOT] })).addToServer(
      this.#server,
    );
  }

  get #names(): string[] {
    return ["", ...this.#services.map(({ name }) => name)];
  }

  /** Starts the server and returns its port; rejects when the port is taken. */
  async start(host: string, port: number, credentials: ServerCredentials): Promise<number> {
    const bound = createDeferred<number>();
    const address = `${host.includes(":") ? `[${host}]` : host}:${port}`;
    this.#server.bindAsync(address, credentials, (error, actual) => {
      if (error === null) return bound.resolve(actual);
      bound.reject(new AppError("unavailable", `Cannot listen on ${address}: ${error.message}`));
    });
    const actual = await withTimeout(bound.promise, 10_000, "Binding the gRPC port");
    this.#setStatus("SERVING");
    return actual;
  }

  /** Reports NOT_SERVING, ends streams, gives calls a moment to end, then closes. */
  async stop(): Promise<void> {
    this.#setStatus("NOT_SERVING");
    for (const service of this.#services) service.stop();
    const down = createDeferred<void>();
    this.#server.tryShutdown(() => down.resolve());
    await withTimeout(down.promise, CLOSE_MS, "Closing connections").catch(() =>
      this.#server.forceShutdown(),
    );
  }

  #setStatus(status: "SERVING" | "NOT_SERVING"): void {
    for (const name of this.#names) this.#health.setStatus(name, status);
  }
}
