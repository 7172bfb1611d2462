import type { Principal } from "../../access/principal.ts";
import { type AppError, errorMessage } from "../../base/errors.ts";
import type { Log } from "../../base/log.ts";
import type { Incoming } from "../server/request.ts";
import { callerFields } from "../server/request-log.ts";

/** Data for the log line of a closed WebSocket. */
export interface SocketStart {
  requestId: string;
  address: string;
  /** Whole monotonic milliseconds. */
  at: number;
}

export function socketStart({ id, address }: Incoming): SocketStart {
  return { requestId: id, address, at: Math.round(performance.now()) };
}

/** Logs sockets under the name of their route. */
export class SocketLog {
  readonly #log: Log;
  readonly #route: string;
  readonly #who: string;

  /** @param who is the other end: "viewer" or "device" */
  constructor(log: Log, route: string, who: string) {
    this.#log = log;
    this.#route = route;
    this.#who = who;
  }

  connected(start: SocketStart, principal: Principal, sockets: number): void {
    this.#log.info({ ...this.#fields(start, principal), sockets }, `${this.#who} connected`);
  }

  /**
   * @param principal absent where it never became known
   * @param code of the close; 1006 when the connection broke
   */
  left(
    start: SocketStart,
    principal: Principal | undefined,
    code: number,
    sessionId?: string,
  ): void {
    const seconds = Math.round((performance.now() - start.at) / 100) / 10;
    const about = sessionId === undefined ? {} : { session_id: sessionId };
    const fields = { ...this.#fields(start, principal), ...about, close_code: code, seconds };
    this.#log.info(fields, `${this.#who} left`);
  }

  refused({ id, address }: Incoming, error: AppError): void {
    const { status, code } = error;
    const fields = { route: this.#route, status, code, address, request_id: id };
    if (status === 429) return this.#log.debug(fields, `${this.#who} refused`);
    if (status < 500) return this.#log.info(fields, `${this.#who} refused`);
    const cause = errorMessage(error.cause ?? error);
    const told = { ...fields, error: cause };
    if (status === 500) this.#log.error(told, `${this.#who} not connected`);
    else this.#log.warn(told, `${this.#who} not connected`);
  }

  #fields({ requestId, address }: SocketStart, principal: Principal | undefined): object {
    return {
      route: this.#route,
      ...callerFields(principal),
      address,
      request_id: requestId,
    };
  }
}
