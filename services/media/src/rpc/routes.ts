import type { ConnectRouter } from "@connectrpc/connect";
import { MediaService } from "@postrider/contracts/media/v1/media_service_pb";
import { ParkedEventService } from "@postrider/contracts/operations/v1/parked_event_service_pb";
import { createParkedEventService } from "@postrider/shared/bus/parked";
import type { RpcDependencies } from "#src/operations/dependencies.ts";
import { createMediaService } from "#src/rpc/media-service.ts";

export function createRoutes(deps: RpcDependencies): (router: ConnectRouter) => void {
  return (router) => {
    router.service(MediaService, createMediaService(deps));
    router.service(ParkedEventService, createParkedEventService({ sql: deps.sql, handlers: [] }));
  };
}
