import { describe, expect, it } from "vitest";
import { parseOptions } from "../../../deploy/supervisor/options.ts";

const PROJECT = "/home/someone/voice";

describe("options of npm run up", () => {
  it("options: without any, the port is 8080 and the data folder is in the project", () => {
    expect(parseOptions([], {}, PROJECT)).toEqual({
      port: 8080,
      data: "/home/someone/voice/data",
      demo: true,
      speed: 1,
      fresh: false,
      cluster: false,
      watch: false,
      insecure: false,
      readyFile: undefined,
      ports: {},
    });
  });

  it("options: an option wins over the environment", () => {
    const env = { VOICE_PORT: "9000", VOICE_SPEED: "2", VOICE_NO_DEMO: "1" };
    const options = parseOptions(["--port", "0"], env, PROJECT);
    expect(options).toMatchObject({ port: 0, speed: 2, demo: false });
  });

  it("options: folders count from where npm was called", () => {
    const env = { INIT_CWD: "/home/someone" };
    const args = ["--data", "elsewhere", "--ready-file", "/tmp/ready.json"];
    expect(parseOptions(args, env, PROJECT)).toMatchObject({
      data: "/home/someone/elsewhere",
      readyFile: "/tmp/ready.json",
    });
  });

  it("options: what would go over a network in clear is told all at once, unless one insists", () => {
    const env = { HOST: "0.0.0.0", WORKER_HOST: "10.0.0.1", NATS_URL: "nats://b.internal" };
    expect(() => parseOptions([], env, PROJECT)).toThrow(
      /in clear:\n.*HOST is 0\.0\.0\.0.*\n.*WORKER_HOST is 10\.0\.0\.1.*\n.*b\.internal/,
    );
    expect(parseOptions(["--insecure"], env, PROJECT).insecure).toBe(true);
    expect(parseOptions([], { ...env, ALLOW_INSECURE: "yes" }, PROJECT).insecure).toBe(true);
  });

  it("options: 0, no and false switch off", () => {
    for (const text of ["0", "no", "false", ""]) {
      expect(parseOptions([], { VOICE_NO_DEMO: text }, PROJECT).demo).toBe(true);
    }
  });

  it.each([
    [["--prot", "1"], "--prot"],
    [["--port", "eighty"], '--port is "eighty"'],
    [["--port", "65536"], "--port"],
    [["--speed", "0"], '--speed is "0"'],
    [["8080"], "8080"],
  ])("options: %j is refused with its name and advice", (args, named) => {
    expect(() => parseOptions(args, {}, PROJECT)).toThrow(
      expect.objectContaining({
        message: expect.stringContaining(named),
        advice: expect.stringMatching(/number|--help/),
      }),
    );
  });
});
