import { once } from "node:events";
import { type ClientHttp2Session, type ClientHttp2Stream, connect, constants } from "node:http2";

/** One call that is sent by hand, as no gRPC library would send it. */
export class RawCall {
  readonly stream: ClientHttp2Stream;
  /** The gRPC status that the server answered with. */
  status: string | undefined;

  constructor(stream: ClientHttp2Stream) {
    this.stream = stream;
    stream.on("error", () => {});
    stream.on("response", (headers) => this.#hear(headers["grpc-status"]));
    stream.on("trailers", (headers) => this.#hear(headers["grpc-status"]));
    stream.resume();
  }

  #hear(status: unknown): void {
    if (status !== undefined) this.status = String(status);
  }

  /** Announces a message of this size and sends only some of it. */
  beginMessage(bytes: number, sent = 8): void {
    const head = Buffer.alloc(5);
    head.writeUInt32BE(bytes, 1);
    this.stream.write(Buffer.concat([head, Buffer.alloc(sent)]));
  }
}

/** One HTTP/2 connection to a gRPC server, for clients that do not keep to the rules. */
export class RawGrpc {
  readonly session: ClientHttp2Session;
  #isClosed = false;

  private constructor(session: ClientHttp2Session) {
    this.session = session;
    session.on("error", () => {});
    session.on("close", () => {
      this.#isClosed = true;
    });
  }

  /** Connects; resolves when the server has greeted, or closed the connection at once. */
  static async open(address: string): Promise<RawGrpc> {
    const raw = new RawGrpc(connect(`http://${address}`));
    await Promise.race([once(raw.session, "remoteSettings"), once(raw.session, "close")]);
    return raw;
  }

  get isClosed(): boolean {
    return this.#isClosed;
  }

  call(path: string, metadata: Record<string, string> = {}): RawCall {
    return new RawCall(
      this.session.request({
        [constants.HTTP2_HEADER_METHOD]: "POST",
        [constants.HTTP2_HEADER_PATH]: path,
        "content-type": "application/grpc",
        te: "trailers",
        ...metadata,
      }),
    );
  }

  close(): void {
    this.session.destroy();
  }
}
