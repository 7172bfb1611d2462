import type { GuestAccess } from "../access/policy.ts";
import { clearTextProblems, mailNeedsTls, type Way } from "../base/clear-text.ts";
import { databaseHosts } from "../base/database-address.ts";
import { readInnerTls, readNatsLogin } from "../base/inner-settings.ts";
import type { PortChoice } from "../base/listening.ts";
import { type Environment, SettingsReader } from "../base/settings.ts";
import type { S3Settings } from "../conversations/recording/audio-store/s3-bucket.ts";
import type { CeilingLimits } from "../postgres/ceilings.ts";
import { readAudioStorage } from "./audio-store-settings.ts";

/** The settings of a service process, read once from its environment. */
export interface Config {
  roles: ReadonlySet<Role>;
  nodeName: string;
  host: string;
  port: number;
  opsHost: string;
  opsPort: PortChoice;
  rpcHost: string;
  grpcPort: PortChoice;
  /** Paths of PEM files for the gRPC port; without them it speaks plain HTTP/2. */
  rpcTls: Tls | undefined;
  /** The public address of the service; the request's Host when absent. */
  publicUrl: string | undefined;
  /** With which Twilio signs the calls that it streams here; without it none is checked. */
  twilioToken: string | undefined;
  databaseUrl: string;
  databasePoolSize: number;
  /** Allows a database that may lose what it acknowledged. */
  allowUnsafeDatabase: boolean;
  natsUrl: string;
  natsLogin: { user: string; password: string | undefined; token: string | undefined };
  /** PEM files of this process for workers and NATS; without them these are spoken to in clear. */
  tls: Tls | undefined;
  /** Allows words and audio to cross a network in clear. */
  allowInsecure: boolean;
  /** The secret that workers require from their callers. */
  workerKey: string;
  blobFolder: string;
  /** The bucket of the audio; without it the audio is in `blobFolder`. */
  audioStore: S3Settings | undefined;
  /** Where the audio was kept that is moved; undefined where none is. */
  audioMoveFrom: { folder: string } | S3Settings | undefined;
  keyFolder: string;
  /** Key material as JSON instead of a folder. */
  keys: string | undefined;
  allowedOrigins: string[];
  /** Number of consecutive proxies in front of us whose X-Forwarded headers are trusted. */
  trustProxy: number;
  /** Allows webhooks to private addresses, and over plain HTTP. */
  webhookAllowPrivate: boolean;
  uploadBytes: number;
  /** Largest file that comes in parts. */
  fileBytes: number;
  /** `auto`, `bundled`, or the path of an FFmpeg. */
  ffmpeg: string;
  /** How guests get into sessions, where neither the session nor its workspace says so. */
  guestAccess: GuestAccess;
  /** Whether opening a mailed invitation makes an account. */
  invitedSignUp: boolean;
  /** The engine that reads where neither session nor workspace name one. */
  speechEngine: string | undefined;
  /** Most tokens that a language model reads and writes a day for one tenant. */
  modelTokens: number;
  /** How long a language model may look for the answer to a question, milliseconds. */
  modelAnswerMs: number;
  /** Most guests in a session at once. */
  guestsPerSession: number;
  /** Multiplies every rate limit; 0 disables them. */
  rateLimitFactor: number;
  leaseMs: number;
  passivateMs: number;
  /** How long missing audio of a stopped session is awaited, milliseconds. */
  patience: { silence: number; chunk: number };
  ceilings: CeilingLimits;
  /** A session whose device is silent for this time is stopped, seconds; 0 disables this. */
  autoStopSilence: number;
  /** Stored audio that is compared with its digests in a minute, bytes; 0 disables this. */
  audioScrubBytes: number;
  /** Time over which a stopping front closes its sockets, milliseconds. */
  drainMs: number;
  logLevel: string;
  /**
   * The mail server; without it messages are written to `mailFolder`, and without that none are
   * sent.
   */
  smtpUrl: string | undefined;
  /** Whether the mail server has to speak TLS. */
  smtpNeedsTls: boolean;
  mailFrom: string;
  mailFolder: string | undefined;
  /** The page that takes the token of a sign-in link; the service's own page when absent. */
  signInUrl: string | undefined;
  /** Identity providers, as a JSON list. */
  oauthProviders: string | undefined;
}

/** Paths of PEM files, and the authority whose certificates others must show. */
interface Tls {
  cert: string;
  key: string;
  ca: string | undefined;
}

type Role = "front" | "sessions";

function readPort(reader: SettingsReader, name: "OPS_PORT" | "GRPC_SESSIONS_PORT"): PortChoice {
  return { port: reader.get(name), isDefault: !reader.has(name) };
}

function readRpcTls(reader: SettingsReader): Config["rpcTls"] {
  const cert = reader.get("RPC_TLS_CERT");
  const key = reader.get("RPC_TLS_KEY");
  const ca = reader.get("RPC_TLS_CLIENT_CA");
  if (cert !== undefined && key !== undefined) return { cert, key, ca };
  if (cert !== undefined || key !== undefined || ca !== undefined) {
    reader.problems.push("TLS for gRPC needs both RPC_TLS_CERT and RPC_TLS_KEY.");
  }
  return undefined;
}

/** Throws one error that lists every problem. */
export function readConfig(env: Environment, hostname: string): Config {
  const reader = new SettingsReader(env);
  const roles = reader.get("ROLES");
  const config: Config = {
    roles: new Set(roles.length === 0 ? ["front", "sessions"] : roles),
    nodeName: reader.get("NODE_NAME") ?? hostname,
    host: reader.get("HOST"),
    port: reader.get("PORT"),
    opsHost: reader.get("OPS_HOST"),
    opsPort: readPort(reader, "OPS_PORT"),
    rpcHost: reader.get("RPC_HOST"),
    grpcPort: readPort(reader, "GRPC_SESSIONS_PORT"),
    rpcTls: readRpcTls(reader),
    publicUrl: reader.get("PUBLIC_URL")?.replace(/\/+$/, ""),
    twilioToken: reader.get("TWILIO_AUTH_TOKEN"),
    databaseUrl: reader.need("DATABASE_URL"),
    databasePoolSize: reader.get("DATABASE_POOL_SIZE"),
    allowUnsafeDatabase: reader.get("ALLOW_UNSAFE_DATABASE"),
    natsUrl: reader.need("NATS_URL"),
    natsLogin: readNatsLogin(
      reader,
      roles.includes("sessions") || roles.length === 0 ? "sessions" : "front",
    ),
    tls: readInnerTls(reader),
    allowInsecure: reader.get("ALLOW_INSECURE"),
    workerKey: reader.needWorkerKey(),
    ...readAudioStorage(reader),
    keyFolder: reader.has("VOICE_KEYS") ? "unused" : reader.need("VOICE_KEY_DIR"),
    keys: reader.get("VOICE_KEYS"),
    allowedOrigins: reader.get("ALLOWED_ORIGINS"),
    trustProxy: reader.get("TRUST_PROXY"),
    webhookAllowPrivate: reader.get("WEBHOOK_ALLOW_PRIVATE"),
    uploadBytes: reader.get("MAX_UPLOAD_BYTES"),
    fileBytes: reader.get("MAX_FILE_BYTES"),
    ffmpeg: reader.get("FFMPEG"),
    guestAccess: reader.get("GUEST_ACCESS"),
    invitedSignUp: reader.get("INVITED_SIGN_UP") === "invited",
    speechEngine: reader.get("SPEECH_ENGINE"),
    modelTokens: reader.get("LLM_DAILY_TOKENS"),
    modelAnswerMs: reader.get("LLM_QUESTION_SECONDS") * 1_000,
    guestsPerSession: reader.get("GUESTS_PER_SESSION"),
    rateLimitFactor: reader.get("RATE_LIMIT_FACTOR"),
    leaseMs: reader.get("LEASE_MS"),
    passivateMs: reader.get("PASSIVATE_MS"),
    patience: {
      silence: reader.get("LATE_DEVICE_SILENCE_MS"),
      chunk: reader.get("LATE_CHUNK_PATIENCE_MS"),
    },
    ceilings: readCeilings(reader),
    autoStopSilence: reader.get("AUTO_STOP_SILENCE"),
    audioScrubBytes: reader.get("AUDIO_SCRUB_MB") * 1_000_000,
    drainMs: reader.get("DRAIN_MS"),
    logLevel: reader.get("LOG_LEVEL"),
    ...readMail(reader),
    oauthProviders: reader.get("OAUTH_PROVIDERS"),
    signInUrl: reader.get("SIGN_IN_URL"),
  };
  const web: Way[] = config.roles.has("front") ? ["web"] : [];
  reader.problems.push(...clearTextProblems(reader, [...web, "grpc", "nats", "database", "audio"]));
  reader.finish();
  return config;
}

function readMail(reader: SettingsReader) {
  return {
    smtpUrl: reader.get("SMTP_URL"),
    smtpNeedsTls: mailNeedsTls(reader),
    mailFrom: reader.get("MAIL_FROM"),
    mailFolder: reader.get("VOICE_MAIL_DIR"),
  };
}

function readCeilings(reader: SettingsReader): CeilingLimits {
  return {
    workspaces_per_user: reader.get("MAX_WORKSPACES_PER_USER"),
    devices_per_user: reader.get("MAX_DEVICES_PER_USER"),
    devices_per_workspace: reader.get("MAX_DEVICES_PER_WORKSPACE"),
    keys_per_workspace: reader.get("MAX_KEYS_PER_WORKSPACE"),
    webhooks_per_workspace: reader.get("MAX_WEBHOOKS_PER_WORKSPACE"),
    recordings_per_user: reader.get("MAX_RECORDINGS_PER_USER"),
    recordings_per_workspace: reader.get("MAX_RECORDINGS_PER_WORKSPACE"),
    stored_bytes_per_workspace: reader.get("MAX_STORED_BYTES_PER_WORKSPACE"),
  };
}

/** Settings of `node src/setup.ts`. */
export interface SetupConfig {
  /** Address for the role that owns the tables. */
  ownerUrl: string;
  /** The serving role, when it is a different one. */
  serviceRole: string | undefined;
  /**
   * `given` is true when a person set the password; otherwise it was generated for a first start.
   */
  admin: { email: string; password: string; given: boolean };
}

const LONGEST_PASSWORD_BYTES = 1_024;

/** Reads and checks the environment; throws one error that names every problem. */
export function readSetupConfig(env: Environment): SetupConfig {
  const reader = new SettingsReader(env);
  const url = reader.get("DATABASE_URL");
  const ownerUrl = reader.get("DATABASE_OWNER_URL") ?? url ?? "";
  if (!reader.has("DATABASE_OWNER_URL") && !reader.has("DATABASE_URL")) {
    reader.problems.push("DATABASE_OWNER_URL (or DATABASE_URL) is not set.");
  }
  const admin = readAdmin(reader);
  const serviceRole = reader.get("SERVICE_ROLE") ?? otherRole(ownerUrl, url);
  reader.problems.push(...clearTextProblems(reader, ["database"]));
  reader.finish();
  return { ownerUrl, serviceRole, admin };
}

function readAdmin(reader: SettingsReader): SetupConfig["admin"] {
  const email = reader.need("ADMIN_EMAIL");
  if (email !== "" && !/^[^\s@]+@[^\s@]+$/.test(email)) {
    reader.problems.push(`ADMIN_EMAIL must be an e-mail address, not "${email}".`);
  }
  const given = reader.has("ADMIN_PASSWORD");
  const first = reader.get("ADMIN_FIRST_PASSWORD");
  const password = given || first === undefined ? reader.need("ADMIN_PASSWORD") : first;
  if (Buffer.byteLength(password) > LONGEST_PASSWORD_BYTES) {
    reader.problems.push(`ADMIN_PASSWORD must have at most ${LONGEST_PASSWORD_BYTES} bytes.`);
  }
  return { email, password, given };
}

function otherRole(ownerUrl: string, serviceUrl: string | undefined): string | undefined {
  const service = roleOf(serviceUrl ?? "");
  return service === roleOf(ownerUrl) ? undefined : service;
}

function roleOf(text: string): string | undefined {
  const role = URL.parse(databaseHosts(text)[0] ?? "")?.username ?? "";
  return role === "" ? undefined : decodeURIComponent(role);
}
