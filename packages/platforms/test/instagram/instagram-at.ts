import { createInstagramPublishingConnector } from "#src/instagram/publishing/connector.ts";
import type { PublishingConnector } from "#src/publishing/connector.ts";

/** The Instagram connector at a simulator, optionally with another upload host. */
export function instagramAt(url: string, uploadBaseUrl = `${url}/rupload`): PublishingConnector {
  return createInstagramPublishingConnector({
    baseUrl: url,
    loginBaseUrl: `${url}/login`,
    uploadBaseUrl,
    version: "v25.0",
  });
}
