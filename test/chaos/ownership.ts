import type { Record } from "./record.ts";

interface Incident {
  readonly from: number;
  to: number;
}

/** Away from a host, and back for its fair share. */
const CHANGES_PER_INCIDENT = 2;
/** To its first owner, and once more when it rested and somebody came. */
const CHANGES_OF_A_LIFE = 2;

/** Sessions change their owner no more often than what happened to hosts and servers explains. */
export class Ownership {
  readonly #incidents: Incident[] = [];
  /** Changes in all, and what could explain them. */
  changes = 0;
  explained = 0;

  /** Something begins that may cost a host its sessions; returns how to end it. */
  begin(): () => void {
    const incident: Incident = { from: performance.now(), to: Number.POSITIVE_INFINITY };
    this.#incidents.push(incident);
    return () => {
      incident.to = performance.now();
    };
  }

  async judge(sessionId: string, startedAt: number, record: Record): Promise<string[]> {
    const [row] = await record.ask<{ epoch: number }>(
      "select epoch::int as epoch from sessions where id = $1",
      [sessionId],
    );
    const epoch = row?.epoch ?? 0;
    const incidents = this.#incidents.filter(({ to }) => to >= startedAt).length;
    const most = incidents * CHANGES_PER_INCIDENT + CHANGES_OF_A_LIFE;
    this.changes += epoch;
    this.explained += most;
    if (epoch <= most) return [];
    return [`session ${sessionId} had ${epoch} owners; ${incidents} incidents explain ${most}`];
  }
}
