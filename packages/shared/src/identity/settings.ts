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

export interface OwnIdentity {
  readonly name: string;
  /** The first one signs. */
  readonly keys: readonly [PrivateIdentityKey, ...PrivateIdentityKey[]];
  /** PEM of the authority of the services' certificates; undefined: the public authorities. */
  readonly ca?: string | undefined;
}

export interface TrustedKey {
  readonly name: string;
  readonly publicKey: string;
  readonly key: KeyObject;
}

export interface TrustConfig {
  readonly trustedKeys: readonly TrustedKey[];
  readonly certificate?: CertificateFiles | undefined;
}

export function readIdentity(read: EnvReader, name: string): OwnIdentity {
  const setting = read.secret(
    "Private keys that prove to other services which service a process belongs to. Each service has its own; `postrider identity create` makes them. The process uses the first key of the list. A second key is needed only while a key is replaced.",
    { level: "needed" },
  );
  const texts = setting.secrets("IDENTITY_KEYS", 43);
  const identity = toIdentity(name, texts);
  if (identity === undefined && texts[0] !== "")
    read.fail("IDENTITY_KEYS", "must list private keys, each as base64url of 32 bytes");
  return { ...(identity ?? { name, keys: [NO_KEY] }), ca: readAuthority(read) };
}

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

/** Undefined when a key is invalid or there is none. */
export function toIdentity(name: string, texts: readonly string[]): OwnIdentity | undefined {
  const [first, ...others] = texts.map(parsePrivateKey);
  if (first === undefined) return undefined;
  const rest = others.filter((key) => key !== undefined);
  return rest.length < others.length ? undefined : { name, keys: [first, ...rest] };
}

/** Stands in for the key until `loadConfig` reports that it is missing. */
const NO_KEY = { publicKey: "", text: "" } as PrivateIdentityKey;

const TRUSTED_ENTRY = /^([a-z]+(?:-[a-z]+)*):(.+)$/;

export function readTrustConfig(read: EnvReader): TrustConfig {
  const list = read
    .about(
      "Public keys of all services and of the `postrider` command, as `name:key`. All services need the same list. A name may have several keys, so that keys can be replaced without downtime.",
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
  // The key id in a token must stand for one public key and so for one process.
  if (new Set(trustedKeys.map(({ publicKey }) => keyIdOf(publicKey))).size < trustedKeys.length)
    read.fail("TRUSTED_IDENTITIES", "contains the same key twice");
  return { trustedKeys, certificate: readCertificateFiles(read) };
}
