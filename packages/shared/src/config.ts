import { ConfigError } from "#src/config/config-error.ts";
import { EnvReader, type Environment } from "#src/config/env-reader.ts";
import { findNetworkFaults } from "#src/config/internal-network.ts";
import { findProductionFaults, isProduction } from "#src/config/production.ts";
import type { Setting } from "#src/config/settings.ts";

export { EnvReader } from "#src/config/env-reader.ts";

/** Throws one `ConfigError` that lists all invalid settings. */
export function loadConfig<T extends object>(
  env: Environment,
  read: (reader: EnvReader) => T,
): Readonly<T> {
  const reader = new EnvReader(env);
  const config = read(reader);
  const faults = isProduction(reader)
    ? [...reader.faults, ...findProductionFaults(reader), ...findNetworkFaults(reader)]
    : reader.faults;
  if (faults.length > 0) throw new ConfigError(faults);
  return Object.freeze(config);
}

/** For the settings reference. The environment is not used. */
export function describeSettings(read: (reader: EnvReader) => object): readonly Setting[] {
  const reader = new EnvReader({});
  read(reader);
  return reader.settings;
}
