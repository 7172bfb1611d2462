import type { HttpRequest, HttpResponse } from "uWebSockets.js";
import type { Route } from "../../rest/route.ts";
import type { FrontObserver } from "./observer.ts";
import { requestId } from "./request.ts";
import { type Head, type Payload, renderAnswer, writeHead } from "./response.ts";

/** A route's constant answer: its bytes are made once, and the request is not copied. */
export class ReadyAnswer {
  readonly #route: Route;
  readonly #observer: FrontObserver | undefined;
  readonly #status: number;
  readonly #head: Head;
  readonly #payload: Payload;

  /** Throws when the route needs authentication or has path parameters. */
  constructor(route: Route, observer: FrontObserver | undefined) {
    if (route.ready === undefined || route.auth.length > 0 || route.path.includes("{")) {
      throw new Error(`The route ${route.id} cannot have its answer ready.`);
    }
    this.#route = route;
    this.#observer = observer;
    this.#status = route.ready.status;
    const { head, payload } = renderAnswer(route.ready, {});
    this.#head = head;
    this.#payload = payload;
  }

  /** Answers at once; false when the request has a body: it is then untouched. */
  serve(res: HttpResponse, req: HttpRequest): boolean {
    if (req.getHeader("content-length") !== "" || req.getHeader("transfer-encoding") !== "") {
      return false;
    }
    // Nothing is awaited, so uWebSockets.js still has the response corked.
    writeHead(res, this.#status, requestId(req.getHeader("x-request-id")), this.#head);
    res.end(this.#payload);
    this.#observer?.served({
      method: "GET",
      route: this.#route.path,
      status: this.#status,
      seconds: 0,
    });
    return true;
  }
}
