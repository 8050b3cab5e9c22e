import type { EnvReader } from "#src/config/env-reader.ts";
import { isLocalUrl } from "#src/config/internal-network.ts";

/** They allow private addresses, simulated accounts and deliberate crashes. */
const NOT_IN_PRODUCTION = ["OUTBOUND_ALLOW", "SIMULATOR_URL", "FAILPOINTS_DIR"];

/** Tokens and posts are sent over these addresses. */
const HTTPS_ONLY = /^PUBLIC_URL$|_BASE_URL$/;

/** Its addresses let anyone who reads them upload a file. */
const HTTPS_BEYOND_LOOPBACK = "S3_PUBLIC_ENDPOINT";

/** Lists of keys, each with an optional name in front, that an operator generates. */
const OWN_KEYS = new Set(["CREDENTIAL_KEYS", "HANDLE_KEYS", "IDENTITY_KEYS", "MEDIA_KEY"]);
/** Minimum entropy of a key. A key of 16 random bytes, written in hexadecimal, passes. */
const MIN_KEY_BITS = 72;
/** Those of Postgres and Kafka; a platform or an object store has made other secrets. */
const PASSWORDS = /DATABASE_URL$|_PASSWORD$/;
/** Lower than for keys, because some hosting providers choose the password. */
const MIN_PASSWORD_BITS = 26;

/** Parts of this repository's secrets, and of placeholders that people write instead. */
const PUBLISHED = /local-only|postrider|change[-_ ]?me|example|password|simulated|insecure/i;
/** The private keys are in this repository's manifests too, so any caller could use them. */
const PUBLISHED_IDENTITIES = [
  "pSrHgqREfDUz6DdFwfP6_DnT8H2pWKEK5Ao-QEnqMec",
  "NsMdAbtI-N7qZWDKMQWX282wJJ8LTOJKPOG8R6EBvhw",
  "3Lnv7u6PKTA_YaywrMQdJa8aNfuAzGo-_8FyQMGvhN4",
  "VAaLbZaNYlth_bH6sBDivphu6SwrujxZT4bVyMm0ZCU",
  "d02cciG6gPyOKRCztoJtctiqI2VLbzHdadhtacmqsPA",
  "fW8hoYkgOchT6ODJoH3f_80mQF3H527uCeSlzQURWw0",
];
/** Several words in a row, which random keys do not contain. */
const WORDS = /[a-z] [a-z]|(?:^|[^A-Za-z])[a-z]{4,}[-_.][a-z]{4,}[-_.][a-z]{4,}/;

/** Production is the default, so that an installation without `POSTRIDER_ENV` is a safe one. */
export function readEnvironment(read: EnvReader): "development" | "production" {
  return read
    .about(
      `With \`production\`, a process does not start if one of ${NOT_IN_PRODUCTION.join(", ")} is set, if \`PUBLIC_URL\`, \`S3_PUBLIC_ENDPOINT\` or the address of a platform begins with http:, if a connection to Postgres on another machine would not verify the server's certificate, or if a secret is easy to guess or is an example of this project. Use \`development\` for trials and tests.`,
      { level: "needed" },
    )
    .oneOf("POSTRIDER_ENV", ["development", "production"], "production");
}

/** Whether the process reads `POSTRIDER_ENV`, and it is not `development`. */
export function isProduction(reader: EnvReader): boolean {
  const isProcess = reader.settings.some(({ name }) => name === "POSTRIDER_ENV");
  return isProcess && reader.find("POSTRIDER_ENV") !== "development";
}

/** Settings for tests, plain http, secrets that others know. Messages contain no secret. */
export function findProductionFaults(reader: EnvReader): readonly string[] {
  const faults = NOT_IN_PRODUCTION.filter((name) => reader.has(name)).map(
    (name) => `${name} must not be set with POSTRIDER_ENV=production`,
  );
  const trusted = reader.find("TRUSTED_IDENTITIES") ?? "";
  if (PUBLISHED_IDENTITIES.some((key) => trusted.includes(key)))
    faults.push(
      "TRUSTED_IDENTITIES has a published or example value; remove the keys of the examples",
    );
  for (const { name, isSecret, default: shownDefault } of reader.settings) {
    const shown = shownDefault.replaceAll("`", "");
    const value = reader.find(name);
    const found = [
      needsHttps(name, value) ? findHttpFault(value, shown) : undefined,
      isSecret && value !== undefined ? findSecretFault(name, value) : undefined,
    ];
    for (const fault of found) if (fault !== undefined) faults.push(`${name} ${fault}`);
  }
  return faults;
}

function needsHttps(name: string, value: string | undefined): boolean {
  if (name === HTTPS_BEYOND_LOOPBACK) return value !== undefined && !isLocalUrl(value);
  return HTTPS_ONLY.test(name);
}

function findHttpFault(address: string | undefined, byDefault: string): string | undefined {
  if ((address ?? byDefault).startsWith("https://")) return undefined;
  const isMissing = address === undefined ? "is required and " : "";
  return `${isMissing}must begin with https:// with POSTRIDER_ENV=production`;
}

function findSecretFault(name: string, value: string): string | undefined {
  const texts = OWN_KEYS.has(name) ? value.split(",").map(withoutKeyId) : [toPassword(value)];
  if (texts.some((text) => isPublished(text)))
    return "is a published or example value; make one of your own, for example with `openssl rand -base64 32`";
  const minBits = minBitsOf(name);
  if (texts.some((text) => text !== "" && isGuessable(text, minBits)))
    return "is easy to guess; make a random one, for example with `openssl rand -base64 32`";
  return undefined;
}

/** 0: not checked, because a platform or an object store has made the secret. */
function minBitsOf(name: string): number {
  if (OWN_KEYS.has(name)) return MIN_KEY_BITS;
  return PASSWORDS.test(name) ? MIN_PASSWORD_BITS : 0;
}

/** The key in a list entry such as `k1:key`. */
function withoutKeyId(entry: string): string {
  return entry.trim().replace(/^[A-Za-z0-9_-]{1,32}:/, "");
}

/** The password in a Postgres connection string; any other secret unchanged. */
function toPassword(value: string): string {
  if (!/^postgres(ql)?:/.test(value)) return value;
  const password = /^\w+:\/\/[^:@/]*:([^@/]*)@/.exec(value)?.[1] ?? "";
  try {
    return decodeURIComponent(password);
  } catch {
    return password;
  }
}

function isPublished(text: string): boolean {
  return PUBLISHED.test(text) || PUBLISHED.test(Buffer.from(text, "base64").toString("latin1"));
}

function isGuessable(text: string, minBits: number): boolean {
  if (minBits === 0) return false;
  const decoded = Buffer.from(text, "base64").toString("latin1");
  const isText = text.length >= 40 && /^[\x20-\x7e]*$/.test(decoded);
  return estimateBits(text) < minBits || (minBits === MIN_KEY_BITS && (WORDS.test(text) || isText));
}

/** Entropy per character times different pairs of neighbours, so that repeats count once. */
function estimateBits(text: string): number {
  const pairs = new Set(Array.from({ length: text.length - 1 }, (_, at) => text.slice(at, at + 2)));
  const counts = new Map<string, number>();
  for (const character of text) counts.set(character, (counts.get(character) ?? 0) + 1);
  const perCharacter = [...counts.values()]
    .map((count) => count / text.length)
    .reduce((bits, share) => bits - share * Math.log2(share), 0);
  return perCharacter * (pairs.size + 1);
}
