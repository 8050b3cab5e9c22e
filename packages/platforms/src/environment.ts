import type { EnvReader } from "@postrider/shared/config";
import type { OutboundRules } from "@postrider/shared/http/outbound-rules";
import type { PlatformRules } from "#src/rules.ts";

export interface PlatformEnvironment<App, Settings> {
  readonly readApp: (read: EnvReader, toPage: (page: string) => string) => App;
  readonly readSettings: (read: EnvReader, outbound: OutboundRules) => Settings;
}

interface Place {
  readonly api: string;
  /** `host` by default; `path` below the platform's base address setting when that is set. */
  readonly at: (host: string, path: string) => string;
}

export function readPlace(
  read: EnvReader,
  { id, displayName }: Pick<PlatformRules, "id" | "displayName">,
  own: string,
): Place {
  const api = read
    .about(
      `Base address for all calls to ${displayName}, for example that of the simulator. A value other than the default also replaces ${displayName}'s other hosts, such as those for sign-in and uploads.`,
      { level: "tests" },
    )
    .url(`${id.toUpperCase()}_BASE_URL`, own);
  return { api, at: (host, path) => (api === own ? host : `${api}${path}`) };
}

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
