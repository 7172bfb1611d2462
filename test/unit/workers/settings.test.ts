import { describe, expect, it } from "vitest";
import { parseWorkerSettings } from "../../../workers/settings.ts";
import { WORKER_KEY } from "../../support/worker-key.ts";

const DEFAULTS = { workerId: "host-7", cores: 2 };

describe("worker settings: environment", () => {
  it("has a default for everything but the key", () => {
    expect(parseWorkerSettings({ WORKER_KEY }, DEFAULTS)).toEqual({
      settings: {
        workerId: "host-7",
        host: "127.0.0.1",
        port: 0,
        advertise: undefined,
        threads: 2,
        inferenceThreads: 2,
        networks: { providers: ["cpu"], wordThreads: 1, voiceThreads: 1 },
        sessionsPerThread: 4,
        natsUrl: undefined,
        natsLogin: { user: "worker", password: undefined, token: undefined },
        key: WORKER_KEY,
        opsHost: "127.0.0.1",
        logLevel: "info",
      },
    });
  });

  it("takes an empty variable as not set, and no cores as one", () => {
    const parsed = parseWorkerSettings(
      { WORKER_KEY, WORKER_HOST: "", WORKER_PORT: " " },
      { ...DEFAULTS, cores: 0 },
    );
    expect(parsed).toMatchObject({ settings: { host: "127.0.0.1", port: 0, threads: 1 } });
  });

  it("takes providers of the networks in the order of preference, and threads of their runs", () => {
    const env = { WORKER_KEY, INFERENCE_PROVIDERS: "cuda, cpu,cuda" };
    const threads = { INFERENCE_THREADS_WORDS: "3", INFERENCE_THREADS_VOICES: "2" };
    expect(parseWorkerSettings({ ...env, ...threads }, DEFAULTS)).toMatchObject({
      settings: { networks: { providers: ["cuda", "cpu"], wordThreads: 3, voiceThreads: 2 } },
    });
    expect(parseWorkerSettings({ WORKER_KEY, INFERENCE_PROVIDERS: "gpu" }, DEFAULTS)).toEqual({
      problems: [`INFERENCE_PROVIDERS must be a list of cpu, cuda, not "gpu".`],
    });
  });

  it("reports all problems at once, each by name", () => {
    const parsed = parseWorkerSettings(
      {
        WORKER_HOST: "0.0.0.0",
        WORKER_PORT: "65536",
        WORKER_THREADS: "0",
        WORKER_SESSIONS_PER_THREAD: "many",
        WORKER_KEY: "short",
        LOG_LEVEL: "loud",
      },
      DEFAULTS,
    );
    const problems = "problems" in parsed ? parsed.problems : [];
    for (const name of ["WORKER_ADVERTISE", "WORKER_PORT", "WORKER_THREADS", "LOG_LEVEL"]) {
      expect(problems.filter((problem) => problem.startsWith(name))).toHaveLength(1);
    }
    expect(problems.filter((problem) => problem.includes("in clear"))).toHaveLength(1);
    expect(problems).toHaveLength(7);
    expect(problems.join()).not.toContain("short");
  });

  it.each([{}, { WORKER_KEY: "" }, { WORKER_KEY: "  " }])(
    "refuses to do without a key: %j",
    (env) => {
      expect(parseWorkerSettings(env, DEFAULTS)).toEqual({
        problems: [expect.stringMatching(/^WORKER_KEY /)],
      });
    },
  );

  it("names a language model by its server and its name, or none", () => {
    const env = { WORKER_KEY, LLM_BASE_URL: "http://127.0.0.1:11434/v1", LLM_MODEL: "small" };
    expect(parseWorkerSettings({ ...env, LLM_LOCAL: "yes" }, DEFAULTS)).toMatchObject({
      settings: {
        model: {
          ...{ baseUrl: env.LLM_BASE_URL, model: "small", isLocal: true },
          ...{ requestTokens: 8_000, timeoutMs: 120_000, concurrency: 2 },
        },
      },
    });
    expect(parseWorkerSettings(env, DEFAULTS)).toMatchObject({
      settings: { model: { isLocal: false } },
    });
    for (const [missing, left] of [
      ["LLM_MODEL", { LLM_BASE_URL: env.LLM_BASE_URL }],
      ["LLM_BASE_URL", { LLM_MODEL: "small" }],
    ] as const) {
      expect(parseWorkerSettings({ WORKER_KEY, ...left }, DEFAULTS)).toEqual({
        problems: [expect.stringMatching(`^${missing} is not set`)],
      });
    }
  });

  it("checks the advertised address", () => {
    const parsed = parseWorkerSettings({ WORKER_KEY, WORKER_ADVERTISE: "http://w:1" }, DEFAULTS);
    expect(parsed).toHaveProperty("problems");
  });
});
