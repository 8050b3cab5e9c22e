import { createInstagramPublishingConnector } from "#src/instagram/publishing/connector.ts";
import type { PublishingConnector } from "#src/publishing/connector.ts";

/** Creates the Instagram connector for a simulator, optionally with another upload host. */
export function instagramAt(url: string, uploadBaseUrl = `${url}/rupload`): PublishingConnector {
  return createInstagramPublishingConnector({
    baseUrl: url,
    loginBaseUrl: `${url}/login`,
    uploadBaseUrl,
    version: "v25.0",
  });
}
