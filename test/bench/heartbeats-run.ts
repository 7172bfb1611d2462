import { measureHeartbeats } from "./heartbeats.ts";

const figures = await measureHeartbeats();
const round = (value: number) => Math.round(value * 1_000) / 1_000;
for (const [name, value] of Object.entries(figures)) console.log(`${name}: ${round(value)}`);
