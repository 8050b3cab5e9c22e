import type { ConnectRouter, ServiceImpl } from "@connectrpc/connect";
import { ParkedEventService } from "@postrider/contracts/operations/v1/parked_event_service_pb";
import { MediaUseService } from "@postrider/contracts/posts/v1/media_use_service_pb";
import { PostService } from "@postrider/contracts/posts/v1/post_service_pb";
import { QueueSlotService } from "@postrider/contracts/posts/v1/queue_slot_service_pb";
import { QuotaService } from "@postrider/contracts/posts/v1/quota_service_pb";
import { TargetService } from "@postrider/contracts/posts/v1/target_service_pb";
import type { PostsDeps } from "#src/operations/dependencies.ts";
import { createMediaUseService } from "#src/rpc/media-use-service.ts";
import { createPostService } from "#src/rpc/post-service.ts";
import { createQueueSlotService } from "#src/rpc/queue-slot-service.ts";
import { createQuotaService } from "#src/rpc/quota-service.ts";
import { createTargetService } from "#src/rpc/target-service.ts";

export interface RouteDeps extends PostsDeps {
  readonly parkedEvents: ServiceImpl<typeof ParkedEventService>;
}

export function createRoutes(deps: RouteDeps): (router: ConnectRouter) => void {
  return (router) => {
    router.service(PostService, createPostService(deps));
    router.service(QuotaService, createQuotaService(deps));
    router.service(QueueSlotService, createQueueSlotService(deps));
    router.service(MediaUseService, createMediaUseService(deps));
    router.service(TargetService, createTargetService(deps));
    router.service(ParkedEventService, deps.parkedEvents);
  };
}
