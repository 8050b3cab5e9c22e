import { gzipSync } from "node:zlib";
import { JSON_TYPE, type Operation } from "./document.ts";
import type { Session } from "./session.ts";

type Write = (json: string) => string | Buffer;

/** What the API refuses in each body: invalid JSON, and texts that a JSON Schema cannot forbid. */
const REFUSED_BODIES: Readonly<Record<string, Write>> = {
  "a body that ends early": (json) => json.slice(0, -1),
  "text behind the body": (json) => `${json}}`,
  "two bodies": (json) => `${json}\n${json}`,
  "a comma at the end": (json) => `${json.slice(0, -1)},}`,
  "a comment": (json) => `/* */${json}`,
  "single quotes": () => "{'content':'a'}",
  NaN: () => '{"bytes":NaN}',
  "a byte order mark": (json) => `\ufeff${json}`,
  "a byte that is not UTF-8": (json) =>
    Buffer.concat([Buffer.from(json.slice(0, -1)), Buffer.from([0x80, 0x7d])]),
  "UTF-16": (json) => Buffer.from(json, "utf16le"),
  "the key __proto__": (json) => `{"__proto__":{},${json.slice(1)}`,
  "a list as the body": (json) => `[${json}]`,
  "null as the body": () => "null",
  "a text as the body": (json) => JSON.stringify(json),
  "nesting of 10,000 levels": () => `${'{"a":'.repeat(10_000)}1${"}".repeat(10_000)}`,
  "a body of more than 1 MiB": (json) => `${json.slice(0, -1)},"x":"${"a".repeat(1_100_000)}"}`,
  "60,000 unknown fields": () =>
    `{${Array.from({ length: 60_000 }, (_, i) => `"k${i}":0`).join()}}`,
  "a NUL character": (json) => json.replace(/:"[^"]*"/, ':"a\\u0000b"'),
  "an unpaired surrogate": (json) => json.replace(/:"[^"]*"/, ':"a\\udfff"'),
};

/** Bodies that the API may accept, and that other servers understand differently. */
const UNUSUAL_BODIES: Readonly<Record<string, Write>> = {
  "white space around the body": (json) => ` \r\n\t${json}\n `,
  "every field twice": (json) => `${json.slice(0, -1)},${json.slice(1)}`,
};

/** Content headers with which the API refuses every body that is not empty. */
const REFUSED_HEADERS: readonly Readonly<Record<string, string>>[] = [
  {},
  { "content-type": "" },
  { "content-type": "text/plain" },
  { "content-type": "application/xml" },
  { "content-type": "application/x-www-form-urlencoded" },
  { "content-type": "multipart/form-data; boundary=a" },
  { "content-type": "application/json; charset=latin1" },
  { "content-type": "application/json, text/plain" },
  { "content-type": "application/merge-patch+json" },
  { "content-type": "x".repeat(2_000) },
  { "content-type": JSON_TYPE, "content-encoding": "br" },
];

/**
 * Sends the body of an example of the operation in each form that the API must refuse, and in forms
 * that many servers parse wrongly. Ids in the path are those of no resource.
 */
export async function sendBrokenBodies(session: Session, operation: Operation): Promise<void> {
  if (operation.example === undefined) return;
  const json = JSON.stringify(operation.example);
  const headers = { "content-type": JSON_TYPE };
  const send = (label: string, expectation: "refused" | "open", body: Buffer, of: object) =>
    session.send(operation, { label, expectation, bytes: body, headers: { ...of } });
  for (const [label, write] of Object.entries(REFUSED_BODIES))
    await send(label, "refused", Buffer.from(write(json)), headers);
  for (const [label, write] of Object.entries(UNUSUAL_BODIES))
    await send(label, "open", Buffer.from(write(json)), headers);
  for (const refused of REFUSED_HEADERS)
    await send(`the headers ${JSON.stringify(refused)}`, "refused", Buffer.from(json), refused);
  const gzip = { ...headers, "content-encoding": "gzip" };
  await send("a gzipped body", "refused", gzipSync(json), gzip);
}

/** Sends a request without an API key, and one with a key that lacks the scope of the operation. */
export async function sendWithoutRights(session: Session, operation: Operation): Promise<void> {
  const { scope, example } = operation;
  if (scope === undefined) return;
  const sent = example === undefined ? {} : { body: example };
  const none = { authorization: "" };
  await session.send(operation, { ...sent, expectation: "unauthenticated", headers: none });
  if (scope !== LIMITED_SCOPE)
    await session.send(operation, { ...sent, expectation: "forbidden", isLimited: true });
}

/** The only scope of the API key with limited rights. */
export const LIMITED_SCOPE = "accounts:read";
