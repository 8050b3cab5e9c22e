import type { ConnectRouter, ServiceImpl } from "@connectrpc/connect";
import { MetricsService } from "@postrider/contracts/engagement/v1/metrics_service_pb";
import type { MetricsRpcDeps } from "./dependencies.ts";
import { refreshMetrics } from "./refresh-metrics.ts";

export function createEngagementRoutes(deps: MetricsRpcDeps): (router: ConnectRouter) => void {
  return (router) => {
    router.service(MetricsService, {
      refreshMetrics: (request) => refreshMetrics(deps, request),
    } satisfies ServiceImpl<typeof MetricsService>);
  };
}
