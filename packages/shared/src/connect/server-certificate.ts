import { readFileSync } from "node:fs";
import type { Server } from "node:https";
import type { EnvReader } from "#src/config.ts";
import type { Logger } from "#src/telemetry/logger.ts";

export interface CertificateFiles {
  readonly certFile: string;
  readonly keyFile: string;
}

/** A renewed certificate is then used without a restart. */
const REREAD_MS = 60_000;

export function readCertificateFiles(read: EnvReader): CertificateFiles | undefined {
  const certFile = read
    .about(
      "PEM file with the TLS certificate of the service. If it is set, other services must call the service at an `https` address. They need `RPC_TLS_CA_FILE` if a private certificate authority issued the certificate. The file is reloaded every minute.",
      { level: "advanced" },
    )
    .optionalString("RPC_TLS_CERT_FILE");
  const keyFile = read
    .about("PEM file with the private key of `RPC_TLS_CERT_FILE`.", { level: "advanced" })
    .optionalString("RPC_TLS_KEY_FILE");
  if (certFile !== undefined && keyFile !== undefined) return { certFile, keyFile };
  if (certFile !== undefined || keyFile !== undefined)
    read.fail("RPC_TLS_CERT_FILE", "and RPC_TLS_KEY_FILE need each other");
  return undefined;
}

export function readCertificate({ certFile, keyFile }: CertificateFiles) {
  return { cert: readFileSync(certFile), key: readFileSync(keyFile) };
}

/** If the files cannot be used, the server keeps the old certificate. */
export function renewCertificate(server: Server, files: CertificateFiles, logger: Logger): void {
  try {
    server.setSecureContext(readCertificate(files));
  } catch (error) {
    logger.error(
      { err: error },
      "the TLS certificate files could not be reloaded; the server keeps its current certificate until the files can be read",
    );
  }
}

export function watchCertificate(
  server: Server,
  files: CertificateFiles,
  logger: Logger,
): Disposable {
  const timer = setInterval(() => renewCertificate(server, files, logger), REREAD_MS);
  timer.unref();
  return { [Symbol.dispose]: () => clearInterval(timer) };
}
