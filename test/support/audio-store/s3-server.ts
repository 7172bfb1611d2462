import { createHash, randomBytes } from "node:crypto";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { isSigned } from "./s3-signature.ts";

interface StoredObject {
  data: Buffer;
  etag: string;
  /** Unix milliseconds. */
  at: number;
  encryption: string | undefined;
  kmsKey: string | undefined;
}

/** What a server does to whoever asks: answers, is not there, says 503, or never answers. */
export type S3Mood = "well" | "away" | "busy" | "hanging";

/** A refusal as S3 has it. */
export class Refusal extends Error {
  readonly status: number;
  readonly code: string;

  constructor(status: number, code: string) {
    super(code);
    this.status = status;
    this.code = code;
  }
}

const text = (value: string) =>
  value.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;");

/**
 * A small S3 server: signatures, conditional writes, checksums, parts, ranges, copies, and lists by
 * cursor, all of which it checks. It keeps everything in memory, has one bucket and knows no versions.
 */
export class S3Server {
  readonly bucket = "audio";
  mood: S3Mood = "well";
  /** What it answers to a question about versions in the place of "none". */
  versioning: Refusal | undefined;
  /** Writes over what is there, as servers do that do not know the condition. */
  ignoresConditions = false;
  /** Breaks the connection in the middle of the next answers with a body; how many. */
  cuts = 0;
  /** Waited for before a request that is answered takes effect. */
  before: ((request: IncomingMessage) => Promise<void>) | undefined;
  readonly objects = new Map<string, StoredObject>();
  /** `METHOD query` of every request that was answered. */
  readonly asked: string[] = [];
  /** Ranges that were asked for. */
  readonly ranges: string[] = [];
  readonly #uploads = new Map<string, Map<number, Buffer>>();
  readonly #begun = new Map<string, IncomingMessage["headers"]>();
  readonly #server = createServer((request, response) => void this.#serve(request, response));

  /** @param port any free one unless given; a server that was stopped may be started again at its own */
  async start(port = 0): Promise<void> {
    await new Promise<void>((done) => this.#server.listen(port, "127.0.0.1", done));
  }

  get endpoint(): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
  }

  /** Uploads in parts that were begun and neither ended nor given up. */
  get unfinished(): number {
    return this.#uploads.size;
  }

  async stop(): Promise<void> {
    this.#server.closeAllConnections();
    await new Promise((done) => this.#server.close(done));
  }

  async #serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    if (this.mood === "away") return void request.socket.destroy();
    const parts: Buffer[] = [];
    try {
      for await (const part of request) parts.push(part as Buffer);
    } catch {
      return;
    }
    if (this.mood === "hanging") return;
    try {
      if (this.mood === "busy") throw new Refusal(503, "SlowDown");
      const body = Buffer.concat(parts);
      if (!isSigned(request, body)) throw new Refusal(403, "SignatureDoesNotMatch");
      await this.before?.(request);
      this.#answer(request, response, body);
    } catch (error) {
      const { status, code } = error instanceof Refusal ? error : new Refusal(500, String(error));
      const xml = `<Error><Code>${code}</Code><Message>${code}</Message></Error>`;
      send(response, status, request.method === "HEAD" ? "" : xml);
    }
  }

  #answer(request: IncomingMessage, response: ServerResponse, body: Buffer): void {
    const url = new URL(request.url ?? "/", "http://server");
    const [, bucket = "", ...rest] = url.pathname.split("/");
    if (bucket !== this.bucket) throw new Refusal(404, "NoSuchBucket");
    const key = rest.map(decodeURIComponent).join("/");
    const query = url.searchParams;
    this.asked.push(`${request.method} ${[...query.keys()].sort().join("&")}`.trim());
    if (key === "") return this.#ofBucket(request, response, query, body);
    if (request.method === "PUT") return this.#put(request, response, key, query, body);
    if (request.method === "POST") return this.#parts(request, response, key, query, body);
    if (request.method === "DELETE") {
      this.#uploads.delete(query.get("uploadId") ?? "");
      if (!query.has("uploadId")) this.objects.delete(key);
      return send(response, 204, "");
    }
    this.#get(request, response, key);
  }

  #ofBucket(
    { method }: IncomingMessage,
    response: ServerResponse,
    query: URLSearchParams,
    body: Buffer,
  ): void {
    if (method === "HEAD") return send(response, 200, "");
    if (query.has("versioning")) {
      if (this.versioning !== undefined) throw this.versioning;
      return send(response, 200, "<VersioningConfiguration/>");
    }
    if (method === "POST" && query.has("delete")) {
      for (const [, key = ""] of body.toString().matchAll(/<Key>([^<]+)<\/Key>/g)) {
        this.objects.delete(key);
      }
      return send(response, 200, "<DeleteResult/>");
    }
    if (query.get("list-type") !== "2") throw new Refusal(501, "NotImplemented");
    send(response, 200, this.#list(query));
  }

  /** In the order of keys; the cursor is the last name that was told. */
  #list(query: URLSearchParams): string {
    const [prefix, delimiter] = [query.get("prefix") ?? "", query.get("delimiter")];
    const most = Number(query.get("max-keys") ?? 1_000);
    const cursor = Buffer.from(query.get("continuation-token") ?? "", "base64url").toString();
    const names = new Map<string, StoredObject | undefined>();
    for (const [key, object] of [...this.objects].sort(([a], [b]) => (a < b ? -1 : 1))) {
      if (!key.startsWith(prefix)) continue;
      const end = delimiter === null ? -1 : key.indexOf(delimiter, prefix.length);
      names.set(end === -1 ? key : key.slice(0, end + 1), end === -1 ? object : undefined);
    }
    const left = [...names].filter(([name]) => name > cursor);
    const page = left.slice(0, most);
    const isCut = left.length > page.length;
    const next = Buffer.from(page.at(-1)?.[0] ?? "").toString("base64url");
    const entries = page.map(([name, object]) =>
      object === undefined
        ? `<CommonPrefixes><Prefix>${text(name)}</Prefix></CommonPrefixes>`
        : `<Contents><Key>${text(name)}</Key><Size>${object.data.length}</Size><ETag>${object.etag}</ETag><LastModified>${new Date(object.at).toISOString()}</LastModified></Contents>`,
    );
    return `<ListBucketResult><IsTruncated>${isCut}</IsTruncated>${isCut ? `<NextContinuationToken>${next}</NextContinuationToken>` : ""}${entries.join("")}</ListBucketResult>`;
  }

  #put(
    request: IncomingMessage,
    response: ServerResponse,
    key: string,
    query: URLSearchParams,
    body: Buffer,
  ): void {
    const { headers } = request;
    const source = headers["x-amz-copy-source"];
    if (source !== undefined) {
      const from = decodeURIComponent(String(source)).slice(this.bucket.length + 1);
      const { etag, at } = this.#write(request, key, this.#object(from).data);
      const xml = `<CopyObjectResult><ETag>${etag}</ETag><LastModified>${new Date(at).toISOString()}</LastModified></CopyObjectResult>`;
      return send(response, 200, xml);
    }
    const sum = createHash("sha256").update(body).digest("base64");
    if (headers["x-amz-checksum-sha256"] !== sum) throw new Refusal(400, "BadDigest");
    if (query.has("partNumber")) {
      const upload = this.#uploads.get(query.get("uploadId") ?? "");
      if (upload === undefined) throw new Refusal(404, "NoSuchUpload");
      upload.set(Number(query.get("partNumber")), body);
      return send(response, 200, "", { etag: `"${sum}"` });
    }
    const { etag } = this.#write(request, key, body);
    send(response, 200, "", { etag });
  }

  #parts(
    request: IncomingMessage,
    response: ServerResponse,
    key: string,
    query: URLSearchParams,
    body: Buffer,
  ): void {
    if (query.has("uploads")) {
      const id = randomBytes(8).toString("hex");
      this.#uploads.set(id, new Map());
      this.#begun.set(id, request.headers);
      const xml = `<InitiateMultipartUploadResult><UploadId>${id}</UploadId></InitiateMultipartUploadResult>`;
      return send(response, 200, xml);
    }
    const id = query.get("uploadId") ?? "";
    const upload = this.#uploads.get(id);
    if (upload === undefined) throw new Refusal(404, "NoSuchUpload");
    const told = [...body.toString().matchAll(/<PartNumber>(\d+)<\/PartNumber>/g)];
    const parts = told.map(([, number]) => upload.get(Number(number)) ?? Buffer.alloc(0));
    const isTooSmall = parts.slice(0, -1).some(({ length }) => length < 5 * 1024 * 1024);
    if (parts.length !== upload.size) throw new Refusal(400, "InvalidPart");
    if (isTooSmall) throw new Refusal(400, "EntityTooSmall");
    const { etag } = this.#write(request, key, Buffer.concat(parts), this.#begun.get(id));
    this.#uploads.delete(id);
    send(
      response,
      200,
      `<CompleteMultipartUploadResult><ETag>${etag}</ETag></CompleteMultipartUploadResult>`,
    );
  }

  /** `begun`: what the first request of an upload in parts said. */
  #write({ headers }: IncomingMessage, key: string, data: Buffer, begun = headers): StoredObject {
    const there = this.objects.get(key);
    const wanted = headers["if-match"];
    if (!this.ignoresConditions) {
      if (headers["if-none-match"] === "*" && there !== undefined) {
        throw new Refusal(412, "PreconditionFailed");
      }
      if (wanted !== undefined && there === undefined) throw new Refusal(404, "NoSuchKey");
      if (wanted !== undefined && there?.etag !== wanted) {
        throw new Refusal(412, "PreconditionFailed");
      }
    }
    const object = {
      data,
      etag: `"${createHash("md5").update(data).digest("hex")}"`,
      at: Date.now(),
      encryption: headerOf(begun, "x-amz-server-side-encryption"),
      kmsKey: headerOf(begun, "x-amz-server-side-encryption-aws-kms-key-id"),
    };
    this.objects.set(key, object);
    return object;
  }

  #get({ method, headers }: IncomingMessage, response: ServerResponse, key: string): void {
    const { data, etag, at } = this.#object(key);
    if (headers["if-match"] !== undefined && headers["if-match"] !== etag) {
      throw new Refusal(412, "PreconditionFailed");
    }
    const common = { etag, "last-modified": new Date(at).toUTCString() };
    if (method === "HEAD") {
      response.writeHead(200, { ...common, "content-length": data.length });
      response.end();
      return;
    }
    const [, from] = /^bytes=(\d+)-$/.exec(headers.range ?? "") ?? [];
    if (from !== undefined) this.ranges.push(String(headers.range));
    if (Number(from) >= data.length) throw new Refusal(416, "InvalidRange");
    const part = data.subarray(Number(from ?? 0));
    response.writeHead(from === undefined ? 200 : 206, {
      ...common,
      "content-length": part.length,
    });
    if (this.cuts === 0) return void response.end(part);
    this.cuts -= 1;
    response.write(part.subarray(0, part.length / 2), () => response.destroy());
  }

  #object(key: string): StoredObject {
    const found = this.objects.get(key);
    if (found === undefined) throw new Refusal(404, "NoSuchKey");
    return found;
  }
}

function headerOf(headers: IncomingMessage["headers"], name: string): string | undefined {
  const value = headers[name];
  return value === undefined ? undefined : String(value);
}

function send(
  response: ServerResponse,
  status: number,
  body: string,
  headers: Record<string, string> = {},
): void {
  response.writeHead(status, { ...headers, "content-length": Buffer.byteLength(body) });
  response.end(body);
}
