import type { ConnectRouter } from "@connectrpc/connect";
import { PauseService } from "@postrider/contracts/delivery/v1/pause_service_pb";
import { RecoveryService } from "@postrider/contracts/delivery/v1/recovery_service_pb";
import { TaskService } from "@postrider/contracts/delivery/v1/task_service_pb";
import { ParkedEventService } from "@postrider/contracts/operations/v1/parked_event_service_pb";
import type { EventHandler } from "@postrider/shared/bus/consumer";
import { createParkedEventService } from "@postrider/shared/bus/parked";
import { createPauseService, type PauseServiceDeps } from "./pause-service.ts";
import { createRecoveryService, type RecoveryServiceDeps } from "./recovery-service.ts";
import { createTaskService } from "./task-service.ts";

export interface RoutesDeps extends PauseServiceDeps, RecoveryServiceDeps {
  readonly handlers: readonly EventHandler[];
}

export function createRoutes(deps: RoutesDeps): (router: ConnectRouter) => void {
  return (router) => {
    router.service(TaskService, createTaskService(deps));
    router.service(PauseService, createPauseService(deps));
    router.service(RecoveryService, createRecoveryService(deps));
    router.service(ParkedEventService, createParkedEventService(deps));
  };
}
