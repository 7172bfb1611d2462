import { fileURLToPath } from "node:url";
import { Server, type ServerCredentials } from "@grpc/grpc-js";
import { loadSync } from "@grpc/proto-loader";
import { ReflectionService } from "@grpc/reflection";
import { HealthImplementation, protoPath as healthProto } from "grpc-health-check";
import { createDeferred, withTimeout } from "../base/deferred.ts";
import type { QueueFigures, QueueOwner } from "../base/queue-metrics.ts";
import {
  type ConnectionLimits,
  DEFAULT_CONNECTION_LIMITS,
  GrpcConnections,
} from "../wire/grpc-connections.ts";
import { gateOf } from "../wire/grpc-gate.ts";
import type { SessionService } from "./session-service.ts";

const PROTO_ROOT = fileURLToPath(new URL("../../proto", import.meta.url));
const MAX_REQUEST_BYTES = 1024 * 1024;
const MAX_ANSWER_BYTES = 4 * 1024 * 1024;
const CLOSE_MS = 1_000;

const CHANNEL_OPTIONS = {
  "grpc.max_receive_message_length": MAX_REQUEST_BYTES,
  "grpc.max_send_message_length": MAX_ANSWER_BYTES,
  "grpc.max_concurrent_streams": 256,
  // A client that vanished is noticed within half a minute.
  "grpc.keepalive_time_ms": 20_000,
  "grpc.keepalive_timeout_ms": 10_000,
  "grpc.enable_channelz": 0,
};

/**
 * The gRPC server for the operator's other services, with `grpc.health.v1` and reflection. Every
 * call but the health check needs a key, which is checked before a message is read.
 */
export class RpcServer implements QueueOwner {
  readonly #server: Server;
  readonly #connections: GrpcConnections;
  readonly #service: SessionService;
  readonly #health: HealthImplementation;

  constructor(service: SessionService, limits: Partial<ConnectionLimits> = {}) {
    this.#service = service;
    this.#connections = new GrpcConnections("rpc_connections", {
      ...DEFAULT_CONNECTION_LIMITS,
      ...limits,
    });
    const gate = gateOf({
      judge: (head) => service.judge(head),
      connections: this.#connections,
      messageMs: service.limits.messageMs,
      callMs: service.limits.callMs,
      own: service.paths,
    });
    this.#server = new Server({ ...CHANNEL_OPTIONS, interceptors: [gate] });
    this.#health = new HealthImplementation(
      Object.fromEntries(this.#names.map((name) => [name, "NOT_SERVING" as const])),
    );
    service.addTo(this.#server);
    this.#health.addToServer(this.#server);
    const protos = loadSync([service.proto, healthProto], { includeDirs: [PROTO_ROOT] });
    new ReflectionService(protos).addToServer(this.#server);
  }

  get queues(): readonly QueueFigures[] {
    return this.#connections.queues;
  }

  get #names(): string[] {
    return ["", this.#service.name];
  }

  /** Starts the server and returns its port; rejects when the port is taken. */
  async start(host: string, port: number, credentials: ServerCredentials): Promise<number> {
    const injector = this.#server.createConnectionInjector(credentials);
    const bound = await this.#connections.listen(host, port, injector);
    this.#setStatus("SERVING");
    return bound;
  }

  /** Reports NOT_SERVING, ends streams, gives calls a moment to end, then closes. */
  async stop(): Promise<void> {
    this.#setStatus("NOT_SERVING");
    this.#connections.stopListening();
    this.#service.stop();
    const down = createDeferred<void>();
    this.#server.tryShutdown(() => down.resolve());
    await withTimeout(down.promise, CLOSE_MS, "Closing connections").catch(() =>
      this.#server.forceShutdown(),
    );
    this.#connections.close();
  }

  #setStatus(status: "SERVING" | "NOT_SERVING"): void {
    for (const name of this.#names) this.#health.setStatus(name, status);
  }
}
