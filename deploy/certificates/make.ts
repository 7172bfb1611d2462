import { mkdirSync } from "node:fs";
import { join, resolve } from "node:path";
import { parseArgs } from "node:util";
import { isKind, KINDS } from "../../src/wire/certificate-kinds.ts";
import { loadAuthority } from "../supervisor/certificates.ts";
import { writeAtomically } from "../supervisor/write-atomically.ts";
import { issueCertificate } from "./authority.ts";

const DAY_MS = 86_400_000;
const USAGE = `npm run certificates -- FOLDER NAME KIND[,KIND] [HOST…] [--days N]

Makes FOLDER/NAME.pem, a certificate with its key, and an authority (authority.pem, authority.key)
where there is none yet. KIND is what the process is: ${KINDS.join(", ")}; a machine with
npm run up is main,worker. HOST is a name or address at which others reach it. It counts for N days
(default 30): run it again in time, all processes read the new one by themselves; nats-server does
after kill -HUP. Take authority.pem and its own file to each machine, and authority.key to none.
`;

const { values, positionals } = parseArgs({
  options: { days: { type: "string", default: "30" } },
  allowPositionals: true,
});
const [folder, name, kindList = "", ...hosts] = positionals;
const kinds = kindList.split(",").filter(isKind);
const days = Number(values.days);
const isRight = kinds.length > 0 && kinds.length === kindList.split(",").length;
if (!folder || !name || !/^[\w.-]+$/.test(name) || !isRight || !(days > 0 && days <= 825)) {
  process.stderr.write(USAGE);
  process.exit(2);
}
const place = resolve(process.env.INIT_CWD ?? process.cwd(), folder);
mkdirSync(place, { recursive: true, mode: 0o700 });
const authority = await loadAuthority(place);
const file = join(place, `${name}.pem`);
writeAtomically(
  file,
  await issueCertificate(authority, { name, kinds, hosts, lifeMs: days * DAY_MS }),
);
process.stdout.write(`TLS_CA=${join(place, "authority.pem")}\nTLS_CERT=${file}\n`);
