import { createHash, createHmac, pbkdf2Sync, randomBytes } from "node:crypto";

/** As Postgres itself (`scram_iterations`). */
const ITERATIONS = 4096;
const HASH = "sha256";
const HASH_BYTES = 32;

/**
 * The SCRAM-SHA-256 verifier (RFC 5802, RFC 7677), which Postgres accepts in the place of the
 * password: so that appears neither in the log of statements nor in `pg_stat_activity`. The
 * verifier cannot be used to log in.
 */
export function toScramVerifier(password: string, salt: Buffer = randomBytes(16)): string {
  // Like the driver, without SASLprep: the two differ only for characters that have several forms
  // in Unicode.
  const salted = pbkdf2Sync(password, salt, ITERATIONS, HASH_BYTES, HASH);
  const keyOf = (name: string): Buffer => createHmac(HASH, salted).update(name).digest();
  const storedKey = createHash(HASH).update(keyOf("Client Key")).digest("base64");
  const serverKey = keyOf("Server Key").toString("base64");
  return `SCRAM-SHA-256$${ITERATIONS}:${salt.toString("base64")}$${storedKey}:${serverKey}`;
}
