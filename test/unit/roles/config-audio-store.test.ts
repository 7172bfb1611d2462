import { describe, expect, it } from "vitest";
import { readConfig } from "../../../src/roles/config.ts";
import { WORKER_KEY } from "../../support/worker-key.ts";

const BASE = {
  DATABASE_URL: "postgres://localhost/voice",
  NATS_URL: "nats://localhost:4222",
  VOICE_BLOB_DIR: "/tmp/b",
  VOICE_KEY_DIR: "/tmp/k",
  WORKER_KEY,
};
const read = (env: Record<string, string>) => readConfig({ ...BASE, ...env }, "host").audioStore;

describe("settings of the audio's bucket", () => {
  it("are none without AUDIO_STORE, and bucket, prefix and ways of writing with it", () => {
    expect(read({})).toBeUndefined();
    expect(read({ AUDIO_STORE: "s3://voice-audio" })).toMatchObject({
      ...{ bucket: "voice-audio", prefix: "", endpoint: undefined, region: undefined },
      ...{ pathStyle: false, encryption: undefined, kmsKey: undefined },
    });
    const all = {
      AUDIO_STORE: "s3://voice-audio/one/two/",
      AUDIO_S3_ENDPOINT: "https://s3.internal:9000",
      AUDIO_S3_REGION: "eu-central-1",
      AUDIO_S3_PATH_STYLE: "on",
      AUDIO_S3_ENCRYPTION: "aws:kms",
      AUDIO_S3_KMS_KEY: "key-1",
    };
    expect(read(all)).toEqual({
      ...{ bucket: "voice-audio", prefix: "one/two/", endpoint: "https://s3.internal:9000" },
      ...{ region: "eu-central-1", pathStyle: true, encryption: "aws:kms", kmsKey: "key-1" },
    });
  });

  it("name where the audio is moved from, a folder or a bucket", () => {
    const from = (env: Record<string, string>) =>
      readConfig({ ...BASE, ...env }, "host").audioMoveFrom;
    expect(from({})).toBeUndefined();
    expect(from({ AUDIO_STORE: "s3://voice", AUDIO_MOVE_FROM: "/tmp/b" })).toEqual({
      folder: "/tmp/b",
    });
    const back = { AUDIO_MOVE_FROM: "s3://voice/one", AUDIO_S3_REGION: "eu-central-1" };
    expect(from(back)).toMatchObject({ bucket: "voice", prefix: "one/", region: "eu-central-1" });
    expect(read(back)).toBeUndefined();
  });

  it.each([
    [{ AUDIO_MOVE_FROM: "/tmp/b/" }, "AUDIO_MOVE_FROM names where the audio is kept now: /tmp/b"],
    [
      { AUDIO_STORE: "s3://voice", AUDIO_MOVE_FROM: "s3://voice" },
      "AUDIO_MOVE_FROM names where the audio is kept now: s3://voice",
    ],
    [{ AUDIO_MOVE_FROM: "s3://Voice_Audio" }, "AUDIO_MOVE_FROM must be s3://BUCKET"],
    [{ AUDIO_STORE: "/srv/audio" }, "AUDIO_STORE must be s3://BUCKET"],
    [{ AUDIO_STORE: "s3://Voice_Audio" }, "AUDIO_STORE must be s3://BUCKET"],
    [{ AUDIO_STORE: "s3://voice/a//b" }, "AUDIO_STORE must be s3://BUCKET"],
    [{ AUDIO_S3_REGION: "eu-central-1" }, "AUDIO_S3_REGION is for AUDIO_STORE, which is not set"],
    [
      { AUDIO_STORE: "s3://voice", AUDIO_S3_KMS_KEY: "key" },
      "AUDIO_S3_KMS_KEY needs AUDIO_S3_ENCRYPTION=aws:kms",
    ],
    [{ AUDIO_STORE: "s3://voice", AUDIO_S3_ENCRYPTION: "rot13" }, "AUDIO_S3_ENCRYPTION"],
    [
      { AUDIO_STORE: "s3://voice", AUDIO_S3_ENDPOINT: "http://s3.internal" },
      "all audio would go in clear",
    ],
  ])("are refused with what is wrong: %j", (env, message) => {
    expect(() => read(env)).toThrow(message);
  });
});
