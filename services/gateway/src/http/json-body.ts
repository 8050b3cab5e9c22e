import type { RequestViolation } from "#src/http/schema-faults.ts";

/**
 * Result of parsing a request body: the value, which is not yet checked against a schema, or the
 * mistakes.
 */
export type ParsedBody =
  | { readonly ok: true; readonly value: unknown }
  | { readonly ok: false; readonly violations: readonly RequestViolation[] };

const MAX_LEVELS = 64;
const MAX_FAULTS = 100;
/** Maximum per list or object in a request body. Every field of the API needs fewer. */
const MAX_MEMBERS = 1_000;
/** Maximum for all lists and objects of a request body together. */
const MAX_MEMBERS_IN_ALL = 12_000;

/** JSON does not allow it in front of the body. */
const BYTE_ORDER_MARK = "\ufeff";
// A byte order mark is kept as a character, so that the answer can name it.
const UTF8 = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });

/**
 * Parses a JSON body in strict UTF-8. Refuses NUL characters and unpaired surrogates in any text or
 * key, more than 64 levels of nesting, and the key `__proto__`, because some code would take it for
 * a prototype. Also refuses lists and objects that are longer than any schema allows, because
 * listing the mistakes in half a million items would take seconds.
 */
export function parseJsonBody(bytes: Buffer): ParsedBody {
  const text = decode(bytes);
  if (text === undefined) return { ok: false, violations: [{ code: "invalid_utf8", path: "" }] };
  const parsed = parse(text);
  if (!("value" in parsed))
    return { ok: false, violations: [{ code: "invalid_json", path: "", ...parsed }] };
  const walk: Walk = { faults: [], checksTexts: needsTextCheck(text), members: 0 };
  inspect(parsed.value, "", 1, walk);
  if (walk.faults.length > 0) return { ok: false, violations: walk.faults };
  return { ok: true, value: parsed.value };
}

/** Undefined for other bytes. In UTF-16 and UTF-32, one of the first two bytes of JSON is zero. */
function decode(bytes: Buffer): string | undefined {
  if (bytes.subarray(0, 2).includes(0)) return undefined;
  try {
    return UTF8.decode(bytes);
  } catch {
    return undefined;
  }
}

type Parsed =
  | { readonly value: unknown }
  | Pick<RequestViolation, "reason" | "variant" | "found" | "expected">;

/**
 * Returns the value of a JSON text or, if the parser reports it, the place and kind of its syntax
 * error.
 */
function parse(text: string): Parsed {
  try {
    if (text.startsWith(BYTE_ORDER_MARK)) return { variant: "byte_order_mark" };
    const value: unknown = JSON.parse(text);
    return { value };
  } catch (error) {
    return error instanceof SyntaxError ? explain(error.message, text) : {};
  }
}

/** The characters that JSON does not allow inside a text as they are, but only as this escape. */
const ESCAPES: Readonly<Record<string, readonly [name: string, escape: string]>> = {
  "\n": ["a line break", String.raw`\n`],
  "\r": ["a line break", String.raw`\r\n`],
  "\t": ["a tab", String.raw`\t`],
};

/**
 * Explains a syntax error. From the parser's message, only its beginning and the position of the
 * error are used, because the message repeats parts of the body.
 */
function explain(message: string, text: string): Exclude<Parsed, { value: unknown }> {
  const [, position, line, column] =
    /at position (\d+) \(line (\d+) column (\d+)\)$/.exec(message) ?? [];
  if (position === undefined) return {};
  const place = { reason: `line ${line}, column ${column}` };
  const [found, expected] = ESCAPES[text[Number(position)] ?? ""] ?? [];
  const isUnescaped = message.startsWith("Bad control character in string literal");
  if (!isUnescaped || found === undefined || expected === undefined) return place;
  return { ...place, variant: "unescaped", found, expected };
}

/**
 * Whether the texts and keys of a JSON body have to be checked for NUL characters and surrogates.
 * JSON does not allow a raw NUL, and UTF-8 does not allow a raw surrogate, so both can only be
 * written as an escape.
 */
function needsTextCheck(text: string): boolean {
  return text.includes("\\u") || text.includes("__proto__");
}

interface Walk {
  readonly faults: RequestViolation[];
  readonly checksTexts: boolean;
  members: number;
}

function inspect(value: unknown, path: string, level: number, walk: Walk): void {
  if (typeof value === "string") {
    if (walk.checksTexts) inspectText(value, path, walk);
    return;
  }
  if (typeof value !== "object" || value === null) return;
  // The mistake about too many levels of nesting has no path, because the path would repeat most of
  // the request body.
  if (level > MAX_LEVELS) return addFault(walk, { code: "too_deep", path: "", limit: MAX_LEVELS });
  const count = Array.isArray(value) ? value.length : Object.keys(value).length;
  walk.members += count;
  if (count > MAX_MEMBERS || walk.members > MAX_MEMBERS_IN_ALL)
    return addFault(walk, tooManyMembers(value, path, count));
  inspectMembers(value, path, level, walk);
}

function tooManyMembers(value: object, path: string, actual: number): RequestViolation {
  const code = Array.isArray(value) ? "max_items" : "max_properties";
  return actual > MAX_MEMBERS ? { code, path, limit: MAX_MEMBERS, actual } : { code, path };
}

function inspectMembers(value: object, path: string, level: number, walk: Walk): void {
  for (const [key, member] of Object.entries(value)) {
    // If the texts of the body need no check for NUL characters and surrogates, only its lists and
    // objects are visited.
    if (!walk.checksTexts && (typeof member !== "object" || member === null)) continue;
    const memberPath = `${path}/${key.replaceAll("~", "~0").replaceAll("/", "~1")}`;
    if (walk.checksTexts) inspectText(key, path, walk);
    if (key === "__proto__") addFault(walk, { code: "additional_property", path: memberPath });
    inspect(member, memberPath, level + 1, walk);
  }
}

function inspectText(text: string, path: string, walk: Walk): void {
  if (text.includes("\0")) addFault(walk, { code: "nul_character", path });
  if (!text.isWellFormed()) addFault(walk, { code: "unpaired_surrogate", path });
}

function addFault(walk: Walk, fault: RequestViolation): void {
  if (walk.faults.length < MAX_FAULTS) walk.faults.push(fault);
}
