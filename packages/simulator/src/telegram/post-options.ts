import { isRecord } from "#src/http/call.ts";
import { refuse } from "#src/telegram/errors.ts";
import { listOf, type Parameters } from "#src/telegram/parameters.ts";
import type { Post } from "#src/world/posts.ts";

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

export function postOptions(parameters: Parameters): Pick<Post, "options"> {
  const mode = parseModeOf(parameters);
  const options = {
    ...(mode === undefined ? {} : { parse_mode: mode }),
    ...(isTrue(parameters.get("disable_notification")) ? { disable_notification: true } : {}),
    ...(isTrue(objectOf(parameters, "link_preview_options")["is_disabled"])
      ? { link_preview_options: { is_disabled: true } }
      : {}),
  };
  return Object.keys(options).length === 0 ? {} : { options };
}
