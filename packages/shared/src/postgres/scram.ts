import { createHash, createHmac, pbkdf2Sync, randomBytes } from "node:crypto";

/** Number of iterations that Postgres itself uses (`scram_iterations`). */
const ITERATIONS = 4096;
const HASH = "sha256";
const HASH_BYTES = 32;

/**
 * Returns the text that Postgres stores for a password (its SCRAM-SHA-256 verifier, RFC 5802 and RFC 7677). Postgres accepts it
 * in the place of the password, so that the password appears neither in the log of statements nor in `pg_stat_activity`. The
 * verifier cannot be used to log in.
 */
export function toScramVerifier(password: string, salt: Buffer = randomBytes(16)): string {
  // Like the driver, this hashes the bytes of the password as they are, without SASLprep. The two differ only for
  // passwords with characters that have several forms in Unicode.
  const salted = pbkdf2Sync(password, salt, ITERATIONS, HASH_BYTES, HASH);
  const keyOf = (name: string): Buffer => createHmac(HASH, salted).update(name).digest();
  const storedKey = createHash(HASH).update(keyOf("Client Key")).digest("base64");
  const serverKey = keyOf("Server Key").toString("base64");
  return `SCRAM-SHA-256$${ITERATIONS}:${salt.toString("base64")}$${storedKey}:${serverKey}`;
}
