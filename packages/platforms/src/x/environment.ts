import type { EnvReader } from "@postrider/shared/config";
import type { Unconfigured } from "#src/authorization/configure.ts";
import { type PlatformEnvironment, readClient, readPlace } from "#src/environment.ts";
import type { XApp } from "./authorization.ts";
import { x } from "./facts.ts";
import type { XSettings } from "./publishing/connector.ts";

const readHosts = (read: EnvReader) => readPlace(read, x.rules, "https://api.x.com");

export const environment: PlatformEnvironment<Unconfigured<XApp>, XSettings> = {
  readApp: (read, toPage) => {
    const { api, at } = readHosts(read);
    const page = at("https://x.com/i/oauth2/authorize", "/i/oauth2/authorize");
    return { baseUrl: api, authorizeUrl: toPage(page), ...readClient(read, x.rules) };
  },
  readSettings: (read) => ({
    baseUrl: readHosts(read).api,
    mayResend:
      read
        .about(
          "Whether a post is sent to X once more if X's response was lost and the account's timeline does not show the post. With `off`, the post fails with the error `outcome_unknown`.",
          { level: "advanced" },
        )
        .oneOf("X_RESEND", ["on", "off"], "on") === "on",
  }),
};
