import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { buffer } from "node:stream/consumers";
import type { LocalStack } from "@postrider/local/local-file";
import type postgres from "postgres";

/** Secrets by what they are, so that a failure names them without telling them. */
export type Secrets = ReadonlyMap<string, string>;

/** Texts in which no secret may be, by where they lie. */
export type Places = ReadonlyMap<string, string>;

/** Shorter ones are in many a text by chance. */
const MIN_LENGTH = 10;

/** Base64 shows the same bytes in three ways, by how many stand before them; the outer letters hold neighbours too. */
function base64Forms(secret: string): string[] {
  return [0, 1, 2].flatMap((before) => {
    const bytes = Buffer.concat([Buffer.alloc(before), Buffer.from(secret)]);
    const whole = bytes.subarray(0, bytes.length - (bytes.length % 3));
    const from = before === 0 ? 0 : 4;
    return [whole.toString("base64").slice(from), whole.toString("base64url").slice(from)];
  });
}

/** What a secret looks like in a text: as it is, in an address, in JSON, as bytes in hex, and in base64. */
export function formsOf(secret: string): ReadonlySet<string> {
  return new Set([
    secret,
    encodeURIComponent(secret),
    JSON.stringify(secret).slice(1, -1),
    Buffer.from(secret).toString("hex"),
    ...base64Forms(secret),
  ]);
}

/** `what in where` of each secret that is found. */
export function findLeaks(secrets: Secrets, places: Places): readonly string[] {
  return [...secrets].flatMap(([what, secret]) => {
    if (secret.length < MIN_LENGTH) throw new Error(`${what} is too short to be looked for`);
    const forms = [...formsOf(secret)];
    return [...places].flatMap(([where, text]) =>
      forms.some((form) => text.includes(form)) ? [`${what} in ${where}`] : [],
    );
  });
}

/** Every file that a process of the stack wrote its lines to. */
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

/** What each process counts. */
export async function readMetrics({ services }: LocalStack): Promise<Places> {
  const places = new Map<string, string>();
  for (const [service, replicas] of Object.entries(services)) {
    for (const [index, { metricsUrl }] of replicas.entries())
      places.set(
        `metrics of ${service} ${index + 1}`,
        await (await fetch(`${metricsUrl}/metrics`)).text(),
      );
  }
  return places;
}

/** Every table of every schema, whole. */
export async function readTables(sql: postgres.Sql): Promise<Places> {
  const names = await sql<{ name: string }[]>`
    select format('%I.%I', schemaname, tablename) as name
    from pg_tables
    where schemaname not in ('pg_catalog', 'information_schema')`;
  const places = new Map<string, string>();
  for (const { name } of names) {
    const rows = await buffer(await sql.unsafe(`copy ${name} to stdout`).readable());
    places.set(`the table ${name}`, rows.toString("utf8"));
  }
  return places;
}
