import { invalidRequest, unprocessable, type Violation } from "@postrider/shared/errors";
import { OutboundError } from "@postrider/shared/http/outbound-exchange";
import { type OutboundRules, parseOutboundUrl } from "@postrider/shared/http/outbound-rules";
import {
  MAX_DESCRIPTION_LENGTH,
  MAX_FILTERS,
  MAX_PER_SECOND,
  MAX_URL_LENGTH,
  type Signing,
} from "#src/webhooks/domain/subscription.ts";
import { isEventFilter } from "#src/webhooks/domain/webhook-event.ts";

const MAX_GRACE_HOURS = 168;

/** Throws `invalid_request` for an invalid field. Absent fields are not checked. */
export function assertFields(fields: {
  readonly url?: string | undefined;
  readonly description?: string | undefined;
  readonly events?: readonly string[] | undefined;
  readonly signing?: string | undefined;
  readonly status?: string | undefined;
  readonly maxPerSecond?: number | undefined;
  readonly graceHours?: number | undefined;
}): void {
  const { url, description, events, signing, status, maxPerSecond, graceHours } = fields;
  const faults = [
    ...faultOf("/url", url, (text) => text.length <= MAX_URL_LENGTH),
    ...faultOf("/description", description, (text) => text.length <= MAX_DESCRIPTION_LENGTH),
    ...faultOf("/signing", signing, isSigning),
    ...faultOf("/status", status, (text) => text === "active" || text === "paused"),
    ...faultOf("/maxPerSecond", maxPerSecond, (count) => isWithin(count, 0, MAX_PER_SECOND)),
    ...faultOf("/rotateSecret/graceHours", graceHours, (hours) =>
      isWithin(hours, 0, MAX_GRACE_HOURS),
    ),
    ...(events === undefined ? [] : filterFaults(events)),
  ];
  if (faults.length > 0) throw invalidRequest(faults);
}

export function isSigning(text: string): text is Signing {
  return text === "hmac-sha256" || text === "ed25519";
}

function isWithin(value: number, min: number, max: number): boolean {
  return Number.isInteger(value) && value >= min && value <= max;
}

function faultOf<T>(
  path: string,
  value: T | undefined,
  isValid: (value: T) => boolean,
): readonly Violation[] {
  return value === undefined || isValid(value) ? [] : [{ code: "invalid", path }];
}

function filterFaults(events: readonly string[]): readonly Violation[] {
  const isCountValid =
    isWithin(events.length, 1, MAX_FILTERS) && new Set(events).size === events.length;
  const unknown = events.flatMap((filter, index) =>
    isEventFilter(filter) ? [] : { code: "invalid", path: `/events/${index}` },
  );
  return isCountValid ? unknown : [{ code: "invalid", path: "/events" }, ...unknown];
}

/** Throws `invalid_request` for a text that is not an http or https URL. */
export function assertUrl(url: string, rules: OutboundRules): void {
  if (findUrlFailure(url, rules) === "url_invalid")
    throw invalidRequest([{ code: "invalid", path: "/url" }]);
}

/**
 * As far as that is known without DNS: the addresses of a host name are checked at every
 * connection.
 */
export function assertAddress(url: string, rules: OutboundRules): void {
  if (findUrlFailure(url, rules) !== undefined)
    throw unprocessable("address_not_allowed", [{ code: "webhook_not_public", path: "/url" }]);
}

function findUrlFailure(url: string, rules: OutboundRules) {
  try {
    parseOutboundUrl(url, rules);
    return undefined;
  } catch (error) {
    if (error instanceof OutboundError) return error.failure;
    throw error;
  }
}
