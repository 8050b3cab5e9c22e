import { createHash } from "node:crypto";
import type { Reply } from "#src/http/call.ts";
import { refuse } from "#src/youtube/errors.ts";

export function requireParameter(query: URLSearchParams, name: string): string {
  const value = query.get(name) ?? "";
  return value === ""
    ? refuse(400, "missingRequiredParameter", {
        message: `No filter selected. Expected one of: ${name}`,
        domain: "youtube.parameter",
        location: name,
      })
    : value;
}

/**
 * Reads `part`, which names groups of fields. Refuses a call without a part, or with an unknown
 * one.
 */
export function partsOf(query: URLSearchParams, known: readonly string[]): ReadonlySet<string> {
  const names = query.getAll("part").flatMap((value) => value.split(","));
  for (const name of names)
    if (!known.includes(name))
      refuse(400, "unknownPart", { message: name, domain: "youtube.part", location: "part" });

  if (names.length === 0) requireParameter(query, "part");
  return new Set(names);
}

/** The simulator ignores it in conditional requests. */
export function etagOf(resource: unknown): string {
  return createHash("sha1").update(JSON.stringify(resource)).digest("base64url");
}

/** The groups of fields that the call's parameter `part` names. */
export function chosen<Groups extends object>(
  parts: ReadonlySet<string>,
  groups: Groups,
): Partial<Groups> {
  const named = Object.entries(groups).filter(([name]) => parts.has(name));
  return Object.fromEntries(named) as Partial<Groups>;
}

export function listReply(kind: string, items: readonly unknown[], more: object = {}): Reply {
  const pageInfo = { totalResults: items.length, resultsPerPage: items.length };
  return { status: 200, body: { kind, etag: etagOf(items), items, pageInfo, ...more } };
}
