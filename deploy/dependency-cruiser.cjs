// Who may import whom, and nowhere else is it written down. Type imports count.
const OURS = "^(src|workers|deploy|test)/";

/** From the ground up: what stands on a floor imports only itself and what lies below it. */
const FLOORS = [
  ["src/base/audio"],
  ["src/base/codecs", "src/base/decoder"],
  ["src/base"],
  ["src/base/metrics"],
  ["src/base/work"],
  ["src/base/threads"],
  ["src/wire", "src/session", "src/actor", "src/access", "src/language"],
  ["src/rest", "src/inference"],
  ["src/postgres"],
  // Who there is, and what they share.
  ["src/tenancy"],
  ["src/tenancy/accounts", "src/tenancy/audit"],
  ["src/tenancy/workspaces/invitations"],
  ["src/tenancy/workspaces"],
  ["src/tenancy/devices", "src/tenancy/webhooks"],
  // What is said, and what is made of it.
  ["src/conversations"],
  ["src/conversations/sessions", "src/conversations/recording/integrity"],
  [
    ...["src/conversations/recording/durable-files", "src/conversations/jobs"],
    ...["src/conversations/transcript/marks", "src/conversations/transcript/writing"],
  ],
  ["src/conversations/recording/audio-store", "src/conversations/transcript"],
  [
    ...["src/conversations/recording/audio-files", "src/conversations/questions"],
    ...["src/conversations/guests", "src/conversations/concerns"],
  ],
  ["src/conversations/recording", "src/conversations/erasure/ledger"],
  [
    ...["src/conversations/questions/graph", "src/conversations/summaries"],
    ...["src/conversations/voices", "src/conversations/uploads"],
    ...["src/conversations/erasure", "src/conversations/admin"],
  ],
  ["src/journal", "src/recognition", "src/nats"],
  ["src/live"],
  ["src/http/server"],
  ["src/http/sockets"],
  // The protocols: none of them sees another one.
  ["src/http", "src/grpc", "src/mcp", "src/openai-deepgram", "src/telephony"],
  ["src/roles"],
  ["src"],
];

/** The same of the command line, which sees of the service only what crosses a process, and its decoders. */
const COMMAND_LINE = [
  ["src/wire", "src/base/audio"],
  // Published as a package: of all others it sees the close codes.
  ["src/client"],
  ["src/base/codecs", "src/base/decoder"],
  ["src/cli/view"],
  ["src/cli/client"],
  ["src/cli/device"],
  ["src/cli/models"],
  ["src/cli/commands"],
  ["src/cli/commands/admin"],
  ["src/cli"],
];

/** The same of the page, which sees of the service only what crosses a process. */
const PAGE = [
  ["src/wire"],
  ["src/client"],
  ["src/web/style", "src/web/api"],
  ["src/web/parts"],
  ["src/web/uploads"],
  ["src/web/views/session/model"],
  // What an open session consists of.
  ["src/web/views/session/(edit|export|find|marks|notes|voices)"],
  // One folder for each view.
  ["src/web/views/[^/]+"],
  ["src/web"],
];

/** The same of the workers. */
const WORKERS = [
  ["src/base/audio", "src/wire", "src/language"],
  ["src/base/codecs"],
  ["src/base"],
  ["src/base/metrics", "src/base/work"],
  ["workers/language-model"],
  ["workers/text/language", "workers/audio", "workers/inference"],
  ["workers/text/grounding"],
  ["workers/text/model-notes"],
  ["workers/text/model-answers"],
  ["workers/text/graph", "workers/text/retrieval", "workers/speakers"],
  ["workers/text/summary"],
  ["workers/speech"],
  // One folder for each engine.
  ["workers/speech/[^/]+"],
  ["workers/threads"],
  ["workers/grpc"],
  ["workers"],
];

/** One rule for each folder of these floors. Generated code lies with the wire. */
function floors(table, isOwn) {
  return table.flatMap((folders, floor) => {
    const below = table.slice(0, floor).flat();
    return folders.filter(isOwn).map((folder) => ({
      name: `floor-of-${folder.replace("[^/]+", "each").replaceAll("/", "-")}`,
      severity: "error",
      from: { path: `^${folder}/[^/]+$` },
      to: { path: OURS, pathNot: [...below, folder].map((each) => `^${each}/(gen/.*|[^/]+)$`) },
    }));
  });
}

/** Files of `area` may import only `allowed` of ours; packages and Node have their own rules. */
function area(name, from, allowed) {
  return {
    name,
    severity: "error",
    from: { path: from },
    to: { path: OURS, pathNot: allowed },
  };
}

/** The package may be imported only by these files of the service. */
function onlyIn(name, packages, allowed) {
  return {
    name,
    severity: "error",
    from: { path: "^(src|workers)/", pathNot: allowed },
    to: { path: packages.map((each) => `(^|/)node_modules/${each}/`) },
  };
}

module.exports = {
  forbidden: [
    { name: "no-circular", severity: "error", from: {}, to: { circular: true } },
    { name: "resolvable", severity: "error", from: {}, to: { couldNotResolve: true } },
    {
      name: "no-dev-dependency-at-run-time",
      severity: "error",
      // What the page is made of is built into it.
      from: { path: "^(src|workers)/", pathNot: "^src/web/" },
      to: { dependencyTypes: ["npm-dev"], dependencyTypesNot: ["type-only"], pathNot: "/@types/" },
    },
    ...floors(FLOORS, () => true),
    ...floors(COMMAND_LINE, (folder) => /^src\/(cli|client)/.test(folder)),
    ...floors(PAGE, (folder) => folder.startsWith("src/web")),
    ...floors(WORKERS, (folder) => folder.startsWith("workers")),
    {
      name: "on-some-floor",
      comment: "a folder that is on no floor is under no rule",
      severity: "error",
      from: {
        path: "^(src|workers)/",
        pathNot: ["/gen/", ...[FLOORS, COMMAND_LINE, PAGE, WORKERS].flat(2).map((each) => `^${each}/[^/]+$`)],
      },
      to: {},
    },
    // The table of settings is one for all.
    area("deploy", "^deploy/", [
      "^deploy/",
      "^src/base/(settings(-table)?|database-address|clear-text)\\.ts$",
      // Who may say what at NATS, with what everybody comes in there, and what certificates say.
      "^src/wire/(subjects|nats-login|certificate-kinds)\\.ts$",
    ]),
    {
      name: "client-is-a-package",
      comment: "what it needs is published with it, and runs in browsers",
      severity: "error",
      from: { path: "^src/client/" },
      to: {
        path: "^src/|(^|/)node_modules/|^(node:)?[a-z_]+$",
        pathNot: "^src/client/|^src/wire/close-codes\\.ts$|(^|/)node_modules/(openapi-fetch|ws|@types/(ws|node))/",
      },
    },
    {
      name: "service-without-tests",
      severity: "error",
      from: { path: "^(src|workers)/" },
      to: { path: "^(test|deploy)/" },
    },
    {
      name: "base-stands-alone",
      severity: "error",
      from: { path: "^src/base/", pathNot: "^src/base/codecs/" },
      to: { path: "(^|/)node_modules/", pathNot: "(^|/)node_modules/(pino|@types/node)/" },
    },
    {
      name: "codecs-decode",
      severity: "error",
      from: { path: "^src/base/codecs/" },
      to: {
        path: "(^|/)node_modules/",
        pathNot: "(^|/)node_modules/(libflacjs|mpg123-decoder|ogv|opus-decoder|@types/node)/",
      },
    },
    {
      name: "session-is-pure",
      severity: "error",
      from: { path: "^src/session/" },
      to: {
        path: "(^|/)node_modules/|^(node:)?(fs|net|http|child_process|timers)(/|$)",
        // What comes from outside is described in one language, which does nothing by itself.
        pathNot: "(^|/)node_modules/@sinclair/typebox/",
      },
    },
    {
      name: "protocols-ask-conversations",
      comment: "they stand on features and sockets: actors and the bus are behind those",
      severity: "error",
      from: { path: "^src/(openai-deepgram|telephony)/" },
      to: { path: "^src/(actor|journal|recognition|nats|live)/", pathNot: "^src/live/session-frames\\.ts$" },
    },
    onlyIn(
      "uws-in-http",
      ["uWebSockets\\.js"],
      ["^src/http/", "^src/(openai-deepgram/live|telephony/call)-channel\\.ts$"],
    ),
    onlyIn("nats-in-nats", ["nats"], ["^src/nats/", "^workers/announce\\.ts$"]),
    onlyIn(
      "postgres-in-stores",
      ["slonik", "pg", "@types/pg"],
      ["^src/(postgres|journal)/", "(-|/)store\\.ts$"],
    ),
    onlyIn(
      "grpc-at-its-ends",
      ["@grpc/[^/]+", "grpc-health-check"],
      ["^src/(inference|grpc|wire)/", "^workers/(grpc/)?[^/]+\\.ts$"],
    ),
    onlyIn("openai-in-language-model", ["openai"], ["^workers/language-model/"]),
    onlyIn("mcp-at-its-ends", ["@modelcontextprotocol/sdk"], ["^src/(mcp/|cli/commands/mcp\\.ts$)"]),
    {
      name: "mcp-when-it-is-spoken",
      comment: "a start of the service or of a command does not load it",
      severity: "error",
      from: { path: "^src/" },
      to: { path: "(^|/)node_modules/@modelcontextprotocol/", dynamic: false },
    },
    onlyIn("comlink-in-threads", ["comlink"], ["^workers/threads/"]),
    onlyIn("onnxruntime-in-inference", ["onnxruntime-node"], ["^workers/inference/"]),
    onlyIn(
      "sign-in-in-accounts",
      ["nodemailer", "jose", "@node-rs/argon2", "openid-client"],
      ["^src/tenancy/accounts/", "^src/wire/worker-token\\.ts$"],
    ),
  ],
  options: {
    doNotFollow: { path: ["node_modules"] },
    exclude: { path: ["^src/(wire|client)/gen/", "^src/web/dist/"] },
    tsPreCompilationDeps: true,
    tsConfig: { fileName: "tsconfig.json" },
    moduleSystems: ["es6", "cjs"],
    enhancedResolveOptions: {
      exportsFields: ["exports"],
      conditionNames: ["import", "require", "node", "default", "types"],
      extensions: [".ts", ".tsx", ".mjs", ".js", ".cjs", ".json", ".d.ts"],
    },
  },
};
