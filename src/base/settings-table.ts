/**
 * The program that reads a setting. `main` is every process of src/main.ts, `front` and `sessions`
 * are those of them that have this role. `npm run up` gives a process only what it reads.
 */
export type SettingReader =
  | "main"
  | "front"
  | "sessions"
  | "setup"
  | "worker"
  | "up"
  | "cli"
  | "bootstrap";

interface Common {
  readonly group: SettingGroup;
  readonly readers: readonly SettingReader[];
  /** One sentence, or the beginning of one, that fits after a colon. */
  readonly what: string;
  /** The default, where it is not a fixed value. */
  readonly usually?: string;
  /** True for a password or a key: it is never shown, not even in an error message. */
  readonly secret?: true;
  /** The option of `npm run up` that overrides the setting. */
  readonly option?: string;
}

interface TextSetting extends Common {
  readonly type: "text" | "path" | "json";
  readonly default?: string;
  readonly shortest?: number;
  readonly longest?: number;
}

interface ChoiceSetting extends Common {
  readonly type: "choice";
  readonly choices: readonly string[];
  readonly default: string;
}

interface ListSetting extends Common {
  readonly type: "list";
  /** The allowed items, if they are restricted. */
  readonly choices?: readonly string[];
}

interface AddressSetting extends Common {
  readonly type: "address";
  readonly protocols: readonly string[];
  readonly default?: string;
}

interface NumberSetting extends Common {
  readonly type: "integer" | "number";
  readonly default?: number;
  readonly low: number;
  readonly high: number;
  readonly unit?: string;
}

/** A switch: 1, true, yes, on, or 0, false, no, off; off by default. */
interface SwitchSetting extends Common {
  readonly type: "switch";
}

export type Setting =
  | TextSetting
  | ChoiceSetting
  | ListSetting
  | AddressSetting
  | NumberSetting
  | SwitchSetting;

/** Groups of settings in the order in which they are printed. */
export const GROUPS = {
  up: "npm run up",
  admin: "The first administrator",
  network: "Where it listens and how it is reached",
  servers: "Servers and folders that machines share",
  workers: "Workers",
  people: "Mail and sign-in",
  limits: "Limits and times",
  cli: "The voice command",
  machine: "This machine",
} as const;

export type SettingGroup = keyof typeof GROUPS;

const WEB = ["https:", "http:"] as const;
const POSTGRES = ["postgres:", "postgresql:"] as const;
const LEVELS = ["fatal", "error", "warn", "info", "debug", "trace", "silent"] as const;
const PORT = { type: "integer", low: 0, high: 65_535 } as const;

/**
 * Every environment variable that people may set. Readers take type, default and bounds from here;
 * help texts, `.env.example` and the settings page are generated from it (`npm run settings`).
 */
export const SETTINGS = {
  VOICE_PORT: {
    ...PORT,
    group: "up",
    readers: ["up"],
    default: 8080,
    option: "--port N",
    what: "web and API port; 0 picks a free one",
  },
  VOICE_DATA: {
    group: "up",
    type: "path",
    readers: ["up", "cli"],
    usually: "./data",
    option: "--data DIR",
    what: "everything that persists",
  },
  VOICE_NO_DEMO: {
    group: "up",
    type: "switch",
    readers: ["up"],
    option: "--no-demo",
    what: "do not play the demo conversation",
  },
  VOICE_SPEED: {
    group: "up",
    type: "number",
    low: 0.1,
    high: 100,
    readers: ["up"],
    default: 1,
    option: "--speed N",
    what: "play the demo N times as fast as it was spoken",
  },
  VOICE_FRESH: {
    group: "up",
    type: "switch",
    readers: ["up"],
    option: "--fresh",
    what: "delete what the data folder holds and start anew",
  },
  VOICE_READY_FILE: {
    group: "up",
    type: "path",
    readers: ["up"],
    option: "--ready-file FILE",
    what: "write addresses, login and process ids here as JSON when ready and after every restart of a part",
  },
  VOICE_CLUSTER: {
    group: "up",
    type: "switch",
    readers: ["up"],
    option: "--cluster",
    what: "two fronts, two session hosts, two workers and three nats-servers instead of one of each: any of them may be killed. The first front is at --port; --ready-file has all under fronts, hosts and workers",
  },
  ALLOW_INSECURE: {
    group: "up",
    type: "switch",
    readers: ["up", "main", "setup", "worker"],
    option: "--insecure",
    what: "start although passwords, words or audio would cross a network in clear; for a network that is yours alone",
  },
  ADMIN_EMAIL: {
    group: "admin",
    type: "text",
    readers: ["setup", "up"],
    usually: "admin@voice.local with npm run up",
    what: "the first administrator's login",
  },
  ADMIN_PASSWORD: {
    group: "admin",
    type: "text",
    secret: true,
    shortest: 8,
    readers: ["setup", "up"],
    usually: "made at the first start",
    what: "its password. Another one later is given to the account, once: what its user, or another machine, sets after that stays",
  },
  ADMIN_FIRST_PASSWORD: {
    group: "admin",
    type: "text",
    secret: true,
    shortest: 8,
    readers: ["setup"],
    what: "instead of ADMIN_PASSWORD: only ever makes the first administrator, and changes no account",
  },
  HOST: {
    group: "network",
    type: "text",
    readers: ["front", "up"],
    default: "127.0.0.1",
    what: "the address on which the web port listens; 0.0.0.0 for all. With other machines it speaks through a proxy with TLS (PUBLIC_URL, TRUST_PROXY)",
  },
  OPS_HOST: {
    group: "network",
    type: "text",
    readers: ["main", "worker"],
    default: "127.0.0.1",
    what: "the address on which metrics and health listen, which ask for no password: never one that strangers reach",
  },
  RPC_HOST: {
    group: "network",
    type: "text",
    readers: ["main", "up"],
    default: "127.0.0.1",
    what: "the address on which gRPC for other services listens; with other machines it speaks TLS (RPC_TLS_CERT)",
  },
  PORT: {
    ...PORT,
    group: "network",
    readers: ["front"],
    default: 8080,
    what: "REST and WebSockets of src/main.ts; npm run up has VOICE_PORT for it",
  },
  OPS_PORT: {
    ...PORT,
    group: "network",
    readers: ["main", "up"],
    default: 9464,
    what: "metrics and health of a process; any free port when the default is taken. npm run up takes a free one at its first start and keeps it, unless this is set",
  },
  GRPC_SESSIONS_PORT: {
    ...PORT,
    group: "network",
    readers: ["main", "up"],
    default: 50_051,
    what: "gRPC for other services; chosen like OPS_PORT",
  },
  RPC_TLS_CERT: {
    group: "network",
    type: "path",
    readers: ["main", "up"],
    what: "PEM file: with RPC_TLS_KEY the gRPC port speaks TLS",
  },
  RPC_TLS_KEY: {
    group: "network",
    type: "path",
    readers: ["main"],
    what: "PEM file with the key of RPC_TLS_CERT",
  },
  RPC_TLS_CLIENT_CA: {
    group: "network",
    type: "path",
    readers: ["main"],
    what: "PEM file: only clients with a certificate of this authority get in over gRPC",
  },
  PUBLIC_URL: {
    group: "network",
    type: "address",
    protocols: WEB,
    readers: ["front", "up"],
    usually: "the request's Host",
    what: "where people and devices reach the service",
  },
  TWILIO_AUTH_TOKEN: {
    group: "network",
    type: "text",
    secret: true,
    longest: 200,
    readers: ["front"],
    what: "the auth token of the Twilio account whose calls stream in: a connection without its signature is refused. PUBLIC_URL must be the address that the calls are told",
  },
  ALLOWED_ORIGINS: {
    group: "network",
    type: "list",
    readers: ["front"],
    what: "origins of web pages that may call it, comma-separated",
  },
  TRUST_PROXY: {
    group: "network",
    type: "integer",
    low: 0,
    high: 10,
    unit: "hops",
    default: 0,
    readers: ["front", "up"],
    what: "how many proxies in a row stand before the service (1 behind one nginx): so many entries of X-Forwarded-For from the right are believed, and the scheme and host that they tell. With 0 behind a proxy all callers share the budgets and places of its one address. nginx needs proxy_http_version 1.1",
  },
  DATABASE_URL: {
    group: "servers",
    type: "address",
    protocols: POSTGRES,
    secret: true,
    readers: ["main", "setup", "up"],
    usually: "the embedded PostgreSQL with npm run up",
    what: "an existing PostgreSQL, as the role that serves. Several hosts, separated by commas, are servers of which one takes changes, such as a primary and its standby",
  },
  DATABASE_OWNER_URL: {
    group: "servers",
    type: "address",
    protocols: POSTGRES,
    secret: true,
    readers: ["setup", "up"],
    usually: "DATABASE_URL",
    what: "the same database, as the role that owns it and migrates",
  },
  SERVICE_ROLE: {
    group: "servers",
    type: "text",
    readers: ["setup"],
    usually: "the role of DATABASE_URL",
    what: "the role that gets the rights to serve",
  },
  ALLOW_UNSAFE_DATABASE: {
    group: "servers",
    type: "switch",
    readers: ["main"],
    what: "start although PostgreSQL has fsync, full_page_writes or synchronous_commit off: acknowledged audio may be lost with the power, unless its storage prevents that by other means",
  },
  DATABASE_POOL_SIZE: {
    group: "servers",
    type: "integer",
    low: 2,
    high: 200,
    unit: "connections",
    default: 16,
    readers: ["main"],
    what: "connections of one process to PostgreSQL",
  },
  NATS_URL: {
    group: "servers",
    type: "text",
    readers: ["main", "worker", "up"],
    usually: "our own nats-server with npm run up",
    what: "an existing nats-server; several addresses, comma-separated, for a cluster",
  },
  NATS_TOKEN: {
    group: "servers",
    type: "text",
    secret: true,
    readers: ["main", "worker", "up"],
    what: "its token, when it has one for all: whoever has it reads and directs everything, so prefer users",
  },
  NATS_USER: {
    group: "servers",
    type: "text",
    readers: ["main", "worker", "up"],
    usually: "front, sessions or worker, by the role",
    what: "the user of a process at NATS, when it has a user for each role, as deploy/nats/nats.conf has",
  },
  NATS_PASSWORD: {
    group: "servers",
    type: "text",
    secret: true,
    readers: ["main", "worker", "up"],
    what: "the password of NATS_USER; with npm run up that of the main process",
  },
  NATS_WORKER_PASSWORD: {
    group: "servers",
    type: "text",
    secret: true,
    readers: ["up"],
    what: "the password of the user worker, which npm run up gives to the workers of this machine",
  },
  TLS_CA: {
    group: "servers",
    type: "path",
    readers: ["main", "worker", "up"],
    usually: "an authority of its own with npm run up -- --cluster",
    what: "PEM file of the authority that signed the certificates of all our processes and of NATS: with TLS_CERT they speak TLS to one another and to NATS; npm run certificates makes all of them",
  },
  TLS_CERT: {
    group: "servers",
    type: "path",
    readers: ["main", "worker", "up"],
    what: "PEM file with the certificate of this process, which says what it is: main or worker. It is read again when it changes, as RPC_TLS_CERT is",
  },
  TLS_KEY: {
    group: "servers",
    type: "path",
    readers: ["main", "worker", "up"],
    usually: "in TLS_CERT",
    what: "PEM file with the key of TLS_CERT",
  },
  VOICE_BLOB_DIR: {
    group: "servers",
    type: "path",
    readers: ["main"],
    usually: "DATA/blobs with npm run up",
    what: "the audio files: on several machines one folder that all of them mount; a process whose folder is another than its database's does not start. With AUDIO_STORE a folder of each machine, for what is being received",
  },
  AUDIO_STORE: {
    group: "servers",
    type: "text",
    readers: ["main"],
    usually: "the folder VOICE_BLOB_DIR",
    what: "where the audio is kept: s3://BUCKET or s3://BUCKET/PREFIX, of a server that keeps conditional writes; machines need no common folder then. Credentials are those of the AWS SDK: AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, a profile, or the machine's role",
  },
  AUDIO_MOVE_FROM: {
    group: "servers",
    type: "text",
    longest: 4096,
    readers: ["main"],
    what: "where the audio was kept, a folder or s3://BUCKET/PREFIX, while voice admin audio move brings it to where it is kept now: until then it is read there as well",
  },
  AUDIO_S3_ENDPOINT: {
    group: "servers",
    type: "address",
    protocols: WEB,
    readers: ["main"],
    usually: "Amazon's of the region",
    what: "the address of the S3 server of AUDIO_STORE",
  },
  AUDIO_S3_REGION: {
    group: "servers",
    type: "text",
    readers: ["main"],
    usually: "as the AWS SDK finds it (AWS_REGION, a profile); us-east-1 with AUDIO_S3_ENDPOINT",
    what: "the region of the bucket of AUDIO_STORE",
  },
  AUDIO_S3_PATH_STYLE: {
    group: "servers",
    type: "switch",
    readers: ["main"],
    what: "the bucket is named in the path of the address, not in its host, as most servers of one's own want it",
  },
  AUDIO_S3_ENCRYPTION: {
    group: "servers",
    type: "choice",
    choices: ["bucket", "AES256", "aws:kms"],
    default: "bucket",
    readers: ["main"],
    what: "with which keys the S3 server encrypts the audio: as the bucket says, its own (AES256), or those of a key service (aws:kms)",
  },
  AUDIO_S3_KMS_KEY: {
    group: "servers",
    type: "text",
    readers: ["main"],
    usually: "the key of the account",
    what: "the id of the key, with AUDIO_S3_ENCRYPTION=aws:kms",
  },
  VOICE_KEY_DIR: {
    group: "servers",
    type: "path",
    readers: ["main", "cli"],
    usually: "DATA/keys with npm run up",
    what: "signing keys, made when absent: on several machines the same; a process whose keys are others than its database's does not start",
  },
  VOICE_KEYS: {
    group: "servers",
    type: "json",
    secret: true,
    readers: ["main"],
    what: 'instead of VOICE_KEY_DIR: {"signing": [private JWKs, oldest first], "pairing_secret": …, "cursor_secret": …}',
  },
  WORKER_KEY: {
    group: "workers",
    type: "text",
    secret: true,
    shortest: 16,
    readers: ["main", "worker", "up"],
    usually: "made at the first start with npm run up",
    what: "the secret between the service and its workers, the same for all: calls carry tokens of two minutes made with it, never itself",
  },
  WORKER_ID: {
    group: "workers",
    type: "text",
    longest: 256,
    readers: ["worker", "up"],
    usually: "made of the machine's name and a number",
    what: "the name of a worker, another for each",
  },
  WORKER_HOST: {
    group: "workers",
    type: "text",
    default: "127.0.0.1",
    readers: ["worker", "up"],
    what: "the address that a worker's gRPC listens on",
  },
  WORKER_PORT: {
    ...PORT,
    group: "workers",
    default: 0,
    readers: ["worker", "up"],
    what: "a worker's gRPC port; 0 picks a free one, and the worker tells it to the others",
  },
  WORKER_ADVERTISE: {
    group: "workers",
    type: "text",
    usually: "where it listens",
    readers: ["worker"],
    what: "host:port at which others reach a worker; needed when WORKER_HOST is any address",
  },
  WORKER_OPS_PORT: {
    ...PORT,
    group: "workers",
    readers: ["worker"],
    what: "metrics and health of a worker; 0 picks a free one",
  },
  WORKER_INFERENCE_THREADS: {
    group: "workers",
    type: "integer",
    low: 1,
    high: 64,
    unit: "threads",
    usually: "one per core, at most four",
    readers: ["worker"],
    what: "threads that run the networks for words and voices, some 220 MB each",
  },
  INFERENCE_PROVIDERS: {
    group: "workers",
    type: "list",
    choices: ["cpu", "cuda"],
    usually: "cpu",
    readers: ["worker"],
    what: "by what the networks for words and voices are run, in the order of preference. cuda needs an NVIDIA card, CUDA 12 and the files of onnxruntime-node for it (ONNXRUNTIME_NODE_INSTALL=cuda12); where they are missing a worker says so and goes on with cpu if that is named too, and does not start otherwise",
  },
  INFERENCE_THREADS_WORDS: {
    group: "workers",
    type: "integer",
    low: 1,
    high: 64,
    unit: "threads",
    default: 1,
    readers: ["worker"],
    what: "threads of one run of the recogniser's networks, in each of WORKER_INFERENCE_THREADS",
  },
  INFERENCE_THREADS_VOICES: {
    group: "workers",
    type: "integer",
    low: 1,
    high: 64,
    unit: "threads",
    default: 1,
    readers: ["worker"],
    what: "threads of one run of the networks for voices, in each of WORKER_INFERENCE_THREADS",
  },
  WORKER_THREADS: {
    group: "workers",
    type: "integer",
    low: 1,
    high: 256,
    unit: "threads",
    usually: "one per core",
    readers: ["worker"],
    what: "threads that recognise speech; half as many more work on texts",
  },
  WORKER_SESSIONS_PER_THREAD: {
    group: "workers",
    type: "integer",
    low: 1,
    high: 64,
    unit: "sessions",
    default: 4,
    readers: ["worker"],
    what: "sessions that one thread hears at a time; one to which no audio comes takes none",
  },
  SPEECH_ENGINE: {
    group: "workers",
    type: "text",
    longest: 64,
    usually: "the first local one that knows the language",
    readers: ["sessions"],
    what: "the engine that reads sessions where neither they nor their workspace name one, and whose language it knows",
  },
  SPEECH_ENGINES_FILE: {
    group: "workers",
    type: "path",
    usually: "moonshine-tiny-en alone",
    readers: ["worker"],
    what: "a JSON file that describes the speech engines of this worker, see deploy/engines.md",
  },
  LLM_BASE_URL: {
    group: "workers",
    type: "address",
    protocols: WEB,
    readers: ["worker"],
    usually: "none: notes and answers are made by rule",
    what: "the OpenAI-compatible server of a language model that words notes and answers questions, such as http://127.0.0.1:11434/v1; see deploy/language-models.md. It may be a private address",
  },
  LLM_MODEL: {
    group: "workers",
    type: "text",
    longest: 200,
    readers: ["worker"],
    what: "the name that this server has for the model",
  },
  LLM_API_KEY: {
    group: "workers",
    type: "text",
    secret: true,
    readers: ["worker"],
    what: "its key, if it asks for one",
  },
  LLM_LOCAL: {
    group: "workers",
    type: "switch",
    readers: ["worker"],
    what: "the server belongs to this installation, so that no text leaves it; otherwise it gets text only of workspaces whose owner has set remote_text",
  },
  LLM_REQUEST_TOKENS: {
    group: "workers",
    type: "integer",
    low: 2_000,
    high: 1_000_000,
    unit: "tokens",
    default: 8_000,
    readers: ["worker"],
    what: "the most that one request has, with its answer: no more than the server gives a request. Longer sessions are worked on in parts of this size",
  },
  LLM_DAILY_TOKENS: {
    group: "workers",
    type: "integer",
    low: 0,
    high: 1_000_000_000_000,
    unit: "tokens",
    default: 2_000_000,
    readers: ["main"],
    what: "the most that the model reads and writes a day (UTC) for the workspaces of one owner; what would be more is made by rule",
  },
  LLM_QUESTION_SECONDS: {
    group: "workers",
    type: "integer",
    low: 1,
    high: 600,
    unit: "seconds",
    default: 20,
    readers: ["main"],
    what: "how long the model may look for the answer to a question about a workspace, with all of its calls of tools; then the answer by rule is given",
  },
  LLM_TIMEOUT_SECONDS: {
    group: "workers",
    type: "integer",
    low: 1,
    high: 3_600,
    unit: "seconds",
    default: 120,
    readers: ["worker"],
    what: "the longest wait for one answer, with all tries",
  },
  LLM_CONCURRENCY: {
    group: "workers",
    type: "integer",
    low: 1,
    high: 256,
    unit: "requests",
    default: 2,
    readers: ["worker"],
    what: "how many requests of one worker are under way at once, for owners of workspaces in turn",
  },
  VOICE_MODEL_MANIFEST: {
    group: "workers",
    type: "text",
    usually: "the catalogue that ships with the service",
    readers: ["cli"],
    what: "the file or address that tells `voice models` which models there are",
  },
  VOICE_MODELS_MIRROR: {
    group: "workers",
    type: "text",
    usually: "none: the publisher's address",
    readers: ["cli"],
    what: "the folder or http(s) address from which `voice models pull` takes files, as ID/FILE",
  },
  VOICE_MODEL_DIR: {
    group: "workers",
    type: "path",
    usually: "a cache folder of the user",
    readers: ["cli"],
    what: "where `voice models` puts models",
  },
  SMTP_URL: {
    group: "people",
    type: "address",
    protocols: ["smtp:", "smtps:"],
    secret: true,
    readers: ["front"],
    usually: "mails are files in VOICE_MAIL_DIR",
    what: "the mail server for sign-in links. With smtp:// a server on another machine has to offer STARTTLS, unless ALLOW_INSECURE is on",
  },
  MAIL_FROM: {
    group: "people",
    type: "text",
    default: "Voice <no-reply@localhost>",
    readers: ["front"],
    what: "the sender of mails",
  },
  VOICE_MAIL_DIR: {
    group: "people",
    type: "path",
    usually: "DATA/mail with npm run up",
    readers: ["front"],
    what: "where mails are written to without SMTP_URL",
  },
  SIGN_IN_URL: {
    group: "people",
    type: "address",
    protocols: WEB,
    usually: "the service's own page",
    readers: ["front"],
    what: "the page that sign-in links lead to",
  },
  INVITED_SIGN_UP: {
    group: "people",
    type: "choice",
    choices: ["off", "invited"],
    default: "off",
    readers: ["front"],
    what: "invited: opening the mailed link of a valid invitation makes an account (participant) for exactly that address; off: administrators make all accounts",
  },
  OAUTH_PROVIDERS: {
    group: "people",
    type: "json",
    secret: true,
    readers: ["front"],
    what: 'identity providers: [{"id":"acme","issuer":"https://…","client_id":"…","client_secret":"…"}]; presets google, microsoft, github; administrators sign in there only when the account was linked before',
  },
  GUEST_ACCESS: {
    group: "people",
    type: "choice",
    choices: ["open", "invitation", "closed"],
    default: "open",
    readers: ["front"],
    what: "how guests get into sessions, where neither the session nor its workspace says so: open (by the session's id or a guest code), invitation (by a guest code only) or closed; kept in the database, the process that started last decides",
  },
  GUESTS_PER_SESSION: {
    group: "limits",
    type: "integer",
    low: 1,
    high: 100_000,
    default: 200,
    readers: ["front"],
    what: "how many guests may be in a session at once",
  },
  WEBHOOK_ALLOW_PRIVATE: {
    group: "limits",
    type: "switch",
    readers: ["main"],
    what: "webhooks may also go to private addresses, and over plain http",
  },
  MAX_UPLOAD_BYTES: {
    group: "limits",
    type: "integer",
    low: 1_024,
    high: 1_073_741_824,
    unit: "bytes",
    default: 67_108_864,
    readers: ["front"],
    what: "the largest upload of audio",
  },
  MAX_FILE_BYTES: {
    group: "limits",
    type: "integer",
    low: 1_024,
    high: 1_099_511_627_776,
    unit: "bytes",
    default: 4_294_967_296,
    readers: ["front"],
    what: "the largest file that comes in parts, by the resumable route",
  },
  FFMPEG: {
    group: "limits",
    type: "text",
    longest: 4_096,
    default: "auto",
    readers: ["front"],
    what: "what decodes files of formats that the service does not read itself: `auto` is `ffmpeg` in PATH, where it is there, else the bundled one; `bundled` that one always; or the path of an FFmpeg",
  },
  RATE_LIMIT_FACTOR: {
    group: "limits",
    type: "number",
    low: 0,
    high: 1_000_000,
    default: 1,
    readers: ["main"],
    what: "multiplies every rate limit; 0 switches them off, and the shares of one address or caller. Each front counts for itself, but for guesses at sign-in: several fronts together let several times as much through",
  },
  MAX_WORKSPACES_PER_USER: {
    group: "limits",
    type: "integer",
    low: 0,
    high: 1_000_000,
    default: 200,
    readers: ["front"],
    what: "workspaces that one user may have made; 0: any number",
  },
  MAX_DEVICES_PER_USER: {
    group: "limits",
    type: "integer",
    low: 0,
    high: 1_000_000,
    default: 200,
    readers: ["front"],
    what: "paired devices that one user may have; 0: any number",
  },
  MAX_DEVICES_PER_WORKSPACE: {
    group: "limits",
    type: "integer",
    low: 0,
    high: 1_000_000,
    default: 1_000,
    readers: ["front"],
    what: "paired devices that one workspace may have; 0: any number",
  },
  MAX_KEYS_PER_WORKSPACE: {
    group: "limits",
    type: "integer",
    low: 0,
    high: 1_000_000,
    default: 100,
    readers: ["front"],
    what: "service keys that one workspace may have; 0: any number",
  },
  MAX_WEBHOOKS_PER_WORKSPACE: {
    group: "limits",
    type: "integer",
    low: 0,
    high: 1_000_000,
    default: 20,
    readers: ["front"],
    what: "webhooks that one workspace may have; 0: any number",
  },
  MAX_RECORDINGS_PER_USER: {
    group: "limits",
    type: "integer",
    low: 0,
    high: 1_000_000,
    default: 200,
    readers: ["front"],
    what: "sessions of one user that may record at once; 0: any number",
  },
  MAX_RECORDINGS_PER_WORKSPACE: {
    group: "limits",
    type: "integer",
    low: 0,
    high: 1_000_000,
    default: 1_000,
    readers: ["front"],
    what: "sessions of one workspace that may record at once; 0: any number",
  },
  MAX_STORED_BYTES_PER_WORKSPACE: {
    group: "limits",
    type: "integer",
    low: 0,
    high: 1_000_000_000_000_000,
    unit: "bytes",
    default: 1_099_511_627_776,
    readers: ["front"],
    what: "audio that one workspace may have stored when another session begins; 0: any amount",
  },
  AUDIO_SCRUB_MB: {
    group: "limits",
    type: "integer",
    low: 0,
    high: 100_000,
    unit: "MB a minute",
    default: 60,
    readers: ["sessions"],
    what: "how much stored audio one host compares with its digests, again and again, once a day at most; 0: none",
  },
  AUTO_STOP_SILENCE: {
    group: "limits",
    type: "integer",
    low: 0,
    high: 604_800,
    unit: "seconds",
    default: 900,
    readers: ["sessions"],
    what: "how long a device may be silent before its session is stopped, and a session without one without audio or an unfinished file; 0 for ever",
  },
  LEASE_MS: {
    group: "limits",
    type: "integer",
    low: 300,
    high: 60_000,
    unit: "milliseconds",
    default: 1_500,
    readers: ["main"],
    what: "the lease of a session host: after so long without a sign another one takes its sessions",
  },
  LATE_DEVICE_SILENCE_MS: {
    group: "limits",
    type: "integer",
    low: 100,
    high: 86_400_000,
    unit: "milliseconds",
    default: 60_000,
    readers: ["main"],
    what: "after the stop, how long a device may be silent before what it did not send counts as missing",
  },
  LATE_CHUNK_PATIENCE_MS: {
    group: "limits",
    type: "integer",
    low: 100,
    high: 86_400_000,
    unit: "milliseconds",
    default: 300_000,
    readers: ["main"],
    what: "after the stop, how long the next chunk of a living device is waited for",
  },
  PASSIVATE_MS: {
    group: "limits",
    type: "integer",
    low: 1_000,
    high: 86_400_000,
    unit: "milliseconds",
    default: 120_000,
    readers: ["sessions"],
    what: "how long an idle session stays in memory",
  },
  DRAIN_MS: {
    group: "limits",
    type: "integer",
    low: 0,
    high: 12_000,
    unit: "milliseconds",
    default: 4_000,
    readers: ["front", "up"],
    what: "over how long a stopping process sends its sockets elsewhere; 500 with npm run up",
  },
  VOICE_BASE_URL: {
    group: "cli",
    type: "address",
    protocols: WEB,
    default: "http://127.0.0.1:8080/api",
    readers: ["cli"],
    what: "the service to talk to, when no login is stored",
  },
  VOICE_EMAIL: {
    group: "cli",
    type: "text",
    readers: ["cli"],
    what: "whom to sign in as",
  },
  VOICE_PASSWORD: {
    group: "cli",
    type: "text",
    secret: true,
    readers: ["cli"],
    what: "the password of VOICE_EMAIL",
  },
  VOICE_TOKEN: {
    group: "cli",
    type: "text",
    secret: true,
    readers: ["cli"],
    what: "an access token instead of a login",
  },
  VOICE_KEY: {
    group: "cli",
    type: "text",
    secret: true,
    readers: ["cli"],
    what: "a service key with the scopes sessions:read and query, by which voice mcp acts instead of a login",
  },
  ROLES: {
    group: "machine",
    type: "list",
    choices: ["front", "sessions"],
    usually: "front,sessions",
    readers: ["main"],
    what: "what a process of src/main.ts does; npm run up decides it itself",
  },
  NODE_NAME: {
    group: "machine",
    type: "text",
    usually: "the machine's name",
    readers: ["main", "up"],
    what: "the name of a machine in logs and figures",
  },
  LOG_LEVEL: {
    group: "machine",
    type: "choice",
    choices: LEVELS,
    default: "info",
    readers: ["main", "worker"],
    what: "which lines are logged; npm run up writes them to DATA/logs",
  },
  ALLOW_ROOT: {
    group: "machine",
    type: "switch",
    readers: ["main", "worker"],
    what: "let a part that was started by itself run as root, for example in a container whose root is nobody outside; npm run up needs it never",
  },
  VOICE_CACHE_DIR: {
    group: "machine",
    type: "path",
    usually: "~/.cache/voice-session-service",
    readers: ["bootstrap"],
    what: "unpacked packages",
  },
  VOICE_NATS_SERVER: {
    group: "machine",
    type: "path",
    usually: "the one in PATH, or the cache",
    readers: ["bootstrap", "up"],
    what: "the nats-server program",
  },
  VOICE_IGNORE_SYSTEM_PACKAGES: {
    group: "machine",
    type: "switch",
    readers: ["bootstrap"],
    what: "use unpacked packages even where the system has them",
  },
  VOICE_NO_ENV_FILE: {
    group: "machine",
    type: "switch",
    readers: ["bootstrap", "up"],
    what: "do not read the file .env",
  },
  NO_COLOR: {
    group: "machine",
    type: "text",
    readers: ["bootstrap", "cli"],
    what: "whatever it is: no colours in the terminal",
  },
} as const satisfies Readonly<Record<string, Setting>>;
