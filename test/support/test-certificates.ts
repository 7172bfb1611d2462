import { execFileSync } from "node:child_process";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";

export interface TestCertificates {
  /** PEM files. */
  ca: string;
  server: { cert: string; key: string };
  client: { cert: string; key: string };
}

/** An authority with a server's certificate for 127.0.0.1 and a client's, made by openssl. */
export function makeCertificates(folder: string): TestCertificates {
  const ca = join(folder, "ca.pem");
  const caKey = join(folder, "ca.key");
  const days = ["-days", "2"];
  const newKey = ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes"];
  openssl(["req", "-x509", ...newKey, "-keyout", caKey, "-out", ca, ...days, "-subj", "/CN=ca"]);
  const issue = (name: string) => {
    const [cert, key, request] = ["pem", "key", "csr"].map((end) => join(folder, `${name}.${end}`));
    if (cert === undefined || key === undefined || request === undefined) throw new Error(name);
    const extension = join(folder, `${name}.ext`);
    writeFileSync(extension, "subjectAltName=IP:127.0.0.1\n");
    openssl(["req", ...newKey, "-keyout", key, "-out", request, "-subj", `/CN=${name}`]);
    const signing = ["-CA", ca, "-CAkey", caKey, "-CAcreateserial", "-extfile", extension];
    openssl(["x509", "-req", "-in", request, "-out", cert, ...signing, ...days]);
    return { cert, key };
  };
  return { ca, server: issue("server"), client: issue("client") };
}

export function pem(path: string): Buffer {
  return readFileSync(path);
}

function openssl(args: readonly string[]): void {
  execFileSync("openssl", args, { stdio: ["ignore", "ignore", "pipe"], timeout: 30_000 });
}
