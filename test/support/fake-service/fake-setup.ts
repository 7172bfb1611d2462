// Stands in for src/setup.ts: proves that the owner's role can make tables for the service's role.
import { Client } from "pg";

const owner = new Client({ connectionString: process.env.DATABASE_OWNER_URL });
await owner.connect();
await owner.query("create table if not exists starts (at timestamptz not null default now())");
await owner.query("grant select, insert on starts to voice_service");
await owner.end();
const service = new Client({ connectionString: process.env.DATABASE_URL });
await service.connect();
await service.query("insert into starts default values");
const { rows } = await service.query("select count(*)::int as starts from starts");
await service.end();
process.stdout.write(`${JSON.stringify({ event: "setup", ...rows[0] })}\n`);
