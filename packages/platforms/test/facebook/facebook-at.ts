import { createFacebookPublishingConnector } from "#src/facebook/publishing/connector.ts";
import type { PublishingConnector } from "#src/publishing/connector.ts";

/** Creates the Facebook connector for a simulator, with the given settings instead of the usual ones. */
export function facebookAt(
  url: string,
  given: { readonly uploadBaseUrl?: string; readonly isTwoPhase?: boolean } = {},
): PublishingConnector {
  return createFacebookPublishingConnector({
    baseUrl: url,
    uploadBaseUrl: `${url}/rupload`,
    version: "v25.0",
    ...given,
  });
}
