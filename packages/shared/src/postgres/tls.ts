import { readFileSync } from "node:fs";
import { isIP } from "node:net";
import { checkServerIdentity, type ConnectionOptions } from "node:tls";
import type { EnvReader } from "#src/config.ts";

interface Address {
  readonly host: string;
  readonly parameters: URLSearchParams;
}

const ADDRESS = /^[a-z]+:\/\/(?:[^@/]*@)?([^/?]*)[^?]*(?:\?(.*))?$/;
const LOOPBACK = /^(?:localhost|127\.0\.0\.1|\[::1\])?(?::\d+)?$/;
/** The driver then does not verify the name of the server or its certificate. */
const UNVERIFIED = new Set(["require", "prefer", "allow", "verify-ca"]);

function parseAddress(url: string): Address {
  const [, host = "", query = ""] = ADDRESS.exec(url) ?? [];
  return { host, parameters: new URLSearchParams(query) };
}

export function readDatabaseUrl(read: EnvReader): string {
  return readConnectionString(
    read,
    "DATABASE_URL",
    "Connection string of Postgres for the service, with the service's runtime role. In production, a connection to another machine uses `sslmode=verify-full`. Add `sslrootcert=<file>` for a private certificate authority. `sslmode=disable` turns encryption off; use it only inside a trusted network.",
  );
}

/** In development the role of `DATABASE_URL` may own the tables. */
export function readMigrationDatabaseUrl(read: EnvReader): string {
  const isDevelopment = read.find("POSTRIDER_ENV") === "development";
  if (isDevelopment && !read.has("MIGRATION_DATABASE_URL")) return readDatabaseUrl(read);
  return readConnectionString(
    read,
    "MIGRATION_DATABASE_URL",
    "Connection string of Postgres for `node src/migrate.ts`, with the migration role of the service. Give it only to migrations, because this role may change and drop tables. With `POSTRIDER_ENV=development`, the default is `DATABASE_URL`.",
  );
}

/** In production without `sslmode=disable`: a connection without verification can be redirected. */
export function readConnectionString(read: EnvReader, name: string, description: string): string {
  const url = read.secret(description, { level: "needed" }).string(name);
  const { host, parameters } = parseAddress(url);
  if (url === "" || LOOPBACK.test(host) || read.find("POSTRIDER_ENV") === "development") return url;
  const mode = parameters.get("sslmode") ?? "";
  if (UNVERIFIED.has(mode))
    read.fail(
      name,
      `has sslmode=${mode}, which does not verify the server; use sslmode=verify-full, with sslrootcert=<file> for a private authority, or sslmode=disable inside a trusted network`,
    );
  return mode === "" ? `${url}${url.includes("?") ? "&" : "?"}sslmode=verify-full` : url;
}

/** Without `ssl`, the driver follows the string alone. */
interface TlsOptions {
  readonly url: string;
  readonly ssl?: Pick<ConnectionOptions, "ca" | "checkServerIdentity">;
}

/** The driver does not know `sslrootcert`. An authority or `verify-full` verifies the name. */
export function toTlsOptions(url: string): TlsOptions {
  const { host, parameters } = parseAddress(url);
  const file = parameters.get("sslrootcert");
  if (parameters.get("sslmode") === "disable") return { url };
  if (file === null || file === "system")
    return parameters.get("sslmode") === "verify-full" ? { url, ssl: checkName(host) } : { url };
  parameters.delete("sslrootcert");
  const [base = ""] = url.split("?");
  const ssl = { ca: readFileSync(file, "utf8"), ...checkName(host) };
  return { url: `${base}?${parameters.toString()}`, ssl };
}

/** The driver does not tell Node the IP, and Node would accept a certificate for `localhost`. */
function checkName(hosts: string): Pick<ConnectionOptions, "checkServerIdentity"> {
  const names = hosts.split(",").map((host) => host.replace(/:\d+$/, "").replace(/^\[|\]$/g, ""));
  const addresses = names.filter((name) => isIP(name) > 0);
  const [first] = addresses;
  if (first === undefined) return {};
  return {
    checkServerIdentity: (name, certificate) => {
      if (names.includes(name)) return checkServerIdentity(name, certificate);
      const faults = addresses.map((address) => checkServerIdentity(address, certificate));
      return faults.includes(undefined) ? undefined : faults[0];
    },
  };
}
