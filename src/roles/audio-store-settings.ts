import type { SettingsReader } from "../base/settings.ts";
import type { S3Settings } from "../features/recording/audio-store/s3-bucket.ts";

/** Of names that every S3 server takes; an address of a service is none. */
const ADDRESS = /^s3:\/\/([a-z0-9][a-z0-9.-]{1,61}[a-z0-9])(?:\/(.*))?$/;
const PREFIX = /^[\w!.*'()-]+(\/[\w!.*'()-]+)*$/;
const LONGEST_PREFIX = 200;
const NEED_A_STORE = [
  ...(["AUDIO_S3_ENDPOINT", "AUDIO_S3_REGION", "AUDIO_S3_PATH_STYLE"] as const),
  ...(["AUDIO_S3_ENCRYPTION", "AUDIO_S3_KMS_KEY"] as const),
];

/** Where audio is kept, and where it is received. */
export function readAudioStorage(reader: SettingsReader) {
  return { blobFolder: reader.need("VOICE_BLOB_DIR"), audioStore: readAudioStore(reader) };
}

/** The bucket of the audio; undefined where it is kept in a folder. */
function readAudioStore(reader: SettingsReader): S3Settings | undefined {
  const address = reader.get("AUDIO_STORE");
  if (address === undefined) {
    for (const name of NEED_A_STORE) {
      if (reader.has(name)) reader.problems.push(`${name} is for AUDIO_STORE, which is not set.`);
    }
    return undefined;
  }
  const [, bucket, rest = ""] = ADDRESS.exec(address) ?? [];
  const prefix = rest.replace(/\/$/, "");
  const isPrefix = prefix === "" || (PREFIX.test(prefix) && prefix.length <= LONGEST_PREFIX);
  if (bucket === undefined || !isPrefix) {
    reader.problems.push(
      `AUDIO_STORE must be s3://BUCKET or s3://BUCKET/PREFIX, of small letters, digits, dots and hyphens, not "${address}".`,
    );
    return undefined;
  }
  const encryption = reader.get("AUDIO_S3_ENCRYPTION");
  const kmsKey = reader.get("AUDIO_S3_KMS_KEY");
  if (kmsKey !== undefined && encryption !== "aws:kms") {
    reader.problems.push("AUDIO_S3_KMS_KEY needs AUDIO_S3_ENCRYPTION=aws:kms.");
  }
  return {
    bucket,
    prefix: prefix === "" ? "" : `${prefix}/`,
    endpoint: reader.get("AUDIO_S3_ENDPOINT"),
    region: reader.get("AUDIO_S3_REGION"),
    pathStyle: reader.get("AUDIO_S3_PATH_STYLE"),
    encryption: encryption === "AES256" || encryption === "aws:kms" ? encryption : undefined,
    kmsKey,
  };
}
