import { createHash, randomBytes } from "node:crypto";
import { describe, expect, it } from "vitest";
import { post, problem, raw, start, stopAfterEach } from "../support/front-calls.ts";
import { KeptConnection } from "../support/kept-connection.ts";
import { until } from "../support/until.ts";

stopAfterEach();

describe("front http: uploads", () => {
  const sha = (bytes: Buffer) => createHash("sha256").update(bytes).digest("hex");

  it("streams a raw body to a file that is gone afterwards", async () => {
    const { front, url } = await start();
    const bytes = randomBytes(5_000_000);
    const response = await post(`${url}/upload`, bytes, { "content-type": "Audio/WAV" });
    expect(await response.json()).toMatchObject({
      bytes: bytes.length,
      length: bytes.length,
      sha256: sha(bytes),
      mediaType: "audio/wav",
    });
    expect(await front.leftovers()).toEqual([]);
  });

  it("takes multipart with its fields, in any order", async () => {
    const { front, url } = await start();
    const bytes = randomBytes(3_000_000);
    const form = new FormData();
    form.set("chunk_sequence", "4");
    form.set("file", new Blob([bytes], { type: "audio/wav" }), "../../evil.wav");
    form.set("started_at", "2026-01-01T00:00:00Z");
    const body = (await (await post(`${url}/upload`, form, {})).json()) as Record<string, unknown>;
    expect(body).toMatchObject({
      length: bytes.length,
      sha256: sha(bytes),
      fields: { chunk_sequence: "4", started_at: "2026-01-01T00:00:00Z" },
    });
    expect(body.filename).toBe("evil.wav");
    expect(String(body.path)).not.toContain("evil");
    expect(await front.leftovers()).toEqual([]);
  });

  it("takes fields without an effect at any length, up to 100 of them", async () => {
    const { front, url } = await start();
    const form = new FormData();
    form.set("file", new Blob(["sound"]), "a.wav");
    form.set("prompt", "x".repeat(300_000));
    form.append("references[]", "y".repeat(6_000));
    form.append("references[]", "z".repeat(6_000));
    for (let at = 0; at < 96; at++) form.set(`field${at}`, "1");
    form.set("chunk_sequence", "4");
    const taken = await post(`${url}/upload`, form, {});
    expect(taken.status).toBe(200);
    const { fields } = (await taken.json()) as { fields: Record<string, string> };
    expect(fields).toMatchObject({ chunk_sequence: "4", field95: "1" });
    expect(fields.prompt?.length).toBe(4_096);

    form.set("field96", "1");
    const many = await problem(await post(`${url}/upload`, form, {}));
    expect(many).toEqual([400, "invalid_body", expect.stringContaining("at most 100 fields")]);
    expect(await front.leftovers()).toEqual([]);
  });

  it("refuses a field that has an effect beyond 4,096 bytes, by its name", async () => {
    const { url } = await start();
    const form = new FormData();
    form.set("file", new Blob(["sound"]), "a.wav");
    form.set("chunk_sequence", "4".repeat(4_097));
    const long = await problem(await post(`${url}/upload`, form, {}));
    expect(long).toEqual([400, "invalid_body", expect.stringContaining('"chunk_sequence"')]);
  });

  it("refuses malformed multipart and leaves nothing behind", async () => {
    const { front, url } = await start();
    const type = "multipart/form-data; boundary=b";
    const file = '--b\r\nContent-Disposition: form-data; name="file"; filename="a"\r\n\r\nabc';
    const cases: [string, string][] = [
      ["multipart/form-data", "x"],
      [type, "x"],
      [type, file],
      [type, '--b\r\nContent-Disposition: form-data; name="a"\r\n\r\n1\r\n--b--\r\n'],
      [type, `${file}\r\n${file}\r\n--b--\r\n`],
    ];
    for (const [contentType, body] of cases) {
      const answer = await problem(
        await post(`${url}/upload`, body, { "content-type": contentType }),
      );
      expect(answer.slice(0, 2)).toEqual([400, "invalid_body"]);
    }
    expect(
      (await post(`${url}/upload`, `${file}\r\n--b--\r\n`, { "content-type": type })).status,
    ).toBe(200);
    expect(await front.leftovers()).toEqual([]);
  });

  it("refuses 200 MB by its length before they come, and by counting when it has none", async () => {
    const { front, url } = await start();
    const declared = new KeptConnection(front.port);
    const head = "POST /api/upload HTTP/1.1\r\nHost: a\r\nContent-Length: 200000000\r\n\r\n";
    declared.write(head);
    expect((await declared.answer("POST")).status).toBe(413);
    declared.close();
    let pulled = 0;
    const piece = new Uint8Array(1_000_000);
    const stream = new ReadableStream({
      pull(controller) {
        pulled += piece.length;
        if (pulled > 200_000_000) controller.close();
        else controller.enqueue(piece);
      },
    });
    expect((await problem(await post(`${url}/upload`, stream, {})))[0]).toBe(413);
    expect(await front.leftovers()).toEqual([]);
  });

  it("tells a client that reads only after its last byte why it refuses", async () => {
    const { front, url } = await start();
    const head = "POST /api/upload HTTP/1.1\r\nHost: a\r\n";
    for (const [how, chunked] of [
      ["Content-Length: 100000000", false],
      ["Transfer-Encoding: chunked", true],
    ] as const) {
      const connection = new KeptConnection(front.port);
      await connection.writeAll(`${head}${how}\r\n\r\n`, 100, Buffer.alloc(1_000_000), chunked);
      const { status, body } = await connection.answer("POST");
      expect([status, JSON.parse(String(body))], how).toMatchObject([413, { success: false }]);
      connection.end();
    }
    expect((await fetch(`${url}/things`)).status).toBe(200);
    expect(await front.leftovers()).toEqual([]);
  });

  it("stores nothing of a caller that is not known", async () => {
    const { front, url } = await start();
    const bytes = randomBytes(30_000_000);
    expect((await problem(await post(`${url}/locked-upload`, bytes, {})))[0]).toBe(401);
    const asUser = { authorization: "Bearer user-bob" };
    expect((await problem(await post(`${url}/locked-upload`, bytes, asUser)))[0]).toBe(401);
    const known = await post(`${url}/locked-upload`, bytes, { "x-api-key": "device-1" });
    expect(await known.json()).toEqual({ bytes: bytes.length });
    const huge = await post(`${url}/locked-upload`, Buffer.alloc(80_000_000), {});
    expect((await problem(huge))[0]).toBe(413);
    expect(await front.leftovers()).toEqual([]);
  });

  it("keeps few bytes in memory and more in a file, and reads both alike", async () => {
    const { front, url } = await start();
    for (const length of [0, 1, 16_000, 262_144, 262_145, 400_000]) {
      const bytes = randomBytes(length);
      const form = new FormData();
      form.set("file", new Blob([bytes]), "a.wav");
      for (const body of length === 0 ? [form] : [bytes, form]) {
        const answer = await (await post(`${url}/upload`, body, {})).json();
        expect(answer).toMatchObject({ bytes: length, length, sha256: sha(bytes) });
        expect(Object.hasOwn(answer as object, "path")).toBe(length > 262_144);
      }
    }
    expect(await front.leftovers()).toEqual([]);
  });

  it("removes what came of an upload that is cut off", async () => {
    const { front, echo } = await start();
    const head = "POST /api/upload HTTP/1.1\r\nHost: x\r\nContent-Length: 5000000\r\n\r\n";
    for (let round = 0; round < 20; round += 1) {
      const part = randomBytes(300_000 + 100_000 * round);
      const cut = raw(front.port, Buffer.concat([Buffer.from(head), part]));
      await until(async () => (await front.leftovers()).length > 0, "the file");
      cut.socket.destroy();
      await until(async () => (await front.leftovers()).length === 0, "its removal");
    }
    expect(echo.seen.get("upload")).toBeUndefined();
  });

  it("takes an upload over a link that brings two kilobytes a second", async () => {
    const { front, echo } = await start();
    const total = 26_000;
    const head = `POST /api/upload HTTP/1.1\r\nHost: x\r\nContent-Length: ${total}\r\n\r\n`;
    const caller = raw(front.port, head);
    let sent = 0;
    const timer = setInterval(() => {
      if (sent < total) caller.socket.write(Buffer.alloc(400));
      sent += 400;
    }, 200);
    await until(() => caller.text.includes("200 OK") || caller.closed, "the answer", 60_000);
    clearInterval(timer);
    expect(caller.text).toContain(`"bytes":${total}`);
    expect(echo.seen.get("upload")?.length).toBe(1);
    caller.socket.destroy();
  });

  it("takes several at once byte for byte and refuses more than it may", async () => {
    const { front, url } = await start({ limits: { concurrentUploads: 8 } });
    const bodies = Array.from({ length: 8 }, () => randomBytes(2_000_000));
    const answers = await Promise.all(
      bodies.map(async (bytes) => (await post(`${url}/upload`, bytes, {})).json()),
    );
    expect(answers.map((answer) => (answer as { sha256: string }).sha256)).toEqual(bodies.map(sha));
    expect(await front.leftovers()).toEqual([]);
  });
});
