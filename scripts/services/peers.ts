import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { root } from "../check/run-command.ts";
import { isService, type ServiceName, SERVICES, settingsOf } from "./settings.ts";

export const PEER_SETTINGS: Readonly<Record<string, ServiceName>> = {
  ACCOUNTS_URL: "accounts",
  POSTS_URL: "posts",
  MEDIA_SERVICE_URL: "media",
  DELIVERY_URL: "delivery",
};

const CONTRACT = /^import \{.*"@postrider\/contracts\/(\w+)\/v\d+\/\w+_service_pb";$/gm;
const CLIENT = /(?:^|\/)clients\/([a-z]+)/;

export function peersBySettings(service: ServiceName): readonly ServiceName[] {
  const peers = settingsOf(service).map(({ name }) => PEER_SETTINGS[name]);
  return SERVICES.filter((one) => peers.includes(one));
}

/** It imports their contracts, or has a file in `clients/` that is named after them. */
export function peersByImports(service: ServiceName): readonly ServiceName[] {
  const folder = join(root, "services", service, "src");
  const found = readdirSync(folder, { recursive: true, encoding: "utf8" })
    .filter((file) => file.endsWith(".ts") && !file.endsWith(".test.ts"))
    .flatMap((file) => [
      ...readFileSync(join(folder, file), "utf8")
        .matchAll(CONTRACT)
        .map(([, domain]) => domain),
      CLIENT.exec(file)?.[1],
    ])
    .filter((name) => name !== undefined && name !== service && isService(name));
  return SERVICES.filter((one) => found.includes(one));
}
