import { measureHeartbeats } from "./heartbeats.ts";

const round = (value: number) => Math.round(value * 1_000) / 1_000;
for (const [transport, figures] of Object.entries(await measureHeartbeats())) {
  console.log(transport);
  for (const [name, value] of Object.entries(figures)) console.log(`  ${name}: ${round(value)}`);
}
