import type { SettingsReader } from "../base/settings.ts";
import type { S3Settings } from "../conversations/recording/audio-store/s3-bucket.ts";

/** Of names that every S3 server takes; an address of a service is none. */
const ADDRESS = /^s3:\/\/([a-z0-9][a-z0-9.-]{1,61}[a-z0-9])(?:\/(.*))?$/;
const PREFIX = /^[\w!.*'()-]+(\/[\w!.*'()-]+)*$/;
const LONGEST_PREFIX = 200;
const NEED_A_STORE = [
  ...(["AUDIO_S3_ENDPOINT", "AUDIO_S3_REGION", "AUDIO_S3_PATH_STYLE"] as const),
  ...(["AUDIO_S3_ENCRYPTION", "AUDIO_S3_KMS_KEY"] as const),
];

const BUCKET = "s3://";

/** Where audio is kept, where it is received, and from where it is moved. */
export function readAudioStorage(reader: SettingsReader) {
  const blobFolder = reader.need("VOICE_BLOB_DIR");
  const address = reader.get("AUDIO_STORE");
  const former = reader.get("AUDIO_MOVE_FROM");
  const isBucketNamed = address !== undefined || former?.startsWith(BUCKET);
  for (const name of isBucketNamed ? [] : NEED_A_STORE) {
    if (reader.has(name)) reader.problems.push(`${name} is for AUDIO_STORE, which is not set.`);
  }
  const store = (name: "AUDIO_STORE" | "AUDIO_MOVE_FROM", named: string | undefined) =>
    named === undefined ? undefined : readBucket(reader, name, named);
  return {
    blobFolder,
    /** The bucket of the audio; undefined where it is kept in a folder. */
    audioStore: store("AUDIO_STORE", address),
    audioMoveFrom: readFormer({ reader, former, address, blobFolder }, store),
  };
}

/** The folder, or the bucket, from which the audio is moved; undefined where it is not. */
function readFormer(
  read: {
    reader: SettingsReader;
    former: string | undefined;
    address: string | undefined;
    blobFolder: string;
  },
  bucketOf: (name: "AUDIO_MOVE_FROM", address: string) => S3Settings | undefined,
): { folder: string } | S3Settings | undefined {
  const { reader, former, address, blobFolder } = read;
  if (former === undefined) return undefined;
  const current = address ?? blobFolder;
  if (former.replace(/\/+$/, "") === current.replace(/\/+$/, "")) {
    reader.problems.push(`AUDIO_MOVE_FROM names where the audio is kept now: ${current}.`);
  }
  return former.startsWith(BUCKET) ? bucketOf("AUDIO_MOVE_FROM", former) : { folder: former };
}

function readBucket(
  reader: SettingsReader,
  name: "AUDIO_STORE" | "AUDIO_MOVE_FROM",
  address: string,
): S3Settings | undefined {
  const [, bucket, rest = ""] = ADDRESS.exec(address) ?? [];
  const prefix = rest.replace(/\/$/, "");
  const isPrefix = prefix === "" || (PREFIX.test(prefix) && prefix.length <= LONGEST_PREFIX);
  if (bucket === undefined || !isPrefix) {
    reader.problems.push(
      `${name} must be s3://BUCKET or s3://BUCKET/PREFIX, of small letters, digits, dots and hyphens, not "${address}".`,
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
