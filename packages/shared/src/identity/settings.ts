import type { KeyObject } from "node:crypto";
import { readFileSync } from "node:fs";
import type { EnvReader } from "#src/config.ts";
import { readCertificateFiles, type CertificateFiles } from "#src/connect/server-certificate.ts";
import {
  keyIdOf,
  parsePrivateKey,
  parsePublicKey,
  type PrivateIdentityKey,
} from "./identity-keys.ts";

/** The name with which a process calls other services, and the keys that prove this name. */
export interface OwnIdentity {
  /** Name of the service, or `operator` for the operator's tool. */
  readonly name: string;
  /** The private keys of the process. The first one signs its identity tokens. */
  readonly keys: readonly [PrivateIdentityKey, ...PrivateIdentityKey[]];
  /** PEM of the certificate authority that signs the services' certificates; undefined = the public authorities. */
  readonly ca?: string | undefined;
}

/** A public key, and the process that it belongs to. */
export interface TrustedKey {
  readonly name: string;
  readonly publicKey: string;
  readonly key: KeyObject;
}

/** What a service needs in order to check its callers. */
export interface TrustConfig {
  /** The public keys of all processes that may call this service. */
  readonly trustedKeys: readonly TrustedKey[];
  /** The certificate of this service; undefined = calls are not encrypted. */
  readonly certificate?: CertificateFiles | undefined;
}

/** Reads the identity with which a process calls the services. Error messages never contain the keys. */
export function readIdentity(read: EnvReader, name: string): OwnIdentity {
  const setting = read.secret(
    "Private keys with which a process proves to the other services to which service it belongs; each service has keys of its own. `postrider identity create` makes them. The process uses the first key of the list; the list has two keys only while a key is replaced.",
    { level: "needed" },
  );
  const texts = setting.secrets("IDENTITY_KEYS", 43);
  const identity = toIdentity(name, texts);
  if (identity === undefined && texts[0] !== "")
    read.fail("IDENTITY_KEYS", "must list private keys, each as base64url of 32 bytes");
  return { ...(identity ?? { name, keys: [NO_KEY] }), ca: readAuthority(read) };
}

/** Reads the certificate authority that the process trusts in calls to other services. */
function readAuthority(read: EnvReader): string | undefined {
  const file = read
    .about(
      "PEM file of the certificate authority that signed the services' TLS certificates, if it is not a public authority.",
      { level: "advanced" },
    )
    .optionalString("RPC_TLS_CA_FILE");
  if (file === undefined) return undefined;
  try {
    return readFileSync(file, "utf8");
  } catch (error) {
    read.fail("RPC_TLS_CA_FILE", `cannot be read: ${String(error)}`);
    return undefined;
  }
}

/** Creates an identity from its private keys; undefined when one of them is invalid or there is none. */
export function toIdentity(name: string, texts: readonly string[]): OwnIdentity | undefined {
  const [first, ...others] = texts.map(parsePrivateKey);
  if (first === undefined) return undefined;
  const rest = others.filter((key) => key !== undefined);
  return rest.length < others.length ? undefined : { name, keys: [first, ...rest] };
}

/** Placeholder for a private key that is missing in the settings, until `loadConfig` reports that it is missing. */
const NO_KEY = { publicKey: "", text: "" } as PrivateIdentityKey;

const TRUSTED_ENTRY = /^([a-z]+(?:-[a-z]+)*):(.+)$/;

/** Reads the public keys of the processes that may call this service. */
export function readTrustConfig(read: EnvReader): TrustConfig {
  const list = read
    .about(
      "Public keys of all services and of the `postrider` command, as `name:key`; the same list for all services. A name may have several keys, so that keys can be replaced without downtime.",
      { level: "needed", default: "required" },
    )
    .list("TRUSTED_IDENTITIES");
  if (list.length === 0) read.fail("TRUSTED_IDENTITIES", "is required");
  const trustedKeys = list.flatMap((entry) => {
    const [, name = "", publicKey = ""] = TRUSTED_ENTRY.exec(entry) ?? [];
    const key = parsePublicKey(publicKey);
    if (key !== undefined) return [{ name, publicKey, key }];
    read.fail("TRUSTED_IDENTITIES", `must list name:base64url of 32 bytes; invalid: ${entry}`);
    return [];
  });
  // The key id in an identity token must stand for one public key and so for one process.
  if (new Set(trustedKeys.map(({ publicKey }) => keyIdOf(publicKey))).size < trustedKeys.length)
    read.fail("TRUSTED_IDENTITIES", "contains the same key twice");
  return { trustedKeys, certificate: readCertificateFiles(read) };
}
