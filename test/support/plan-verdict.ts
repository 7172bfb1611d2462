/** A node of a plan as PostgreSQL tells it, of what is looked at. */
export interface Plan {
  "Node Type": string;
  "Relation Name"?: string;
  "Actual Rows"?: number;
  "Actual Loops"?: number;
  "Rows Removed by Filter"?: number;
  "Rows Removed by Join Filter"?: number;
  "Rows Removed by Index Recheck"?: number;
  Plans?: Plan[];
}

export interface PlanVerdict {
  /** Tables that must not be read from one end to the other, and were. */
  scanned: string[];
  /** Rows that were read and thrown away. */
  removed: number;
  /** Rows that it came to: what it returned, changed or counted. */
  returned: number;
  /** By how many rows too many were thrown away; 0 or less is good. */
  excess: number;
  /** For people: the nodes that throw rows away or read whole tables. */
  where: string;
}

/** Tables that grow with every second of audio. */
const GROWING = new Set(["events", "chunks", "segments", "outbox"]);
/** What they say of rows is about those below them. */
const PASSING = new Set([
  "Aggregate",
  "ModifyTable",
  "LockRows",
  "Result",
  "Limit",
  "Subquery Scan",
]);

/** A statement may throw ten rows away for each that it comes to, and a hundred. */
export function judgePlan(plan: Plan): PlanVerdict {
  const nodes = [...walk(plan)];
  const scanned = nodes.flatMap((node) => {
    const table = node["Relation Name"] ?? "";
    return node["Node Type"] === "Seq Scan" && GROWING.has(table) && loops(node) > 0 ? [table] : [];
  });
  const removed = nodes.reduce((sum, node) => sum + removedBy(node), 0);
  const returned = comesTo(plan);
  const where = nodes
    .filter((node) => removedBy(node) > 0 || scanned.includes(node["Relation Name"] ?? ""))
    .map((node) => `${node["Node Type"]} on ${node["Relation Name"]} removes ${removedBy(node)}`)
    .join("; ");
  return { scanned, removed, returned, excess: removed - 10 * returned - 100, where };
}

function* walk(plan: Plan): Iterable<Plan> {
  yield plan;
  for (const below of plan.Plans ?? []) yield* walk(below);
}

function loops(node: Plan): number {
  return node["Actual Loops"] ?? 0;
}

/** Figures of a node are means over its loops. What a function makes up was read from nowhere. */
function removedBy(node: Plan): number {
  if (node["Node Type"] === "Function Scan") return 0;
  const mean =
    (node["Rows Removed by Filter"] ?? 0) +
    (node["Rows Removed by Join Filter"] ?? 0) +
    (node["Rows Removed by Index Recheck"] ?? 0);
  return mean * loops(node);
}

function comesTo(node: Plan): number {
  const own = (node["Actual Rows"] ?? 0) * loops(node);
  if (!PASSING.has(node["Node Type"])) return own;
  return Math.max(own, ...(node.Plans ?? []).map(comesTo));
}
