import { distance } from "#src/http/path-advice.ts";

const NAMES: Readonly<Record<string, readonly string[]>> = {
  content: ["text", "body", "message", "caption"],
  message: ["text", "body", "content"],
  text: ["message", "content", "body"],
  accountIds: ["account", "channel", "profile", "platform", "target", "network"],
  accountId: ["account", "channel", "profile"],
  mediaIds: ["media", "image", "photo", "picture", "video", "attachment", "mediaurl", "file"],
  isDraft: ["draft", "status", "state"],
  status: [
    "enabled",
    "active",
    "isactive",
    "isenabled",
    "ispaused",
    "isdisabled",
    "paused",
    "disabled",
    "state",
  ],
  scheduledAt: ["schedule", "scheduledtime", "scheduletime", "publishat", "date", "time", "at"],
  queueSlot: ["queue", "slot", "usequeue"],
  options: ["override", "platformoption", "setting"],
  cursor: ["page", "offset", "after", "pagetoken", "skip"],
  limit: ["pagesize", "perpage", "count", "size", "first"],
  from: ["since", "start", "startdate", "after"],
  to: ["until", "end", "enddate", "before"],
  startsOn: ["start", "startdate", "from"],
  endsOn: ["end", "enddate", "to", "until"],
  url: ["link", "href", "uri", "endpoint", "callback", "callbackurl", "webhookurl", "mediaurl"],
  events: ["event", "eventtype", "type", "topic"],
  contentType: ["type", "mimetype", "mime", "filetype"],
  fileName: ["name", "file"],
  bytes: ["size", "filesize", "length", "contentlength"],
  weekdays: ["day", "daysofweek", "dayofweek"],
  times: ["hour"],
  timezone: ["tz", "zone"],
  altText: ["alt", "description", "caption"],
  action: ["status", "state", "command"],
  type: ["action"],
};

/**
 * Maximum length, in characters, of an unknown field name that is compared with the known fields.
 * For a longer name, no field is proposed.
 */
const MAX_LENGTH = 40;
/** Minimum length, in characters, of a name in which a typing error is recognised. */
const MIN_TYPED_LENGTH = 5;
const MAX_TYPING_ERRORS = 2;

/** Returns a field name in lower case, without separators and in the singular. */
function normalize(name: string): string {
  return name
    .toLowerCase()
    .replaceAll(/[^a-z0-9]/g, "")
    .replace(/s$/, "");
}

/** Names of Boolean fields that mean "paused" when they are true. */
const OFF_SWITCHES: ReadonlySet<string> = new Set(["paused", "disabled", "ispaused", "isdisabled"]);

/** For each field, the names that other APIs use for it, as `normalize` returns them. */
const ALIASES: ReadonlyMap<string, ReadonlySet<string>> = new Map(
  Object.entries(NAMES).map(([field, names]) => [field, new Set(names.map(normalize))]),
);

/**
 * Converts the value of an unknown Boolean field to a status: `true` for `enabled` means `active`.
 * Undefined if the value is not Boolean, or `choices`, the allowed values of the known field, lack
 * `active` or `paused`.
 */
export function toStatus(
  name: string,
  value: unknown,
  choices: readonly unknown[] = [],
): string | undefined {
  const isSwitch =
    typeof value === "boolean" && choices.includes("active") && choices.includes("paused");
  if (!isSwitch) return undefined;
  return value === OFF_SWITCHES.has(normalize(name)) ? "paused" : "active";
}

/** Undefined if it is not clear which field the client means. */
export function findIntendedField(name: string, fields: readonly string[]): string | undefined {
  if (name.length > MAX_LENGTH) return undefined;
  const plain = normalize(name);
  const same = fields.find((field) => normalize(field) === plain);
  if (same !== undefined) return same;
  const meant = fields.find((field) => ALIASES.get(field)?.has(plain));
  if (meant !== undefined || name.length < MIN_TYPED_LENGTH) return meant;
  return fields.find((field) => distance(name, field, MAX_TYPING_ERRORS) <= MAX_TYPING_ERRORS);
}
