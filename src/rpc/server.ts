import { Server, ServerCredentials } from "@grpc/grpc-js";
import { HealthImplementation } from "grpc-health-check";

/** gRPC for internal services of the operator: `grpc.health.v1` answers for the process. */
export class RpcServer {
  readonly #server = new Server({ "grpc.enable_channelz": 0 });
  readonly #health = new HealthImplementation({ "": "SERVING" });

  constructor() {
    this.#health.addToServer(this.#server);
  }

  /** Rejects when the port is taken. */
  start(host: string, port: number): Promise<number> {
    return new Promise((resolve, reject) => {
      const credentials = ServerCredentials.createInsecure();
      this.#server.bindAsync(`${host}:${port}`, credentials, (error, bound) => {
        if (error === null) resolve(bound);
        else reject(error);
      });
    });
  }

  /** Says NOT_SERVING, lets calls end for a moment, then closes. */
  stop(): Promise<void> {
    this.#health.setStatus("", "NOT_SERVING");
    return new Promise((resolve) => {
      const force = setTimeout(() => this.#server.forceShutdown(), 1_000);
      this.#server.tryShutdown(() => {
        clearTimeout(force);
        resolve();
      });
    });
  }
}
