// Who may import whom, and nowhere else is it written down. Type imports count.
const OURS = "^(src|workers|deploy|test)/";

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
      from: { path: "^(src|workers)/" },
      to: { dependencyTypes: ["npm-dev"], dependencyTypesNot: ["type-only"], pathNot: "/@types/" },
    },
    area("base", "^src/base/", ["^src/base/"]),
    area("wire", "^src/wire/", ["^src/(base|wire)/"]),
    area("session", "^src/session/", ["^src/(base|session)/"]),
    area("actor", "^src/actor/", ["^src/(base|actor)/"]),
    area("config", "^src/config\\.ts$", ["^src/base/"]),
    ...["store", "bus", "inference", "jobs", "mail"].map((each) =>
      area(each, `^src/${each}/`, [
        `^src/(base|wire|session|actor|auth|api|${each})/`,
        // The port through which a reading gets its audio.
        "^src/inference/audio-source\\.ts$",
        // The ports of work in the background.
        ...(each === "store" ? ["^src/jobs/"] : []),
        ...(each === "inference" ? ["^src/jobs/summariser\\.ts$"] : []),
      ]),
    ),
    {
      name: "adapters-know-ports-only",
      comment: "of actor, auth and api an adapter imports the ports, which are types",
      severity: "error",
      from: { path: "^src/(store|bus|inference|jobs|mail)/" },
      to: {
        path: "^src/((actor|auth|api)/|inference/audio-source\\.ts$)",
        dependencyTypesNot: ["type-only"],
      },
    },
    {
      name: "adapters-know-ports-of-jobs-only",
      severity: "error",
      from: { path: "^src/(store|inference)/" },
      to: { path: "^src/jobs/", dependencyTypesNot: ["type-only"] },
    },
    area("auth", "^src/auth/", ["^src/(base|auth)/"]),
    area("api", "^src/api/", ["^src/(base|auth|session|api)/"]),
    area("live", "^src/live/", ["^src/(base|wire|auth|live)/"]),
    area("front", "^src/front/", ["^src/(base|wire|auth|api|live|front)/", "^src/actor/ref\\.ts$"]),
    area("rpc", "^src/rpc/", ["^src/(base|wire|auth|api|live|rpc)/", "^src/actor/ref\\.ts$"]),
    area("cli", "^src/cli/", ["^src/(wire|cli)/"]),
    area("web", "^src/web/", ["^src/(wire|web)/"]),
    area("workers", "^workers/", ["^src/(base|wire)/", "^workers/"]),
    // The table of settings is one for all.
    area("deploy", "^deploy/", ["^deploy/", "^src/base/(settings(-table)?|database-address)\\.ts$"]),
    {
      name: "service-without-tests",
      severity: "error",
      from: { path: "^(src|workers)/" },
      to: { path: "^(test|deploy)/" },
    },
    {
      name: "config-for-entries",
      severity: "error",
      from: { path: "^src/", pathNot: "^src/(main|app[a-z-]*|setup)\\.ts$" },
      to: { path: "^src/config\\.ts$" },
    },
    {
      name: "nobody-imports-the-composition",
      severity: "error",
      from: { path: "^src/", pathNot: "^src/(main|app[a-z-]*|setup)\\.ts$" },
      to: { path: "^src/(main|app[a-z-]*|setup)\\.ts$" },
    },
    {
      name: "base-stands-alone",
      severity: "error",
      from: { path: "^src/base/" },
      to: { path: "(^|/)node_modules/", pathNot: "(^|/)node_modules/(pino|@types/node)/" },
    },
    {
      name: "session-is-pure",
      severity: "error",
      from: { path: "^src/session/" },
      to: { path: "(^|/)node_modules/|^(node:)?(fs|net|http|child_process|timers)(/|$)" },
    },
    onlyIn("uws-in-front", ["uWebSockets\\.js"], ["^src/front/"]),
    onlyIn("nats-in-bus", ["nats"], ["^src/bus/", "^workers/announce\\.ts$"]),
    onlyIn("postgres-in-store", ["slonik", "pg", "@types/pg"], ["^src/store/"]),
    onlyIn(
      "grpc-at-its-ends",
      ["@grpc/[^/]+", "grpc-health-check"],
      ["^src/(inference|rpc|wire)/", "^workers/[^/]+\\.ts$"],
    ),
    onlyIn("comlink-in-workers", ["comlink"], ["^workers/"]),
    onlyIn("koffi-in-speech", ["koffi"], ["^workers/speech/"]),
    onlyIn("mail-in-mail", ["nodemailer"], ["^src/mail/"]),
    onlyIn("jose-in-auth", ["jose", "@node-rs/argon2", "openid-client"], ["^src/auth/"]),
  ],
  options: {
    doNotFollow: { path: ["node_modules"] },
    exclude: { path: ["^src/(wire|cli)/gen/"] },
    tsPreCompilationDeps: true,
    tsConfig: { fileName: "tsconfig.json" },
    moduleSystems: ["es6", "cjs"],
    enhancedResolveOptions: {
      exportsFields: ["exports"],
      conditionNames: ["import", "require", "node", "default", "types"],
      extensions: [".ts", ".mjs", ".js", ".cjs", ".json", ".d.ts"],
    },
  },
};
