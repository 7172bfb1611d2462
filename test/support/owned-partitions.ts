/** The figure that a host's operations port tells; -1 for one that does not answer. */
export async function ownedPartitions(opsUrl: string): Promise<number> {
  const text = await fetch(`${opsUrl}/metrics`).then(
    (answer) => answer.text(),
    () => "",
  );
  return Number(/^voice_partitions_owned (\d+)$/m.exec(text)?.[1] ?? -1);
}
