import type { ServiceImpl } from "@connectrpc/connect";
import type { HintService } from "@postrider/contracts/delivery/v1/hint_service_pb";
import { unavailable } from "@postrider/shared/errors";
import type { HintFeed } from "#src/webhooks/operations/hint-feed.ts";

export function createHintService(feed: HintFeed): ServiceImpl<typeof HintService> {
  return {
    waitForHints: async ({ cursor, workspaceIds }) => {
      try {
        const { hints, ...rest } = await feed.wait(cursor, new Set(workspaceIds));
        return { ...rest, hints: [...hints] };
      } catch (error) {
        throw unavailable(error);
      }
    },
  };
}
