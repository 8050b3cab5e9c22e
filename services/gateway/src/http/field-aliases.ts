import { distance } from "#src/http/similar-path.ts";

/** Names that other interfaces use, in lower case and without separators, with the fields of ours that are meant. */
const ALIASES: ReadonlyMap<string, readonly string[]> = new Map(
  Object.entries({
    content: ["text", "body", "message", "caption"],
    message: ["text", "body", "content"],
    text: ["message", "content", "body"],
    accountIds: ["account", "channel", "profile", "platform", "target", "network"],
    accountId: ["account", "channel", "profile"],
    mediaIds: ["media", "image", "photo", "picture", "video", "attachment", "mediaurl", "file"],
    isDraft: ["draft", "status", "state"],
    status: ["enabled", "active", "isactive", "paused", "disabled", "state"],
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
  })
    .flatMap(([field, names]) => names.map((name) => [name, field] as const))
    .reduce(
      (map, [name, field]) => map.set(name, [...(map.get(name) ?? []), field]),
      new Map<string, string[]>(),
    ),
);

/** Maximum length, in characters, of a name that is compared with the fields. */
const MAX_LENGTH = 40;
/** Minimum length, in characters, of a name in which a typing error is recognised. */
const MIN_TYPED_LENGTH = 5;
const MAX_TYPING_ERRORS = 2;

/** Returns a name in lower case, without separators and in the singular. */
function normalize(name: string): string {
  return name
    .toLowerCase()
    .replaceAll(/[^a-z0-9]/g, "")
    .replace(/s$/, "");
}

/** Returns the field that is meant by a name that does not exist; undefined if that is not clear. */
export function findIntendedField(name: string, fields: readonly string[]): string | undefined {
  if (name.length > MAX_LENGTH) return undefined;
  const plain = normalize(name);
  const same = fields.find((field) => normalize(field) === plain);
  if (same !== undefined) return same;
  const meant = ALIASES.get(plain)?.find((field) => fields.includes(field));
  if (meant !== undefined || name.length < MIN_TYPED_LENGTH) return meant;
  return fields.find((field) => distance(name, field) <= MAX_TYPING_ERRORS);
}
