/**
 * Settings of the services that shorten delays that are too long for a test; they change no other
 * behaviour.
 */
const SHORT_TIMES = {
  VISIBLE_CALL_SECONDS: "3",
  LEASE_SECONDS: "3",
  RECONCILE_TIME_SCALE: "0.005",
  SWEEP_SECONDS: "2",
  SWEEP_AFTER_SECONDS: "3",
  PUBLISH_RETRY_SECONDS: "0.5,1,2,4,8",
  ACCOUNT_PAUSE_SECONDS: "0.5,1",
  COMMENT_POLL_SECONDS: "0.5",
  PLATFORM_PROBE_SECONDS: "0.5,1",
  WORKSPACE_SETTLE_SECONDS: "2",
};

/**
 * Returns the environment variables of a system of the end-to-end tests: the variables that Java
 * needs, the shortened delays, and `more`.
 */
export function stackEnvironment(
  more: Readonly<Record<string, string>> = {},
): Readonly<Record<string, string | undefined>> {
  return { PATH: process.env.PATH, HOME: process.env.HOME, ...SHORT_TIMES, ...more };
}
