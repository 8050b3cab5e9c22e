import type { EnvReader } from "@postrider/shared/config";

export function readGraphVersion(read: EnvReader) {
  const version = read
    .about("Version of Meta's Graph API, for Facebook and Instagram.", { level: "advanced" })
    .string("GRAPH_API_VERSION", { default: "v25.0" });
  return { version, dialog: `/${version}/dialog/oauth` };
}
