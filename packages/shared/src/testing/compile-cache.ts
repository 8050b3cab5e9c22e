/**
 * Environment with which a test starts a Node process of its own: the folder in which Node keeps
 * compiled modules, if the test run has one. It halves the start time of the process.
 */
export function compileCacheEnv(): Readonly<Record<string, string>> {
  // oxlint-disable-next-line no-restricted-properties -- a setting of the test run, not of a service
  const { NODE_COMPILE_CACHE } = process.env;
  return NODE_COMPILE_CACHE === undefined ? {} : { NODE_COMPILE_CACHE };
}
