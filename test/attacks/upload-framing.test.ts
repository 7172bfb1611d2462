import { describe, expect, it } from "vitest";
import { post, problem, start, stopAfterEach } from "../support/front-calls.ts";

stopAfterEach();

const TYPE = { "content-type": "multipart/form-data; boundary=x" };
const FILE = '--x\r\nContent-Disposition: form-data; name="file"; filename="a"\r\n\r\nabc\r\n';

/** A body with a large part that says nothing of itself, at which the parser does not come back. */
function bodyWithNamelessPart(bytes: number): string {
  return `${FILE}--x\r\nContent-Type: text/plain\r\n\r\n${"n".repeat(bytes)}\r\n--x--\r\n`;
}

describe("uploads whose framing is off", () => {
  it("whole bodies are answered whatever their parts, and their places are given back", async () => {
    const { front, url } = await start({ limits: { concurrentUploads: 3 } });
    const sizes = [70_000, 300_000, 1_000_000];
    for (const size of sizes) {
      const response = await post(`${url}/upload`, bodyWithNamelessPart(size), TYPE);
      if (response.status === 200) await response.body?.cancel();
      else expect((await problem(response)).slice(0, 2), `${size}`).toEqual([400, "invalid_body"]);
    }
    expect((await post(`${url}/upload`, `${FILE}--x--\r\n`, TYPE)).status).toBe(200);
    expect(await front.leftovers()).toEqual([]);
  }, 60_000);

  it("a file beside the one that counts, cut off, ends its request and nothing else", async () => {
    const { url } = await start();
    const other = FILE.replace('name="file"', 'name="FILE"');
    for (const body of [other, `${FILE}${other}`, `${FILE}${FILE}`, `${FILE}${FILE}${FILE}`]) {
      const response = await post(`${url}/upload`, body, TYPE);
      expect((await problem(response)).slice(0, 2)).toEqual([400, "invalid_body"]);
    }
    expect((await post(`${url}/upload`, `${FILE}--x--\r\n`, TYPE)).status).toBe(200);
  });
});
