import type { ConnectRouter } from "@connectrpc/connect";
import { MetricsService } from "@postrider/contracts/engagement/v1/metrics_service_pb";
import { serveMethods } from "@postrider/shared/connect/methods";
import type { MetricsRpcDeps } from "./dependencies.ts";
import { refreshMetrics } from "./refresh-metrics.ts";

export function createEngagementRoutes(deps: MetricsRpcDeps): (router: ConnectRouter) => void {
  return (router) => {
    serveMethods(router, deps, MetricsService, { refreshMetrics });
  };
}
