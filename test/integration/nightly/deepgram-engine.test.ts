import { afterEach, beforeEach, describe, expect, it } from "vitest";
import type { EngineSettings } from "../../../workers/speech/engine-schemas.ts";
import type { ReaderFactory, ResponseMessage } from "../../../workers/speech/reader.ts";
import {
  openReading,
  readAll,
  readersOf,
  someSpeech,
  textsOf,
  utterancesOf,
} from "../../support/engine-reading.ts";
import {
  results,
  type StreamedConnection,
  StreamingServer,
} from "../../support/streaming-server.ts";
import { until } from "../../support/until.ts";

const LONG = 60_000;
const SECONDS = 14;

describe("an engine of Deepgram's streaming protocol", { timeout: LONG }, () => {
  let server: StreamingServer;
  const made: ReaderFactory[] = [];
  /** Where the sound of the utterance under way begins in its connection, samples. */
  let from: WeakMap<StreamedConnection, number>;

  beforeEach(async () => {
    server = await StreamingServer.start();
    from = new WeakMap();
    server.behaviour = { onFinalize: (connection) => flush(connection, "Tell me more.") };
  });
  afterEach(async () => {
    for (const readers of made.splice(0)) await readers.close();
    await server.close();
  });

  /** Tells the final words of all that came since the last time. */
  function flush(connection: StreamedConnection, text: string): void {
    const span = [from.get(connection) ?? 0, connection.samples] as const;
    from.set(connection, connection.samples);
    connection.send(results(span, text, { fromFinalize: true }));
  }

  const settings = (rest: object = {}): EngineSettings => ({
    ...{ kind: "deepgram", name: "hosted", model: "nova-3", languages: ["en"], url: server.url },
    ...{ key: "secret", retries: 2, utterance_ms: 20_000, ...rest },
  });

  async function read(rest?: object): Promise<ResponseMessage[]> {
    const readers = await readersOf(settings(rest));
    made.push(readers);
    return readAll(await openReading(readers, "hosted"), someSpeech(SECONDS));
  }

  const failure = (rest?: object): Promise<unknown> =>
    read(rest).then(
      () => "none",
      (error: unknown) => error,
    );

  it("streams each utterance, and its words stand where they were said", async () => {
    const utterances = utterancesOf(await read());
    expect(utterances.length).toBeGreaterThan(1);
    for (const { start, end, segments } of utterances) {
      const words = segments.flatMap((segment) => segment.words);
      expect(words.map(({ text }) => text)).toEqual(["Tell", "me", "more."]);
      expect(words[0]?.start).toBe(start);
      expect(words[2]?.end).toBeLessThanOrEqual(end);
      expect(words[2]?.end).toBeGreaterThan(start + 0.9 * (end - start));
      expect(words[0]?.confidence).toBeCloseTo(0.97);
    }
    const [connection, ...others] = server.connections;
    expect(others).toEqual([]);
    expect(connection?.key).toBe("Token secret");
    expect(Object.fromEntries(connection?.url.searchParams ?? [])).toMatchObject({
      ...{ model: "nova-3", language: "en", encoding: "linear16", sample_rate: "16000" },
      interim_results: "true",
    });
    expect(connection?.samples).toBe(
      utterances.reduce((sum, { start, end }) => sum + end - start, 0),
    );
  });

  it("ends its stream with CloseStream when the session is over", async () => {
    await read();
    await until(() => server.connections[0]?.types.at(-1) === "CloseStream", "CloseStream");
  });

  it("joins the final parts of one utterance, and passes over what else it says", async () => {
    server.behaviour.onFinalize = (connection) => {
      const begin = from.get(connection) ?? 0;
      const middle = Math.round((begin + connection.samples) / 2);
      connection.send({ type: "SpeechStarted", channel: [0], timestamp: 0.1 });
      connection.send(results([begin, middle], "Tell", { isFinal: false }));
      connection.send(results([begin, middle], "Tell me", { speechFinal: true }));
      connection.send({ type: "UtteranceEnd", channel: [0, 2], last_word_end: 0.2 });
      connection.send({ type: "TurnInfo", event: "Update" });
      from.set(connection, middle);
      flush(connection, "more.");
    };
    expect(new Set(textsOf(await read()))).toEqual(new Set(["Tell me more."]));
  });

  it("need not say that it has finished when all sound is final", async () => {
    server.behaviour.onFinalize = (connection) => {
      const span = [from.get(connection) ?? 0, connection.samples] as const;
      from.set(connection, connection.samples);
      connection.send(results(span, "Tell me more."));
    };
    expect(new Set(textsOf(await read()))).toEqual(new Set(["Tell me more."]));
  });

  it("that says nothing to Finalize is given silence, to which it says what it has", async () => {
    let quiet = 1;
    server.behaviour.onFinalize = (connection) => {
      quiet -= 1;
      if (quiet < 0) flush(connection, "Tell me more.");
    };
    const utterances = utterancesOf(await read());
    expect(utterances.length).toBeGreaterThan(1);
    const [first] = utterances;
    const length = (first?.end ?? 0) - (first?.start ?? 0);
    expect(server.connections[0]?.samples).toBeGreaterThan(length + 16_000);
  });

  it.each([
    ["closed in mid-word", (connection: StreamedConnection) => connection.cut()],
    [
      "closed with words begun",
      (connection: StreamedConnection) => {
        connection.send(results([0, connection.samples], "Tell", { isFinal: false }));
        connection.cut();
      },
    ],
    ["other JSON", (connection: StreamedConnection) => connection.send({ hello: 1 })],
    ["half a message", (connection: StreamedConnection) => connection.send('{"type": "Resul')],
    [
      "an error",
      (connection: StreamedConnection) => connection.send({ type: "Error", variant: "X" }),
    ],
  ])("is given the utterance again after %s", async (_name, fault) => {
    let faults = 1;
    server.behaviour.onFinalize = (connection) => {
      faults -= 1;
      if (faults >= 0) return fault(connection);
      flush(connection, "Tell me more.");
    };
    const messages = await read();
    expect(new Set(textsOf(messages))).toEqual(new Set(["Tell me more."]));
    expect(server.connections).toHaveLength(2);
    const total = utterancesOf(messages).reduce((sum, { start, end }) => sum + end - start, 0);
    expect(server.connections[1]?.samples).toBe(total);
  });

  it("that is busy is asked again; one that refuses our key is not", async () => {
    server.behaviour.refuse = (count) => (count === 1 ? 429 : undefined);
    expect(new Set(textsOf(await read()))).toEqual(new Set(["Tell me more."]));
    const before = server.asked;
    server.behaviour.refuse = () => 401;
    const error = await failure();
    expect(error).toMatchObject({ code: "engine_unavailable" });
    expect(String(error)).toMatch(/refuses our key/);
    expect(server.asked - before).toBe(1);
  });

  it("that never answers ends the reading in time", async () => {
    server.behaviour.onFinalize = () => {};
    expect(await failure({ utterance_ms: 500 })).toMatchObject({ code: "engine_unavailable" });
  });
});
