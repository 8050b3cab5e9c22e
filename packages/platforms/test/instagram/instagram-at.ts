import { createInstagramConnector } from "#src/instagram/publishing/instagram.ts";
import type { Connector } from "#src/publishing/connector.ts";

/** The connector with its hosts at the simulated Instagram, or with uploads at another place. */
export function instagramAt(url: string, uploadBaseUrl = `${url}/rupload`): Connector {
  return createInstagramConnector({
    baseUrl: url,
    loginBaseUrl: `${url}/login`,
    uploadBaseUrl,
    version: "v25.0",
  });
}
