import { serviceNames } from "@postrider/local/stack/services";
import {
  ConfigError,
  describeSettings,
  type EnvReader,
  loadConfig,
} from "@postrider/shared/config";
import { type GivenSettings, readServeSettings } from "#src/config.ts";
import { READERS, serviceSettings, type ServePlan } from "#src/service-settings.ts";

/**
 * The faults that the services would find in their settings, each once, before any of them is
 * started.
 */
export function findFaults(plan: ServePlan): readonly string[] {
  const faults = serviceNames.flatMap((service) =>
    faultsOf(() => loadConfig(serviceSettings(service, plan), READERS[service])),
  );
  return [...new Set(faults)];
}

function faultsOf(read: () => unknown): readonly string[] {
  try {
    read();
    return [];
  } catch (error) {
    if (error instanceof ConfigError) return error.faults;
    throw error;
  }
}

/** A misspelled setting would have no effect, and nobody would see it. */
export function findUnknown({ inFile }: GivenSettings): readonly string[] {
  const readers: readonly ((read: EnvReader) => object)[] = [
    readServeSettings,
    ...Object.values(READERS),
  ];
  const settings = readers.flatMap((read) => describeSettings(read));
  const known = new Set(settings.map(({ name }) => name));
  return inFile
    .filter((name) => !known.has(name) && !/^(?:NODE_|OTEL_)|_PROXY$/i.test(name))
    .map((name) => `${name} is not a setting; docs/configuration.md lists all`);
}
