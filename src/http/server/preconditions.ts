import { isEdit, Representations, staleEdit } from "../../rest/representations.ts";
import type { Reply, Request, Route } from "../../rest/route.ts";
import { entityTag, isExpected, isKnown, weakTag } from "./entity-tag.ts";

/** ETags on answers, If-Match before edits, If-None-Match on reads. */
export class Preconditions {
  readonly #representations: Representations;

  constructor(routes: readonly Route[]) {
    this.#representations = new Representations(routes);
  }

  /**
   * Throws `precondition_failed` when If-Match names none of the thing's
   * current tags, or sets `request.isStale` where another one settles that.
   * Else sets `request.expected`, with which a store settles what changes
   * between this look and its own.
   */
  async check(route: Route, request: Request): Promise<void> {
    const header = request.headers["if-match"];
    if (header === undefined || !isEdit(route)) return;
    const shown = this.#representations.find(route);
    if (header.trim() === "*") return;
    const current = shown === undefined ? undefined : await show(shown, request);
    if (shown !== undefined && isExpected(header, entityTag(current, shown.volatile))) {
      request.expected = current;
    } else if (route.settlesStale === true && request.headers["idempotency-key"] !== undefined) {
      request.isStale = true;
    } else throw staleEdit();
  }

  /** The answer with its ETag; 304 when a reader has it already. */
  finish(route: Route, request: Request, reply: Reply): Reply {
    if (reply.status !== 200 || !this.#representations.isTagged(route)) return reply;
    const tag = entityTag(reply.body, this.#representations.find(route)?.volatile);
    const known = request.headers["if-none-match"];
    if (route.method === "get" && known !== undefined && isKnown(known, tag)) {
      // As the reader's copy has it, so that a cache finds that copy again.
      const weak = weakTag(tag);
      const same = known.includes(weak) ? weak : tag;
      return { status: 304, headers: { ...reply.headers, ETag: same } };
    }
    return { ...reply, headers: { ...reply.headers, ETag: tag } };
  }
}

/** What the thing's GET would answer to this caller now. */
async function show(route: Route, request: Request): Promise<unknown> {
  const { signal } = request;
  const reading = { ...request, signal, method: "GET", query: {}, body: undefined };
  const resource = await route.resolve?.(reading);
  return (await route.handle(reading, resource)).body;
}
