import { readFile } from "node:fs/promises";
import { ServerCredentials } from "@grpc/grpc-js";
import { errorMessage } from "../base/errors.ts";

/** PEM files. */
export interface RpcTls {
  certFile: string;
  keyFile: string;
  /** When told, clients must show a certificate that this authority signed. */
  clientCaFile: string | undefined;
}

/** Rejects with the file that cannot be read. */
export async function serverCredentials(tls: RpcTls | undefined): Promise<ServerCredentials> {
  if (tls === undefined) return ServerCredentials.createInsecure();
  const { certFile, keyFile, clientCaFile } = tls;
  const [cert_chain, private_key] = await Promise.all([readPem(certFile), readPem(keyFile)]);
  const ca = clientCaFile === undefined ? null : await readPem(clientCaFile);
  return ServerCredentials.createSsl(ca, [{ cert_chain, private_key }], ca !== null);
}

async function readPem(path: string): Promise<Buffer> {
  try {
    return await readFile(path);
  } catch (cause) {
    throw new Error(`The TLS file ${path} cannot be read: ${errorMessage(cause)}`, { cause });
  }
}
