import { withTimeout } from "../base/deferred.ts";
import type { HealthCheck, HealthOptions } from "../conversations/admin/health.ts";
import { pingDatabase } from "../postgres/pool.ts";
import { type SpeechEngine, UNHEARD } from "../wire/speech-engines.ts";
import type { AppContext, Shared } from "./shared.ts";

/** The process's health, for its public address and its operations port. */
export function healthPorts({ version, clock, shared, stack }: AppContext): HealthOptions {
  return {
    // Without the audio's disk streams, viewers and readers go on: a balancer that takes all fronts out
    // for it would end what still works.
    checks: { run: () => runChecks(shared), spared: new Set(["audio"]) },
    version,
    clock,
    stopping: () => stack.stopping,
  };
}

const NATS_MS = 2_000;

async function runChecks({
  pool,
  line,
  placement,
  unsafe,
  audioFolder,
  audioWatch,
  damage,
  ledger,
}: Shared): Promise<Record<string, HealthCheck>> {
  const database = await pingDatabase(pool).then(
    (): HealthCheck => checkDurability(unsafe),
    (): HealthCheck => ({ status: "down", message: "PostgreSQL does not answer." }),
  );
  const nats = await withTimeout(line.rtt(), NATS_MS, "NATS").then(
    (): HealthCheck => ({ status: "ok" }),
    (): HealthCheck => ({
      status: "degraded",
      message: "NATS does not answer; audio is stored and will be transcribed later.",
    }),
  );
  return {
    database,
    nats,
    workers: checkWorkers(placement),
    ...engineCheck(placement),
    ...modelCheck(placement),
    audio: checkAudio(audioFolder, audioWatch.check),
    ...(await damageCheck(damage)),
    ...ledgerCheck(ledger),
  };
}

/** Tells what is wrong with the ledger of erasures; nothing while it is as it should be. */
function ledgerCheck({ faults }: Shared["ledger"]): Record<string, HealthCheck> {
  if (faults.length === 0) return {};
  return { erasures: { status: "degraded", message: faults.join(" ") } };
}

function checkAudio(folder: Shared["audioFolder"], written: HealthCheck): HealthCheck {
  if (folder.kind === "own" || written.status === "down") return written;
  return { status: "degraded", message: folder.message };
}

/** Tells damage that was found lately; nothing while the database does not answer. */
async function damageCheck(damage: Shared["damage"]): Promise<Record<string, HealthCheck>> {
  const { recent, chunks, sessions } = await damage.refresh().catch(() => ({ ...NO_DAMAGE }));
  if (recent === 0) return {};
  const figures = `chunks: ${chunks}, sessions: ${sessions}; found in the last 7 days: ${recent}`;
  const message = `Stored audio is gone or damaged (${figures}). \`voice admin audio verify\` lists it.`;
  return { stored_audio: { status: "degraded", message } };
}

const NO_DAMAGE = { recent: 0, chunks: 0, sessions: 0 };

function checkDurability(unsafe: Shared["unsafe"]): HealthCheck {
  if (unsafe.length === 0) return { status: "ok" };
  return {
    status: "degraded",
    message: `PostgreSQL may lose what it has acknowledged. ${unsafe.join(" ")}`,
  };
}

/** Tells which engines there are, with model and checksums, or which of them cannot be used. */
function engineCheck(placement: Shared["placement"]): Record<string, HealthCheck> {
  const missing = placement.missingEngines();
  if (missing.length === 0) {
    const engines = placement.engines();
    if (engines === UNHEARD) return {};
    return { engines: { status: "ok", message: engines.map(described).join(" ") } };
  }
  const message = missing.map(({ name, reason }) => `${name}: ${reason}`).join(" ");
  return { engines: { status: "degraded", message } };
}

/** Tells which language models there are, and whether they answer; nothing where none is configured. */
function modelCheck(placement: Shared["placement"]): Record<string, HealthCheck> {
  const models = placement.languageModels();
  if (models.length === 0) return {};
  const away = models.filter(({ answers }) => !answers);
  const message = models.map(({ name, reason }) => `${name}: ${reason ?? "answers."}`).join(" ");
  if (away.length === 0) return { language_model: { status: "ok", message } };
  const until = "Notes are made by rule until it answers.";
  return { language_model: { status: "degraded", message: `${message} ${until}` } };
}

function described({ name, model }: SpeechEngine): string {
  if (model === undefined) return `${name}.`;
  const sums = Object.entries(model.sha256 ?? {}).map(([file, sum]) => `${file} ${sum}`);
  return `${name}: model ${model.name}${sums.length === 0 ? "" : ` (SHA-256: ${sums.join(", ")})`}.`;
}

function checkWorkers(placement: Shared["placement"]): HealthCheck {
  const states = placement.status().map(({ state }) => state);
  if (states.includes("available")) return { status: "ok" };
  const message = states.includes("full")
    ? "All workers are busy; audio is stored and waits for its turn."
    : "No worker is running; audio is stored and waits.";
  return { status: "degraded", message };
}
