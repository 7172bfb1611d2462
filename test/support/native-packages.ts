import { existsSync, readFileSync } from "node:fs";
import { homedir } from "node:os";
import { join } from "node:path";

const ARCHITECTURE = process.arch === "arm64" ? "arm64" : "amd64";

/** Where `npm test` unpacks Debian's packages; see deploy/setup. */
function unpackedFolder(name = "root"): string {
  const release = readFileSync("/etc/os-release", "utf8");
  const id = /^ID="?(\w+)/m.exec(release)?.[1] ?? "linux";
  const version = /^VERSION_ID="?([\w.]+)/m.exec(release)?.[1] ?? "unknown";
  const base = process.env.XDG_CACHE_HOME ?? join(homedir(), ".cache");
  const cache = process.env.VOICE_CACHE_DIR ?? join(base, "voice-session-service");
  return join(cache, `${id}-${version}-${ARCHITECTURE}`, name);
}

function find(path: string, what: string): string {
  const roots = [unpackedFolder(), "/"];
  const root = roots.find((candidate) => existsSync(join(candidate, path)));
  if (root !== undefined) return root;
  throw new Error(`${what} is missing (looked below ${roots.join(", ")}). Run "npm test" once.`);
}

export function findNatsServer(): string {
  const own = process.env.VOICE_NATS_SERVER;
  if (own !== undefined && existsSync(own)) return own;
  return join(find("usr/sbin/nats-server", "nats-server"), "usr/sbin/nats-server");
}

/** nginx, and Python with `requests`, as `npm test -- e2e` found or fetched them. */
export function findForeignProgram(name: "nginx" | "python3"): string {
  const own = { nginx: "VOICE_TEST_NGINX", python3: "VOICE_TEST_PYTHON" }[name];
  const program = process.env[own] ?? join(unpackedFolder("test-root"), "bin", name);
  if (existsSync(program)) return program;
  throw new Error(`${name} is missing (looked for ${program}). Run "npm test -- e2e" once.`);
}
