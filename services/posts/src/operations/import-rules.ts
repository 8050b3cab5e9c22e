import { fromJson, type JsonValue } from "@bufbuild/protobuf";
import { MAX_GENERATION } from "@postrider/contracts/generation";
import { MediaSchema } from "@postrider/contracts/media/v1/media_pb";
import { isPlatformId } from "@postrider/platforms/platform-id";
import { isId } from "@postrider/shared/ids";
import { isObject } from "@postrider/shared/is-object";
import {
  anyObject,
  between,
  type ColumnCheck,
  isDay,
  isInstant,
  isNear,
  jsonBytes,
  list,
  oneOf,
  record,
  text,
  textBytes,
} from "@postrider/shared/workspaces/column-checks";
import type { ImportRules } from "@postrider/shared/workspaces/import-service";
import { MAX_ACCOUNTS, MAX_MEDIA } from "#src/domain/post.ts";
import {
  checkSlotTimetable,
  MAX_RULES_PER_WORKSPACE,
  type SlotTimetableInput,
} from "#src/domain/queue-slot-rule.ts";
import { dayOf } from "#src/domain/quota.ts";
import { MAX_AHEAD_DAYS } from "#src/domain/validate-post.ts";

/** A request has at most 256 KiB of content and options, and an edit may replace only one. */
const MAX_CONTENT_BYTES = 260 * 1024;
/** The longest part is the description, of at most 1,500 characters. */
const MAX_MEDIA_BYTES = 16 * 1024;

/** Each search reads all slots of the next year that are taken; a quota allows far fewer. */
const MAX_TAKEN_SLOTS = 100_000;

const OPTION: Readonly<Record<string, ColumnCheck>> = {
  content: text(MAX_CONTENT_BYTES),
  title: text(MAX_CONTENT_BYTES),
  privacy: text(MAX_CONTENT_BYTES),
  tags: list(100, text(MAX_CONTENT_BYTES)),
};

const isOption: ColumnCheck = (option, row) =>
  isObject(option) &&
  Object.entries(option).every(
    ([name, value]) => Object.hasOwn(OPTION, name) && OPTION[name]?.(value, row),
  );

/** As a request counts them: without the escapes of JSON. */
const isShort: ColumnCheck = (content) => textBytes(content) <= MAX_CONTENT_BYTES;

const isOptions: ColumnCheck = (options, row) =>
  isObject(options) &&
  Object.keys(options).every((key) => isPlatformId(key) || isId(key)) &&
  isShort(options, row) &&
  record(100, isOption)(options, row);

/** An instant or a day for which a post may be scheduled; clocks of installations differ. */
const isSchedulable: ColumnCheck = (at) =>
  isNear(at, {}) && Date.parse(String(at)) <= Date.now() + (MAX_AHEAD_DAYS + 1) * 24 * 3_600_000;

/** As `placeTargets` sets it. */
const isDayOfDue: ColumnCheck = (day, { due_at: dueAt }) =>
  isInstant(dueAt) && day === dayOf(new Date(String(dueAt)));

/**
 * The targets that the sweep asks about: it repeats the requests of those that the delivery service
 * does not know, which needs these values. Open targets of a draft have none of the three.
 */
const isComplete: ColumnCheck = (status, row) => {
  const { due_at, due_day, publish_before, deletion, deletion_requested_at: requestedAt } = row;
  if (status === "deleting") return Number(deletion) > 0 && requestedAt !== null;
  const due = [due_at, due_day, publish_before];
  const isOpen = status === "pending" || status === "publishing";
  return !isOpen || due.every((each) => (each === null) === (due_at === null));
};

/** The period of a counter. */
const isPeriod = text(10, (period) => {
  const first = period.length === 7 ? `${period}-01` : period;
  return isDay(first) && isSchedulable(`${first}T00:00:00Z`, {});
});

/** The delivery service would publish the files of media of another workspace. */
const isMedia: ColumnCheck = (value, row) => {
  if (jsonBytes(value) > MAX_MEDIA_BYTES) return false;
  try {
    const media = fromJson(MediaSchema, value as JsonValue, { ignoreUnknownFields: true });
    return isId(media.id) && media.workspaceId === row["workspace_id"];
  } catch {
    return false;
  }
};

/** The proto JSON of TargetMetrics. */
const isMetrics: ColumnCheck = (metrics) =>
  isObject(metrics) &&
  Object.entries(metrics).every(([name, value]) =>
    name === "refreshedAt"
      ? isNear(value, {})
      : typeof value === "string" && /^\d{1,16}$/.test(value),
  );

/** Several columns are one timetable. */
const isTimetable: ColumnCheck = (_, { weekdays, times, timezone, starts_on, ends_on }) => {
  const isReadable = [weekdays, times].every(Array.isArray) && typeof timezone === "string";
  const timetable = { weekdays, times, timezone, startsOn: starts_on, endsOn: ends_on };
  return isReadable && checkSlotTimetable(timetable as SlotTimetableInput).length === 0;
};

export const IMPORT_RULES: ImportRules = {
  posts: {
    columns: {
      content: isShort,
      options: isOptions,
      media_ids: list(MAX_MEDIA, text(36)),
      media: list(MAX_MEDIA, isMedia),
      platforms: list(MAX_ACCOUNTS, isPlatformId),
      // That of a draft is checked when it is scheduled.
      scheduled_at: (at, row) => row["status"] === "draft" || isSchedulable(at, row),
    },
  },
  targets: {
    columns: {
      // With the unique index, at most as many as the API accepts.
      ordinal: between(0, MAX_ACCOUNTS - 1),
      platform: isPlatformId,
      settings: anyObject,
      status: isComplete,
      generation: between(1, MAX_GENERATION),
      deletion: between(0, MAX_GENERATION),
      due_at: (at, row) => row["due_day"] !== null && isSchedulable(at, row),
      due_day: isDayOfDue,
      metrics: isMetrics,
    },
  },
  target_attempts: {
    columns: {
      number: between(1, 100_000),
      outcome: oneOf("", "published", "retry", "failed", "unknown"),
    },
  },
  slot_assignments: {
    columns: { slot_at: isSchedulable },
    max: [{ count: MAX_TAKEN_SLOTS, where: "slot_at > now()" }],
  },
  idempotency_keys: { columns: { content: isShort, options: isOptions } },
  queue_slot_rules: {
    columns: { timezone: isTimetable },
    max: [{ count: MAX_RULES_PER_WORKSPACE, where: "status <> 'revoked'" }],
  },
  quota_usage: {
    columns: {
      subject: text(36),
      period: isPeriod,
    },
  },
};
