// Stands in for src/cli/main.ts: shows its arguments and ends.
process.stdout.write(`demo ${process.argv.slice(2).join(" ")}\n`);
