/** What an operations port tells of queues, by name, read from its text. */
export async function scrapeQueues(
  opsUrl: string,
): Promise<{ text: string; queues: Map<string, { length: number; limit: number }> }> {
  const text = await (await fetch(`${opsUrl}/metrics`)).text();
  const read = (family: string, queue: string): number =>
    Number(new RegExp(`^voice_queue_${family}\\{queue="${queue}"\\} (\\S+)$`, "m").exec(text)?.[1]);
  const names = [...text.matchAll(/^voice_queue_length\{queue="(\w+)"\}/gm)].map(([, name]) =>
    String(name),
  );
  const queues = new Map(
    names.map((name) => [name, { length: read("length", name), limit: read("limit", name) }]),
  );
  return { text, queues };
}

/** Figures without labels, by name. */
export async function scrape(opsUrl: string): Promise<Map<string, number>> {
  const text = await (await fetch(`${opsUrl}/metrics`)).text();
  const lines = [...text.matchAll(/^([a-z_]+) (\S+)$/gm)];
  return new Map(lines.map(([, name = "", value]) => [name, Number(value)]));
}
