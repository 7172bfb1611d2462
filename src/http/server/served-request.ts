import type { Principal } from "../../access/principal.ts";
import type { Request, Upload } from "../../rest/route.ts";
import type { Exchange } from "./exchange.ts";
import { type Incoming, parseQuery } from "./incoming.ts";

/** A request as its route sees it. */
export class ServedRequest implements Request {
  readonly #exchange: Exchange;
  readonly id: string;
  readonly method: string;
  readonly params: Readonly<Record<string, string>>;
  readonly headers: Readonly<Record<string, string>>;
  readonly principal: Principal | undefined;
  readonly address: string;
  query: Readonly<Record<string, unknown>>;
  body: unknown = undefined;
  upload?: Upload;
  expected?: unknown;
  commandId?: string;

  constructor(
    incoming: Incoming,
    exchange: Exchange,
    params: Readonly<Record<string, string>>,
    principal: Principal | undefined,
  ) {
    this.#exchange = exchange;
    this.id = incoming.id;
    this.method = incoming.method;
    this.params = params;
    this.headers = incoming.headers;
    this.principal = principal;
    this.address = incoming.address;
    this.query = parseQuery(incoming.query);
  }

  /** Made when somebody asks. */
  get signal(): AbortSignal {
    return this.#exchange.signal;
  }
}
