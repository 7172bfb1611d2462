import {
  App,
  type HttpResponse,
  us_listen_socket_close,
  us_socket_local_port,
} from "uWebSockets.js";
import { connect, type Socket } from "node:net";
import { createDeferred, withTimeout } from "../../base/deferred.ts";

const START_MS = 10_000;

/**
 * Corks what turns requests into WebSockets.
 *
 * uWebSockets.js writes a warning to standard error for each upgrade outside a cork. But a
 * response that is upgraded within its own cork may be closed by it: the upgrade shrinks its memory
 * in place, and the end of the cork, which knows a WebSocket by its new address only, then reads
 * "close after this answer" from bytes that were freed. So upgrades run in the cork of another
 * response: one to ourselves over loopback that is never answered.
 */
export class UpgradeCork {
  #response: HttpResponse | undefined;
  #client: Socket | undefined;

  /** Rejects when loopback cannot be used. */
  async start(): Promise<void> {
    const response = createDeferred<HttpResponse>();
    const app = App();
    app.any("/*", (res) => {
      res.onAborted(() => {
        this.#response = undefined;
      });
      response.resolve(res);
    });
    app.listen("127.0.0.1", 0, (listening) => {
      if (!listening) return response.reject(new Error("Cannot listen on 127.0.0.1."));
      const client = connect(us_socket_local_port(listening), "127.0.0.1");
      this.#client = client.unref();
      client.on("error", (error) => response.reject(error));
      client.on("connect", () => {
        us_listen_socket_close(listening);
        client.write("GET / HTTP/1.1\r\nHost: localhost\r\n\r\n");
      });
    });
    this.#response = await withTimeout(response.promise, START_MS, "Connecting to ourselves");
  }

  /** Runs `work` at once. */
  run(work: () => void): void {
    if (this.#response === undefined) work();
    else this.#response.cork(work);
  }

  stop(): void {
    this.#response = undefined;
    this.#client?.destroy();
  }
}
