import { join } from "node:path";
import type { Layout } from "@postrider/local/stack/layout";
import type { Secrets } from "@postrider/local/stack/secrets";
import {
  dataEnvironment,
  serviceWiring,
  withoutUndefined,
} from "@postrider/local/stack/service-environment";
import { perService, type ServiceName } from "@postrider/local/stack/services";
import type { Environment, ServeSettings } from "#src/config.ts";

/** Read by Node and the libraries below it, not by Postrider's code. */
const OF_THE_PLATFORM =
  /^(?:NODE_(?!CHANNEL)\w+|OTEL_\w+|PATH|HOME|TZ|LANG|LC_\w+|TMPDIR|MALLOC_\w+|RES_OPTIONS|(?:HTTPS?|NO)_PROXY)$/i;

const METRICS_OFFSET = 1_000;
/** After those of the services. */
const INSPECTOR_OFFSET = 5;

export interface Ports {
  readonly services: Readonly<Record<ServiceName, { port: number; metricsPort: number }>>;
  readonly inspector: number;
}

/** With 8080, each service has the port that it has by default. */
export function portsFrom(first: number): Ports {
  let next = first;
  const services = perService(() => {
    const port = next++;
    return { port, metricsPort: port + METRICS_OFFSET };
  });
  return { services, inspector: first + INSPECTOR_OFFSET };
}

export interface ServePlan {
  readonly serve: ServeSettings;
  readonly settings: Environment;
  readonly secrets: Secrets;
  readonly layout: Layout;
  readonly ports: Ports;
  /** The names of the settings that the code of each service reads. */
  readonly known: KnownSettings;
}

export type KnownSettings = Readonly<Record<ServiceName, readonly string[]>>;

function pick(settings: Environment, isWanted: (name: string) => boolean): Environment {
  return Object.fromEntries(Object.entries(settings).filter(([name]) => isWanted(name)));
}

export function urlsOf(ports: Ports): Readonly<Record<ServiceName, string>> {
  return perService((service) => `http://127.0.0.1:${ports.services[service].port}`);
}

/**
 * A service is given the settings that its code reads, so the secret of an app on a platform
 * reaches accounts only, and the owner's connection to the database reaches no service. Settings
 * override the made keys and folders; nothing overrides what connects the services.
 */
export function serviceSettings(service: ServiceName, plan: ServePlan): Record<string, string> {
  const { serve, settings, layout, ports } = plan;
  const known = new Set(plan.known[service]);
  const wiring = {
    settings,
    secrets: plan.secrets,
    urls: urlsOf(ports),
    databaseUrl: serve.databaseUrl,
  };
  const folders = { mediaDir: layout.media, mediaTempDir: layout.mediaTemp };
  return withoutUndefined({
    ...dataEnvironment(service, { ...plan, ...folders }),
    ...(service === "delivery" ? { SPOOL_DIR: join(layout.dataDir, "spool") } : {}),
    INSPECTOR_URL: `http://127.0.0.1:${ports.inspector}`,
    ...pick(settings, (name) => known.has(name) || OF_THE_PLATFORM.test(name)),
    ...serviceWiring(service, ports.services[service], wiring),
    BUS: "postgres",
    HOST: service === "gateway" ? serve.host : "127.0.0.1",
    POSTRIDER_ENV: settings["POSTRIDER_ENV"] ?? "production",
  });
}

/** The inspector has no secret, so that a file which exploits an image library finds none. */
export function inspectorSettings({ settings, ports }: ServePlan): Record<string, string> {
  const compiled = pick(settings, (name) => name === "NODE_COMPILE_CACHE");
  return withoutUndefined({ ...compiled, HOST: "127.0.0.1", PORT: String(ports.inspector) });
}
