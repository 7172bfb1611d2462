import { type Asked, refusal, type ScriptedService } from "./scripted-service.ts";

/** A tus server that keeps what comes, and does to requests what the test says. */
export class ScriptedUploads {
  readonly service: ScriptedService;
  readonly files: { id: string; size: number; bytes: Buffer; metadata: string; more: boolean }[] =
    [];
  /** How a request fails, once it has been carried out as far as that goes. */
  fault: (asked: Asked, count: number) => "lost" | "half" | "busy" | "held" | undefined = () =>
    undefined;
  state: () => { status: string; error_code?: string; error?: string } = () => ({
    status: "stored",
  });

  constructor(service: ScriptedService) {
    this.service = service;
    service.answer = (asked) => this.#answer(asked);
  }

  #answer(asked: Asked) {
    const { method, path, headers, body } = asked;
    const count = this.service.asked.filter((each) => each.method === method).length;
    const fault = this.fault(asked, count);
    if (fault === "busy") return { status: 503, body: refusal("Later.") };
    if (fault === "held") return { status: 423, body: refusal("Another brings it.") };
    const file = this.files.find(({ id }) => path.endsWith(`/${id}`));
    if (method === "POST") {
      const id = `u${this.files.length + 1}`;
      const size = Number(headers["upload-length"]);
      const metadata = String(headers["upload-metadata"]);
      const more = path.endsWith("?more=true");
      this.files.push({ id, size, bytes: Buffer.alloc(0), metadata, more });
      return fault === "lost" ? ("cut" as const) : { status: 201, body: { id } };
    }
    if (method === "GET" && file === undefined) {
      const items = this.files.map(({ id, size, bytes }) => ({
        ...{ id, size, received: bytes.length, status: "receiving" },
      }));
      return { status: 200, body: { items } };
    }
    if (file === undefined) {
      const headers = { "x-error-code": "not_found" };
      return { status: 404, headers, body: refusal("No upload.") };
    }
    if (method === "GET") return { status: 200, body: { id: file.id, ...this.state() } };
    if (method === "PATCH") {
      if (Number(headers["upload-offset"]) !== file.bytes.length) {
        return { status: 409, body: refusal("Another offset.") };
      }
      const came = fault === "half" ? body.subarray(0, Math.floor(body.length / 2)) : body;
      file.bytes = Buffer.concat([file.bytes, came]);
      if (fault !== undefined) return "cut" as const;
    }
    return { status: 204, headers: { "upload-offset": String(file.bytes.length) } };
  }
}
