import type { HttpRequest, HttpResponse } from "uWebSockets.js";
import type { Route } from "../../rest/route.ts";
import type { FrontObserver } from "./observer.ts";
import { isPlain, requestId } from "./request.ts";
import { type Head, type Payload, renderAnswer, writeHead } from "./response.ts";

/** A route's constant answer: its bytes are made once, and the request is not copied. */
export class ReadyAnswer {
  readonly #route: Route;
  readonly #observer: FrontObserver | undefined;
  readonly #status: number;
  readonly #head: Head;
  readonly #payload: Payload;
  #waiting: Waiting[] = [];

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

  /**
   * Answers when all that has come was parsed; false when the request has a body, or a fault in its
   * framing: it is then untouched.
   */
  serve(res: HttpResponse, req: HttpRequest): boolean {
    if (!isPlain(req)) return false;
    const waiting = { res, id: requestId(req.getHeader("x-request-id")), isGone: false };
    res.onAborted(() => {
      waiting.isGone = true;
    });
    // All of one turn of the event loop are answered together.
    if (this.#waiting.length === 0) setImmediate(() => this.#answerAll());
    this.#waiting.push(waiting);
    return true;
  }

  #answerAll(): void {
    const all = this.#waiting;
    this.#waiting = [];
    for (const { res, id, isGone } of all) {
      if (isGone) continue;
      res.cork(() => {
        writeHead(res, this.#status, id, this.#head);
        res.end(this.#payload);
      });
      const { path } = this.#route;
      this.#observer?.served({ method: "GET", route: path, status: this.#status, seconds: 0 });
    }
  }
}

/** A request that is not answered yet. */
interface Waiting {
  readonly res: HttpResponse;
  readonly id: string;
  isGone: boolean;
}
