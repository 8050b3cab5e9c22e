import type { ConnectRouter } from "@connectrpc/connect";
import { DiagnosticsService } from "@postrider/contracts/operations/v1/diagnostics_service_pb";
import { runChecks, type DiagnosticCheck } from "#src/diagnostics/finding.ts";

export interface DiagnosticsOptions {
  readonly checks: readonly DiagnosticCheck[];
  readonly publicUrl?: string;
  /** A gateway with the same media key answers it with 204. */
  readonly probeUrl?: () => string;
}

/** The RPC by which `postrider doctor` lets the service check its part. */
export function withDiagnostics(
  routes: (router: ConnectRouter) => void,
  { checks, publicUrl = "", probeUrl }: DiagnosticsOptions,
): (router: ConnectRouter) => void {
  return (router) => {
    routes(router);
    router.service(DiagnosticsService, {
      async diagnose() {
        const findings = [...(await runChecks(checks))];
        return { findings, publicUrl, probeUrl: probeUrl?.() ?? "" };
      },
    });
  };
}
