import { createHash } from "node:crypto";

/**
 * Lower-case hex SHA-256 of a JSON value with sorted keys: two bodies have the same fingerprint exactly when they are
 * the same JSON value, whatever their white space and order of keys. The fingerprint of an absent body differs from
 * that of every JSON value.
 */
export function fingerprint(value: unknown): string {
  return createHash("sha256").update(canonicalJson(value)).digest("hex");
}

function canonicalJson(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(canonicalJson).join(",")}]`;
  if (typeof value === "object" && value !== null) return canonicalObject(value);
  return value === undefined ? "" : JSON.stringify(value);
}

function canonicalObject(value: object): string {
  const members = Object.entries(value)
    .filter(([, member]) => member !== undefined)
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([key, member]) => `${JSON.stringify(key)}:${canonicalJson(member)}`);
  return `{${members.join(",")}}`;
}

/**
 * The size of a post's text in bytes: `content` in UTF-8, plus `options` as JSON without white space. Works for any JSON
 * value, because the schema has not been checked yet.
 */
export function contentBytes(body: unknown): number {
  if (typeof body !== "object" || body === null) return 0;
  const content = "content" in body && typeof body.content === "string" ? body.content : "";
  const options = "options" in body ? (JSON.stringify(body.options) ?? "") : "";
  return Buffer.byteLength(content) + Buffer.byteLength(options);
}
