import { Ajv2020 } from "ajv/dist/2020.js";
import addFormats from "ajv-formats";
import { describe, expect, it } from "vitest";
import { ERROR_CODES, type ErrorCode } from "../../../src/base/errors.ts";
import { asyncApiDocument } from "../../../src/http/async-api.ts";
import { LIVE_NAMES } from "../../../src/rest/live-names.ts";
import { NOTICE_CODES } from "../../../src/wire/notice-codes.ts";
import { wholeDocument } from "../../support/whole-document.ts";

interface Schema {
  $ref?: string;
  const?: unknown;
  description?: string;
  properties?: Record<string, Schema>;
  items?: Schema;
  anyOf?: Schema[];
}

interface Message {
  summary: string;
  payload: Schema;
  contentType?: string;
  examples?: object[];
}

const document = asyncApiDocument({ title: "Live", version: "1.0" });
const { description: guide } = document.info as { description: string };
const channels = document.channels as Record<string, { description: string }>;
const { messages } = document.components as unknown as { messages: Record<string, Message> };

/** Members below a schema that say nothing of themselves; what `type` says is the message's name. */
function bare(schema: Schema, path: string): string[] {
  const members = Object.entries(schema.properties ?? {}).filter(([name]) => name !== "type");
  const own = members.filter(([, { description, $ref }]) => !description && !$ref);
  const below = [...(schema.items ? [schema.items] : []), ...(schema.anyOf ?? [])];
  return [
    ...own.map(([name]) => `${path}.${name}`),
    ...members.flatMap(([name, member]) => bare(member, `${path}.${name}`)),
    ...below.flatMap((each) => bare(each, path)),
  ];
}

describe("document of the live channel", () => {
  it("document of the live channel: describes every member of every message", () => {
    expect(Object.keys(messages).length).toBeGreaterThan(20);
    expect(Object.entries(messages).flatMap(([name, { payload }]) => bare(payload, name))).toEqual(
      [],
    );
  });

  it("document of the live channel: has an example of every message of text", () => {
    const silent = Object.entries(messages).filter(([, { contentType, examples = [] }]) => {
      return contentType === undefined && examples.length === 0;
    });
    expect(silent.map(([name]) => name)).toEqual([]);
  });

  it("document of the live channel: has examples that its schemas take", () => {
    const ajv = new Ajv2020({ strict: false, validateSchema: false });
    addFormats.default(ajv);
    ajv.addSchema(document, "asyncapi");
    for (const [name, { examples = [] }] of Object.entries(messages)) {
      const check = ajv.getSchema(`asyncapi#/components/messages/${name}/payload`);
      for (const { payload } of examples as { payload: unknown }[]) {
        expect(check?.(payload), `${name}: ${ajv.errorsText(check?.errors)}`).toBe(true);
      }
    }
  });

  it("document of the live channel: names the codes of its Error frame one by one", () => {
    const { code } = messages.Error?.payload.properties ?? {};
    expect(code).toMatchObject({ enum: expect.arrayContaining(["forbidden", "overloaded"]) });
  });

  it("document of the live channel: says of messages with another one's `type` which they are", () => {
    const others = Object.entries(messages).filter(([name, { payload }]) => {
      const type = payload.properties?.type?.const;
      return type !== undefined && type !== name;
    });
    expect(others.length).toBeGreaterThan(2);
    for (const [name, { payload }] of others) {
      expect(guide).toContain(name);
      expect(guide).toContain(`\`${String(payload.properties?.type?.const)}\``);
    }
  });

  it("document of the live channel: says whose `seq` is no number of its own", () => {
    const others = Object.entries(messages).filter(
      ([
        ,
        {
          payload: { properties = {} },
        },
      ]) => {
        return properties.seq !== undefined && properties.at === undefined;
      },
    );
    expect(others.map(([name]) => name).sort()).toEqual([
      "Begin",
      "Heartbeat",
      "SessionEnded",
      "Snapshot",
    ]);
    for (const [name] of others) expect(guide).toContain(name);
  });

  it("document of the live channel: tells what every code means that is no error's", () => {
    const codes = NOTICE_CODES.filter((code) => !ERROR_CODES.includes(code as ErrorCode));
    expect(codes.length).toBeGreaterThan(5);
    for (const code of codes) expect(guide).toContain(`| \`${code}\` |`);
  });

  it("document of the live channel: shows a conversation on each channel, of messages that there are", () => {
    const spoken = Object.entries(channels).map(([channel, { description }]) => {
      const lines = [...description.matchAll(/^[→←] (\w+) (\{.*\})$/gm)];
      for (const [line, type, members] of lines) {
        const told = Object.keys(JSON.parse(members ?? ""));
        const fitting = Object.values(messages).filter(({ payload }) => {
          const { properties = {} } = payload;
          return properties.type?.const === type && told.every((name) => name in properties);
        });
        expect(fitting.length, `${channel}: ${line}`).toBeGreaterThan(0);
      }
      return lines.length;
    });
    expect(Math.min(...spoken)).toBeGreaterThan(5);
  });

  it("document of the live channel: gives names of both interfaces that both have", async () => {
    const rest = JSON.stringify(await wholeDocument());
    const live = JSON.stringify(messages);
    const rows = LIVE_NAMES.split("\n")
      .slice(2)
      .map((row) => row.split("|").slice(1, 3));
    expect(rows.length).toBeGreaterThan(5);
    const named = (cell = "") => [...cell.matchAll(/`(\w+)`/g)].map(([, name]) => `"${name}"`);
    for (const [here, there] of rows) {
      for (const name of named(here)) expect(live).toContain(name);
      for (const name of named(there)) expect(rest).toContain(name);
    }
  });
});
