import { describe, expect, it } from "vitest";
import { wholeDocument } from "../../support/whole-document.ts";

type Node = Record<string, unknown>;

interface Example {
  where: string;
  value: Node;
}

function isNode(value: unknown): value is Node {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** Every value below this one, with the name of its member. */
function* parts(value: unknown, name = ""): Generator<[string, unknown]> {
  yield [name, value];
  const below = Array.isArray(value)
    ? value.map((one): [string, unknown] => [name, one])
    : isNode(value)
      ? Object.entries(value)
      : [];
  for (const [member, one] of below) yield* parts(one, member);
}

/** Examples of requests, answers, webhooks' messages and those of both sockets. */
function* examplesBelow(value: unknown, where: string): Generator<Example> {
  if (!isNode(value)) return;
  for (const [name, part] of Object.entries(value)) {
    if (name !== "examples") yield* examplesBelow(part, `${where} ${name}`);
    else if (Array.isArray(part)) {
      for (const one of part) {
        if (isNode(one) && isNode(one.payload)) yield { where, value: one.payload };
      }
    } else if (isNode(part)) {
      for (const one of Object.values(part)) {
        if (isNode(one) && isNode(one.value)) yield { where, value: one.value };
      }
    }
  }
}

const openApi = await wholeDocument();
const asyncApi = await wholeDocument("getAsyncApi");
const examples = [
  ...examplesBelow(openApi.paths, ""),
  ...examplesBelow(openApi.webhooks, "webhook"),
  ...examplesBelow((asyncApi.components as Node).messages, "message"),
];
const objects = examples.flatMap(({ where, value }) =>
  [...parts(value)].flatMap(([, part]) => (isNode(part) ? [{ where, value: part }] : [])),
);

const where = (found: readonly Example[]): string[] => [...new Set(found.map((one) => one.where))];

/** Members of which the documents say that they are true or not there. */
function flags(): Set<string> {
  const names = new Set<string>();
  for (const [name, schema] of [...parts(openApi), ...parts(asyncApi)]) {
    const { type, description } = isNode(schema) ? schema : {};
    if (type === "boolean" && /^True .*otherwise absent/is.test(String(description))) {
      names.add(name);
    }
  }
  return names;
}

const ENDED = ["stopped_at", "completed_at", "duration_ms", "stop_reason", "reason", "closed_at"];

/** Members that a thing in this state cannot have. */
const TOO_EARLY: Readonly<Record<string, readonly string[]>> = {
  recording: ENDED,
  queued: [...ENDED, "started_at"],
  running: ENDED,
  pending: ["completed_at"],
  open: ["closed_at", "resolution", "handled_by"],
};

describe("texts of both documents", () => {
  const texts = [...parts(openApi), ...parts(asyncApi)].flatMap(([name, text]) =>
    name === "description" && typeof text === "string" ? [text] : [],
  );

  it("links: lead to pages and documents that there are", () => {
    const links = texts.flatMap((text) => [...text.matchAll(/\]\(([^)\s]+)\)/g)]);
    const home = "http://voice.example.org/api/";
    const here = links.map(([, link = ""]) => new URL(link, `${home}docs`));
    expect(here.length).toBeGreaterThan(2);
    const paths = new Set(Object.keys(openApi.paths as Node));
    const wrong = here.filter(({ href, pathname }) => {
      return !href.startsWith(home) || !paths.has(pathname.replace("/api", ""));
    });
    expect(wrong.map(({ href }) => href)).toEqual([]);
  });

  it("parameters of paths: only those with UUIDs are said to be some", () => {
    const operations = Object.entries(openApi.paths as Node).flatMap(([path, item]) =>
      Object.values(item as Record<string, Node>).map((each) => ({ path, each })),
    );
    const wrong = operations.flatMap(({ path, each: { parameters = [] } }) =>
      (parameters as Node[])
        .filter(({ in: place, schema, description }) => {
          const isUuid = (schema as Node)?.format === "uuid";
          return place === "path" && isUuid !== /^UUID of/.test(String(description));
        })
        .map(({ name }) => `${path} ${String(name)}`),
    );
    expect([...new Set(wrong)]).toEqual([]);
  });
});

describe("examples of both documents", () => {
  it("examples: there are those of requests, answers, webhooks and frames", () => {
    expect(examples.length).toBeGreaterThan(200);
    for (const kind of ["requestBody", "responses", "webhook", "message"]) {
      expect(
        examples.some((one) => one.where.includes(kind)),
        kind,
      ).toBe(true);
    }
  });

  it("examples: keys begin as the service's own do, and no value is its member's name", () => {
    const told = examples.flatMap(({ where: place, value }) =>
      [...parts(value)].map(([name, part]) => ({ where: place, value: { name, part } })),
    );
    const beginnings: Readonly<Record<string, string>> = { api_key: "vk_dev_", key: "vk_svc_" };
    const keys = told.filter(({ value: { name } }) => name in beginnings);
    expect(keys.length).toBeGreaterThan(3);
    const wrong = keys.filter(
      ({ value: { name, part } }) => !String(part).startsWith(beginnings[name] ?? ""),
    );
    expect(where(wrong)).toEqual([]);
    expect(where(told.filter(({ value: { name, part } }) => name === part))).toEqual([]);
  });

  it("examples: flags that are true or absent are never false", () => {
    const names = flags();
    expect([...names]).toEqual(
      expect.arrayContaining(["unclear", "times_clamped", "sound_leaves"]),
    );
    const wrong = objects.filter(({ value }) => [...names].some((name) => value[name] === false));
    expect(where(wrong)).toEqual([]);
  });

  it("examples: nothing has the times of an end before it", () => {
    const wrong = objects.filter(({ value: { status, ...others } }) =>
      (TOO_EARLY[String(status)] ?? []).some((name) => name in others),
    );
    expect(where(wrong)).toEqual([]);
  });

  it("examples: work that waits has no progress, and all of it only when it is done", () => {
    const wrong = objects.filter(({ value: { status, progress } }) => {
      if (progress === undefined) return false;
      return (progress === 1) !== ["completed", "failed"].includes(String(status));
    });
    expect(where(wrong)).toEqual([]);
  });

  it("examples: what begins ends later, and nothing ends before it was made", () => {
    const pairs = [
      ["start_ms", "end_ms"],
      ["start", "end"],
      ["started_at", "stopped_at"],
      ["stopped_at", "completed_at"],
      ["created_at", "completed_at"],
      ["created_at", "expires_at"],
      ["device_heard_at", "given_up_at"],
    ] as const;
    const wrong = objects.filter(({ value }) =>
      pairs.some(([from, to]) => {
        const [one, other] = [value[from], value[to]];
        return one !== undefined && other !== undefined && !((one as number) < (other as number));
      }),
    );
    expect(where(wrong)).toEqual([]);
  });

  it("examples: name one session, workspace and device by one id each", () => {
    for (const name of ["session_id", "workspace_id", "device_id", "job_id"]) {
      const wrong = examples.filter(({ value }) => {
        const ids = [...parts(value)].filter(([member]) => member === name).map(([, id]) => id);
        return new Set(ids).size > 1;
      });
      expect(where(wrong), name).toEqual([]);
    }
    const things = ["session", "device"] as const;
    const wrong = examples.filter(({ value }) =>
      things.some((thing) => {
        const inner = value[thing];
        const id = value[`${thing}_id`];
        return isNode(inner) && id !== undefined && inner.id !== id;
      }),
    );
    expect(where(wrong)).toEqual([]);
  });

  it("examples: counts are those of the lists beside them", () => {
    const pairs = [
      ["total_chunks", "chunks"],
      ["segment_count", "segments"],
      ["total_entities", "entities"],
      ["size", "entity_ids"],
    ] as const;
    const wrong = objects.filter(({ value }) =>
      pairs.some(([count, list]) => {
        const [one, other] = [value[count], value[list]];
        return one !== undefined && Array.isArray(other) && one !== other.length;
      }),
    );
    expect(where(wrong)).toEqual([]);
  });

  it("examples: words are those of the text that they belong to", () => {
    const wrong = objects.filter(({ value: { words, text, transcript } }) => {
      const said = text ?? transcript;
      if (!Array.isArray(words) || typeof said !== "string") return false;
      const plain = (one: string): string => one.toLowerCase().replaceAll(/[^a-z ]/g, "");
      return plain(words.map((each: Node) => each.word).join(" ")) !== plain(said);
    });
    expect(where(wrong)).toEqual([]);
  });

  it("examples: sound leaves no installation for an engine that is local", () => {
    const wrong = objects.filter(
      ({ value }) => value.engine === "moonshine-tiny-en" && value.sound_leaves === true,
    );
    expect(where(wrong)).toEqual([]);
  });

  it("examples: packets are framed in requests for Opus alone", () => {
    const wrong = examples.filter(
      ({ value: { encoding, framing } }) => framing !== undefined && encoding !== "opus",
    );
    expect(where(wrong)).toEqual([]);
  });

  it("examples: an answer says of the thing what its request asked for", () => {
    const operations = Object.values(openApi.paths as Node).flatMap((item) =>
      Object.values(item as Record<string, Node>),
    );
    const wrong = operations.flatMap(({ operationId, requestBody, responses }) => {
      const [asked] = [...examplesBelow(requestBody, "")];
      const told = Object.entries(responses as Node).filter(([status]) => status < "3");
      return told.flatMap(([, answer]) =>
        [...examplesBelow(answer, "")].flatMap(({ value }) =>
          Object.entries(asked?.value ?? {})
            .filter(([name, one]) => {
              return name !== "token" && name in value && String(one) !== String(value[name]);
            })
            .map(([name]) => `${String(operationId)} ${name}`),
        ),
      );
    });
    expect(wrong).toEqual([]);
  });
});
