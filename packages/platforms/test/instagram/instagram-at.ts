import { createInstagramPublishingConnector } from "#src/instagram/publishing/connector.ts";
import type { PublishingConnector } from "#src/publishing/connector.ts";

/** The connector with its hosts at the simulated Instagram, or with uploads at another place. */
export function instagramAt(url: string, uploadBaseUrl = `${url}/rupload`): PublishingConnector {
  return createInstagramPublishingConnector({
    baseUrl: url,
    loginBaseUrl: `${url}/login`,
    uploadBaseUrl,
    version: "v25.0",
  });
}
