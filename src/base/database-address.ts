/**
 * Splits a database's address into one address for each of its hosts, in order:
 * `postgres://role@one:5432,two:5433/voice` names two servers of which one takes changes. A host
 * without a port gets the port of the last one, if that has any.
 */
export function databaseHosts(address: string): string[] {
  const [, before = "", hosts = "", after = ""] =
    /^([a-z]+:\/\/(?:[^@/?#]*@)?)([^/?#]*)(.*)$/is.exec(address) ?? [];
  const names = hosts.split(",");
  if (names.length < 2) return [address];
  const shared = /:\d+$/.exec(names.at(-1) ?? "")?.[0] ?? "";
  return names.map((name) => `${before}${/:\d+$/.test(name) ? name : name + shared}${after}`);
}
