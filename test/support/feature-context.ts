import { systemClock } from "../../src/base/clock.ts";
import { silentLog } from "../../src/base/log.ts";
import { QueueMetrics } from "../../src/base/queue-metrics.ts";
import { Stack } from "../../src/base/stack.ts";
import type { FeatureContext } from "../../src/conversations/context.ts";
import type { SpeakerSuggestions } from "../../src/conversations/sessions/suggestions.ts";
import { NO_CEILINGS } from "../../src/postgres/ceilings.ts";
import type { Pool } from "../../src/postgres/pool.ts";
import { Tenants } from "../../src/postgres/tenants.ts";
import { OTHER_TABLES } from "../../src/roles/other-tables.ts";
import { MOONSHINE } from "../../src/wire/speech-engines.ts";
import { LocalRevocations } from "./memory/local-revocations.ts";

/** Of fixtures in which no voice is remembered. */
export const NO_SUGGESTIONS: SpeakerSuggestions = { for: async () => new Map() };

/** A context over a real database, with nobody at the other end of the bus unless given. */
export function createContext(pool: Pool, given: Partial<FeatureContext> = {}): FeatureContext {
  return {
    pool,
    clock: systemClock,
    log: silentLog,
    cursorKey: new Uint8Array(32).fill(7),
    ceilings: NO_CEILINGS,
    tenants: new Tenants(pool),
    notifier: { notify: () => {} },
    actors: { ask: async () => undefined },
    engines: () => [MOONSHINE],
    languageModels: () => [],
    revocations: new LocalRevocations(),
    stack: new Stack(silentLog),
    queues: new QueueMetrics(),
    others: OTHER_TABLES,
    ...given,
  };
}
