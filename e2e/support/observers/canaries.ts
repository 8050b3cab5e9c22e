import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { buffer } from "node:stream/consumers";
import type { LocalStack } from "@postrider/local/stack/local-file";
import type postgres from "postgres";

/**
 * Secrets by a name that says what the secret is. A failed test prints the name instead of the
 * secret.
 */
export type Secrets = ReadonlyMap<string, string>;

/**
 * Logs, metrics and other texts that must not contain a secret, by the name of the place where they
 * were read.
 */
export type Places = ReadonlyMap<string, string>;

/** Minimum length of a secret: a shorter one may occur in a text by chance. */
const MIN_LENGTH = 10;

/**
 * The three base64 forms of a secret. Base64 encodes the same bytes differently, depending on their
 * offset; the outer characters of each form also encode neighbouring bytes.
 */
function base64Forms(secret: string): string[] {
  return [0, 1, 2].flatMap((before) => {
    const bytes = Buffer.concat([Buffer.alloc(before), Buffer.from(secret)]);
    const whole = bytes.subarray(0, bytes.length - (bytes.length % 3));
    const from = before === 0 ? 0 : 4;
    return [whole.toString("base64").slice(from), whole.toString("base64url").slice(from)];
  });
}

/**
 * Returns the forms in which a secret can occur in a text: as it is, URL-encoded, in JSON, as bytes
 * in hex, and in base64.
 */
export function formsOf(secret: string): ReadonlySet<string> {
  return new Set([
    secret,
    encodeURIComponent(secret),
    JSON.stringify(secret).slice(1, -1),
    Buffer.from(secret).toString("hex"),
    ...base64Forms(secret),
  ]);
}

/** Number of leading characters of a secret that the search looks up at each position of a text. */
const START_LENGTH = 8;

/**
 * Indexes all forms of all secrets by their first characters, so that one pass over a text finds
 * all secrets.
 */
function indexForms(secrets: Secrets) {
  const byStart = new Map<string, { readonly what: string; readonly form: string }[]>();
  for (const [what, secret] of secrets) {
    if (secret.length < MIN_LENGTH) throw new Error(`${what} is too short to be looked for`);
    for (const form of formsOf(secret)) {
      const start = form.slice(0, START_LENGTH);
      const known = byStart.get(start);
      if (known === undefined) byStart.set(start, [{ what, form }]);
      else known.push({ what, form });
    }
  }
  return byStart;
}

/** Number of bits of the hash of the three characters with which a form of a secret begins. */
const HASH_BITS = 20;

/** Hash of the three characters of a text at a position. */
function hashAt(text: string, at: number): number {
  const first = text.charCodeAt(at);
  const second = text.charCodeAt(at + 1);
  const third = text.charCodeAt(at + 2);
  return ((first * 131 + second) * 131 + third) & ((1 << HASH_BITS) - 1);
}

/**
 * Marks the hashes with which forms of secrets begin, so that the search skips most positions of a
 * text cheaply.
 */
function markStarts(starts: Iterable<string>): Uint8Array {
  const marked = new Uint8Array(1 << HASH_BITS);
  for (const start of starts) marked[hashAt(start, 0)] = 1;
  return marked;
}

/**
 * Returns `<name> in <place>` for each secret that occurs in a text, in the order of the secrets.
 */
export function findLeaks(secrets: Secrets, places: Places): readonly string[] {
  const byStart = indexForms(secrets);
  const marked = markStarts(byStart.keys());
  const found = new Set<string>();
  for (const [where, text] of places)
    for (let at = 0; at + START_LENGTH <= text.length; at += 1) {
      if (marked[hashAt(text, at)] === 0) continue;
      for (const { what, form } of byStart.get(text.slice(at, at + START_LENGTH)) ?? [])
        if (text.startsWith(form, at)) found.add(`${what} in ${where}`);
    }

  const names = [...secrets.keys()].flatMap((what) =>
    [...places.keys()].map((where) => `${what} in ${where}`),
  );
  return names.filter((name) => found.has(name));
}

export function readLogFiles({ logs }: LocalStack): Places {
  const names = readdirSync(logs, { recursive: true, withFileTypes: true });
  return new Map(
    names
      .filter((entry) => entry.isFile())
      .map((entry) => [
        `the log ${entry.name}`,
        readFileSync(join(entry.parentPath, entry.name), "utf8"),
      ]),
  );
}

/** Reads the metrics of all processes as text. */
export async function readMetrics({ services }: LocalStack): Promise<Places> {
  const places = new Map<string, string>();
  for (const [service, replicas] of Object.entries(services))
    for (const [index, { metricsUrl }] of replicas.entries())
      places.set(
        `metrics of ${service} ${index + 1}`,
        await (await fetch(`${metricsUrl}/metrics`)).text(),
      );

  return places;
}

/** Reads all rows of every table in every schema. */
export async function readTables(sql: postgres.Sql): Promise<Places> {
  const names = await sql<{ name: string }[]>`
    select format('%I.%I', nspname, relname) as name
    from pg_class
    join pg_namespace on pg_namespace.oid = relnamespace
    where nspname not in ('pg_catalog', 'information_schema', 'pg_toast')
    and relkind = 'r'`;
  const places = new Map<string, string>();
  for (const { name } of names) {
    const rows = await buffer(await sql.unsafe(`copy ${name} to stdout`).readable());
    places.set(`the table ${name}`, rows.toString("utf8"));
  }
  return places;
}
