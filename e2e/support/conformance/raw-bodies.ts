import { gzipSync } from "node:zlib";
import { JSON_TYPE } from "./document.ts";
import type { Random } from "./random.ts";

/** A request body as bytes, with its content type. */
export interface RawBody {
  readonly label: string;
  readonly bytes: Buffer;
  readonly headers: Readonly<Record<string, string>>;
  /** Whether the API must refuse every request with this body. */
  readonly isRefused: boolean;
}

type Write = (json: string) => string | Buffer;

/** Bodies with the content type of JSON that are invalid or unusual JSON. */
const BODIES: Readonly<Record<string, { readonly write: Write; readonly isRefused: boolean }>> = {
  "a body that ends early": { write: (json) => json.slice(0, -1), isRefused: true },
  "text behind the body": { write: (json) => `${json}}`, isRefused: true },
  "two bodies": { write: (json) => `${json}\n${json}`, isRefused: true },
  "a comma at the end": { write: (json) => `${json.slice(0, -1)},}`, isRefused: true },
  "a comment": { write: (json) => `/* */${json}`, isRefused: true },
  "single quotes": { write: () => "{'content':'a'}", isRefused: true },
  NaN: { write: () => '{"bytes":NaN}', isRefused: true },
  "a byte order mark": { write: (json) => `\ufeff${json}`, isRefused: true },
  "a byte that is not UTF-8": {
    write: (json) => Buffer.concat([Buffer.from(json.slice(0, -1)), Buffer.from([0x80, 0x7d])]),
    isRefused: true,
  },
  "UTF-16": { write: (json) => Buffer.from(json, "utf16le"), isRefused: true },
  "the key __proto__": { write: (json) => `{"__proto__":{},${json.slice(1)}`, isRefused: true },
  "a list as the body": { write: (json) => `[${json}]`, isRefused: true },
  "null as the body": { write: () => "null", isRefused: true },
  "a text as the body": { write: (json) => JSON.stringify(json), isRefused: true },
  "nesting of 10,000 levels": {
    write: () => `${'{"a":'.repeat(10_000)}1${"}".repeat(10_000)}`,
    isRefused: true,
  },
  "a body of more than 1 MiB": {
    write: (json) => `${json.slice(0, -1)},"x":"${"a".repeat(1_100_000)}"}`,
    isRefused: true,
  },
  "60,000 unknown fields": {
    write: () => `{${Array.from({ length: 60_000 }, (_, i) => `"k${i}":0`).join()}}`,
    isRefused: true,
  },
  "white space around the body": { write: (json) => ` \r\n\t${json}\n `, isRefused: false },
  "every field twice": {
    write: (json) => `${json.slice(0, -1)},${json.slice(1)}`,
    isRefused: false,
  },
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

/** Returns the bytes of a valid JSON object that many servers parse wrongly. */
export function rawBody(json: string, random: Random): RawBody {
  if (random.chance(0.1)) {
    const headers = { "content-type": JSON_TYPE, "content-encoding": "gzip" };
    return { label: "a gzipped body", bytes: gzipSync(json), headers, isRefused: true };
  }
  if (random.chance(0.35)) {
    const headers = random.pick(REFUSED_HEADERS);
    const label = `the headers ${JSON.stringify(headers).slice(0, 80)}`;
    return { label, bytes: Buffer.from(json), headers, isRefused: true };
  }
  const [label, { write, isRefused }] = random.pick(Object.entries(BODIES));
  const bytes = Buffer.from(write(json));
  const headers = { "content-type": random.pick([JSON_TYPE, "application/json; charset=utf-8"]) };
  return { label, bytes, headers, isRefused };
}
