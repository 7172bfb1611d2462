import { readFileSync } from "node:fs";
import { homedir } from "node:os";
import { dirname, join, resolve } from "node:path";
import process from "node:process";
import { fileURLToPath } from "node:url";

/** The project's folder, wherever it was cloned to. */
export const PROJECT = resolve(dirname(fileURLToPath(import.meta.url)), "../..");

/** Where things that several clones can share are kept: `VOICE_CACHE_DIR` or the user's cache. */
export function cacheDir(env = process.env) {
  if (env.VOICE_CACHE_DIR) return resolve(env.VOICE_CACHE_DIR);
  const base = env.XDG_CACHE_HOME || join(env.HOME || homedir(), ".cache");
  return join(base, "voice-session-service");
}

/** Names the system whose packages are unpacked, such as `debian-12-amd64`. */
export function systemName() {
  const release = readOsRelease();
  const arch = { x64: "amd64", arm64: "arm64" }[process.arch] ?? process.arch;
  return `${release.ID ?? "linux"}-${release.VERSION_ID ?? "unknown"}-${arch}`;
}

/** The folder name that Debian gives to this machine's libraries. */
export function multiarch() {
  return process.arch === "arm64" ? "aarch64-linux-gnu" : "x86_64-linux-gnu";
}

/** The pinned Node 22 that npm brought. */
export function pinnedNode() {
  return join(PROJECT, "node_modules", `node-linux-${process.arch}`, "bin", "node");
}

function readOsRelease() {
  try {
    const lines = readFileSync("/etc/os-release", "utf8").split("\n");
    const pairs = lines.map((line) => line.match(/^(\w+)="?([^"]*)"?$/)).filter(Boolean);
    return Object.fromEntries(pairs.map(([, key, value]) => [key, value]));
  } catch {
    return {};
  }
}
