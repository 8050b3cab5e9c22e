import { type Call, isRecord } from "#src/http/call.ts";
import { bodyFields } from "#src/http/multipart.ts";
import { refuse } from "#src/telegram/errors.ts";
import type { Post } from "#src/world/posts.ts";

export type Parameters = ReadonlyMap<string, unknown>;

/** Unknown parameters are ignored, as in the real API. */
export function parametersOf(call: Call): Parameters {
  const fields = bodyFields(call) ?? refuse("can't parse the body");
  return new Map<string, unknown>([...call.query, ...fields]);
}

export function textOf(parameters: Parameters, name: string): string {
  const value = parameters.get(name);
  return typeof value === "string" || typeof value === "number" ? String(value) : "";
}

/** Undefined unless the value is a positive integer, as a number or a string. */
export function idOf(value: unknown): number | undefined {
  const id = typeof value === "string" && /^\d+$/.test(value) ? Number(value) : value;
  return typeof id === "number" && Number.isSafeInteger(id) && id > 0 ? id : undefined;
}

/** Sent as JSON or, in forms and queries, as a JSON string; empty for other values. */
export function listOf(parameters: Parameters, name: string): readonly unknown[] {
  let list = parameters.get(name);
  if (typeof list === "string")
    try {
      list = JSON.parse(list) as unknown;
    } catch {
      return refuse(`can't parse ${name}`);
    }

  return Array.isArray(list) ? (list as unknown[]) : [];
}

export function idsOf(parameters: Parameters, name: string): number[] {
  return listOf(parameters, name)
    .map(idOf)
    .filter((id) => id !== undefined);
}

function isTrue(value: unknown): boolean {
  return value === true || value === "true" || value === "True";
}

function objectOf(parameters: Parameters, name: string): Readonly<Record<string, unknown>> {
  const value = parameters.get(name) ?? {};
  const parsed = typeof value === "string" ? parse(value, name) : value;
  return isRecord(parsed) ? parsed : refuse(`can't parse ${name}: expected an Object`);
}

function parse(text: string, name: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return refuse(`can't parse ${name} JSON object`);
  }
}

function parseModeOf(parameters: Parameters): unknown {
  const own = parameters.get("parse_mode");
  if (own !== undefined || !parameters.has("media")) return own;
  return listOf(parameters, "media")
    .filter(isRecord)
    .map((entry) => entry["parse_mode"])
    .find((mode) => mode !== undefined);
}

export function postOptions(parameters: Parameters): Post["options"] {
  const mode = parseModeOf(parameters);
  const options = {
    ...(mode === undefined ? {} : { parse_mode: mode }),
    ...(isTrue(parameters.get("disable_notification")) ? { disable_notification: true } : {}),
    ...(isTrue(objectOf(parameters, "link_preview_options")["is_disabled"])
      ? { link_preview_options: { is_disabled: true } }
      : {}),
  };
  return Object.keys(options).length === 0 ? undefined : options;
}

const TAGS = new Set(
  "b strong i em u ins s strike del span tg-spoiler tg-emoji a code pre blockquote".split(" "),
);

const ENTITIES: Readonly<Record<string, string>> = { lt: "<", gt: ">", amp: "&", quot: '"' };
const MARKUP = /<(\/?)([a-z][a-z0-9-]*)?([^<>]*)>|<|&(#\d+|#x[0-9a-f]+|lt|gt|amp|quot);/gi;

function decodeEntity(name: string): string {
  if (!name.startsWith("#")) return ENTITIES[name.toLowerCase()] ?? "";
  const isHex = name[1]?.toLowerCase() === "x";
  return String.fromCodePoint(Number.parseInt(name.slice(isHex ? 2 : 1), isHex ? 16 : 10));
}

function cannotParse(why: string): never {
  return refuse(`can't parse entities: ${why}`);
}

/** Unknown, unclosed and wrongly nested tags are errors. */
function htmlText(source: string): string {
  const open: string[] = [];
  const text = source.replaceAll(
    MARKUP,
    (found, slash: string | undefined, tag: string | undefined, _rest, entity, offset: number) => {
      if (typeof entity === "string") return decodeEntity(entity);
      const name = tag?.toLowerCase() ?? "";
      if (!TAGS.has(name))
        return cannotParse(
          `Unsupported start tag "${found.slice(1, -1)}" at byte offset ${offset}`,
        );
      if (slash === "/") {
        if (open.pop() !== name) cannotParse(`Unexpected end tag at byte offset ${offset}`);
      } else open.push(name);
      return "";
    },
  );
  if (open.length > 0)
    cannotParse(`Can't find end tag corresponding to start tag "${open.at(-1)}"`);
  return text;
}

const MAX_TEXT_UNITS = 4096;
const MAX_CAPTION_UNITS = 1024;
const MAX_RAW_BYTES = 32_768;

function withoutMarkup(text: string, mode: string): string {
  switch (mode.toLowerCase()) {
    case "":
      return text;
    case "html":
      return htmlText(text);
    default:
      return refuse("unsupported parse_mode");
  }
}

export function messageText(parameters: Parameters): string {
  const raw = textOf(parameters, "text");
  if (Buffer.byteLength(raw, "utf8") > MAX_RAW_BYTES) refuse("message is too long");
  const text = withoutMarkup(raw, textOf(parameters, "parse_mode"));
  if (text.trim() === "") refuse("message text is empty");
  if (text.trim().length > MAX_TEXT_UNITS) refuse("message is too long");
  return text;
}

export function captionText(parameters: Parameters): string {
  const text = withoutMarkup(textOf(parameters, "caption"), textOf(parameters, "parse_mode"));
  return text.trim().length > MAX_CAPTION_UNITS ? refuse("message caption is too long") : text;
}
