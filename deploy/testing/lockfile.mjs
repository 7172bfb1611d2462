/**
 * What is wrong with the entries of a lockfile, a line each: npm checks what it fetches against
 * `integrity`, and `resolved` would have it fetched from there, whatever registry npm is set to.
 */
export function lockfileFaults(lock) {
  return Object.entries(lock.packages).flatMap(([path, entry]) => {
    if (path === "") return [];
    const name = path.replace(/^.*node_modules\//, "");
    const faults = [];
    if (entry.link === true || !path.startsWith("node_modules/")) faults.push("is a folder");
    if (entry.resolved !== undefined) faults.push(`comes from ${entry.resolved}`);
    const isChecked = /^sha512-[A-Za-z0-9+/]{86}==$/.test(entry.integrity ?? "");
    // A bundled package is part of another one's archive.
    if (!isChecked && entry.inBundle !== true) faults.push("has no SHA-512 in `integrity`");
    return faults.map((fault) => `${name} ${fault}`);
  });
}

/** What is wrong with npm's settings of the project: they would send everybody elsewhere. */
export function settingsFaults(text) {
  return text
    .split("\n")
    .filter((line) => /^\s*([^;#=]*:)?(registry|_auth\w*|strict-ssl|ca(file)?)\s*=/.test(line))
    .map((line) => `.npmrc sets ${line.split("=")[0].trim()}`);
}
