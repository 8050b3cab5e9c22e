import {
  createFacebookPublishingConnector,
  type FacebookSettings,
} from "#src/facebook/publishing/connector.ts";
import type { PublishingConnector } from "#src/publishing/connector.ts";

/**
 * Creates the Facebook connector for a simulator, with the given settings instead of the usual
 * ones.
 */
export function facebookAt(
  url: string,
  given: Partial<FacebookSettings> = {},
): PublishingConnector {
  return createFacebookPublishingConnector({
    baseUrl: url,
    uploadBaseUrl: `${url}/rupload`,
    version: "v25.0",
    ...given,
  });
}
