import { loadConfig } from "@postrider/shared/config";

/**
 * In seconds: defaults that are too long for tests. All are passed on, so that `local.json` shows
 * the values in use.
 */
const defaults = {
  PUBLISH_RETRY_SECONDS: [60, 300, 900, 3600, 10_800],
  VISIBLE_CALL_SECONDS: 60,
  LEASE_SECONDS: 20,
  RECONCILE_TIME_SCALE: 1,
  SWEEP_SECONDS: 60,
  SWEEP_AFTER_SECONDS: 120,
  ACCOUNT_PAUSE_SECONDS: [60, 300, 900, 1800],
  PLATFORM_PROBE_SECONDS: [5, 30, 120, 300],
  MISSED_AFTER_SECONDS: 86_400,
  WEBHOOK_RETRY_SECONDS: [5, 60, 300, 1800, 7200, 18_000, 36_000, 50_400, 64_800, 86_400],
  WEBHOOK_DISABLE_AFTER_SECONDS: 432_000,
  MEDIA_GRANT_SECONDS: 900,
  MEDIA_PENDING_SECONDS: 86_400,
  MEDIA_URL_SECONDS: 86_400,
  METRICS_DEFER_SECONDS: 300,
  COMMENT_POLL_SECONDS: 2,
} satisfies Record<string, number | readonly number[]>;

export type TimeSettings = Readonly<Record<string, number | readonly number[]>>;

/** @throws ConfigError that lists every value that is not a number or list of numbers. */
export function readTimeSettings(env: Readonly<Record<string, string | undefined>>): TimeSettings {
  return loadConfig(env, (read) =>
    Object.fromEntries(
      Object.entries(defaults).map(([name, byDefault]) => [
        name,
        Array.isArray(byDefault)
          ? read.secondsList(name, byDefault).map((ms) => ms / 1000)
          : read.number(name, { default: byDefault, min: 0 }),
      ]),
    ),
  );
}

export function timeEnvironment(settings: TimeSettings): Record<string, string> {
  return Object.fromEntries(Object.entries(settings).map(([name, value]) => [name, String(value)]));
}
