import { type Environment, EnvReader } from "#src/config/env-reader.ts";
import { findNetworkFaults } from "#src/config/internal-network.ts";
import { findProductionFaults, isProduction } from "#src/config/production.ts";
import type { Setting } from "#src/config/settings.ts";

/** Lists every invalid variable, so that an operator can correct all at once. */
export class ConfigError extends Error {
  override name = "ConfigError";
  readonly faults: readonly string[];

  constructor(faults: readonly string[]) {
    super(
      `The configuration has ${faults.length} fault(s):\n${faults.map((fault) => `  - ${fault}`).join("\n")}`,
    );
    this.faults = faults;
  }
}

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
