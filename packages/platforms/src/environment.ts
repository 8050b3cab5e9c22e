import type { EnvReader } from "@postrider/shared/config";
import type { OutboundRules } from "@postrider/shared/http/outbound-rules";
import type { PlatformRules } from "./rules.ts";

/** Reads the settings of an installation (environment variables) for one platform. */
export interface PlatformEnvironment<App, Settings> {
  /**
   * Reads the addresses for authorizing accounts and the credentials of our app on the platform.
   *
   * @param toPage Returns the address at which browsers open a page of the platform.
   */
  readonly readApp: (read: EnvReader, toPage: (page: string) => string) => App;
  /** Reads the addresses and options with which the platform is called. */
  readonly readSettings: (read: EnvReader, outbound: OutboundRules) => Settings;
}

/**
 * The addresses of one platform. By default they are the platform's public hosts. When the platform's base address
 * setting is set, all of them begin with that address, as in the simulator.
 */
interface Place {
  readonly api: string;
  /**
   * Returns the address of one of the platform's other services, for example its upload service: `host` by default;
   * `path` below the platform's base address setting when that is set.
   */
  readonly at: (host: string, path: string) => string;
}

/** Reads the addresses of a platform, whose API is publicly at `own`. */
export function readPlace(
  read: EnvReader,
  { id, displayName }: Pick<PlatformRules, "id" | "displayName">,
  own: string,
): Place {
  const api = read
    .about(
      `Base address for all calls to ${displayName}, for example that of the simulator. A value other than the default is also used instead of ${displayName}'s other hosts, such as those for sign-in and uploads.`,
      { level: "tests" },
    )
    .url(`${id.toUpperCase()}_BASE_URL`, own);
  return { api, at: (host, path) => (api === own ? host : `${api}${path}`) };
}

/** Reads the credentials of our app on a platform; they are undefined when the operator has not configured them. */
export function readClient(
  read: EnvReader,
  { id, displayName }: Pick<PlatformRules, "id" | "displayName">,
) {
  const prefix = id.toUpperCase();
  return {
    clientId: read
      .about(
        `Client ID of your ${displayName} app. Without it, ${displayName} accounts cannot be connected.`,
      )
      .optionalString(`${prefix}_CLIENT_ID`),
    clientSecret: read
      .secret(`Client secret of your ${displayName} app.`)
      .optionalString(`${prefix}_CLIENT_SECRET`),
  };
}
